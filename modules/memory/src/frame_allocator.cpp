#include <ouro/memory/frame_allocator.hpp>

#include <algorithm>
#include <utility>

namespace ouro {

Expected<FrameAllocator> FrameAllocator::create(const Options& options) noexcept {
    auto range = GrowingRange::reserve({.max_bytes = options.max_bytes,
                                        .step_bytes = options.commit_step_bytes,
                                        .name = options.name,
                                        .tag = options.tag});
    if (!range) return range.status();
    if (const auto warm = range->prewarm(0, options.prewarm_bytes); !warm) return warm.status();
    return FrameAllocator(BumpRange(*std::move(range)), options.name, options.decay_resets,
                          options.prewarm_bytes);
}

Expected<FrameAllocator> FrameAllocator::create_on(MemoryResource& upstream, std::size_t bytes,
                                                   const char* name, Tag tag) noexcept {
    auto range = GrowingRange::borrow(upstream, bytes, name, tag);
    if (!range) return range.status();
    return FrameAllocator(BumpRange(*std::move(range)), name, 0, 0);
}

FrameAllocator::FrameAllocator(BumpRange range, const char* name, std::uint32_t decay_resets,
                               std::size_t kept_bytes) noexcept
    : range_(std::move(range)), name_(name), decay_resets_(decay_resets), kept_bytes_(kept_bytes) {}

Expected<MemoryBlock> FrameAllocator::reallocate(MemoryBlock block, std::size_t new_size,
                                                 std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return range_.refuse(asked);
    note_allocation();
    if (range_.is_newest(block)) {
        const auto resized = range_.resize(block, new_size);
        return resized ? resized : range_.refuse(resized.status());
    }
    if (!block.is_null() && new_size <= block.size) return MemoryBlock{block.data, new_size};
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> FrameAllocator::try_resize(MemoryBlock block, std::size_t new_size,
                                                 std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_DEBUG_ASSERT(!block.is_null(), "nothing can be resized in place");
    if (new_size > block.size) note_allocation();
    if (range_.is_newest(block)) return range_.resize(block, new_size);
    if (new_size > block.size) return Status::capacity_exhausted;
    return MemoryBlock{block.data, new_size};
}

Expected<ResourceMark> FrameAllocator::place_mark() noexcept {
    return ResourceMark{.used_bytes = mark().used_bytes};
}

void FrameAllocator::free_since(ResourceMark mark) noexcept {
    rewind({.used_bytes = mark.used_bytes});
}

// Keeps what the busiest of the recent frames used, and half as much again: frames rarely repeat to the byte.
void FrameAllocator::decay() noexcept {
    const std::size_t wanted = range_.recent_peak_bytes();
    range_.shrink(std::max(wanted + wanted / 2, kept_bytes_));
    range_.forget_recent_peak();
    resets_since_decay_ = 0;
}

ResourceInfo FrameAllocator::info() const noexcept {
    return {.name = name_, .thread_safety = ThreadSafety::single_thread, .frees_blocks = false};
}

}  // namespace ouro
