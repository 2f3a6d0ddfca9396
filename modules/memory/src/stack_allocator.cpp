#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstring>
#include <utility>

namespace ouro {

Expected<StackAllocator> StackAllocator::create(const Options& options) noexcept {
    auto range = GrowingRange::reserve({.max_bytes = options.max_bytes,
                                        .step_bytes = options.commit_step_bytes,
                                        .name = options.name,
                                        .tag = options.tag});
    if (!range) return range.status();
    if (const auto warm = range->prewarm(0, options.prewarm_bytes); !warm) return warm.status();
    return StackAllocator(BumpRange(*std::move(range)), options.name);
}

Expected<StackAllocator> StackAllocator::create_on(MemoryResource& upstream, std::size_t bytes,
                                                   const char* name, Tag tag) noexcept {
    auto range = GrowingRange::borrow(upstream, bytes, name, tag);
    if (!range) return range.status();
    return StackAllocator(BumpRange(*std::move(range)), name);
}

StackAllocator::StackAllocator(BumpRange range, const char* name) noexcept
    : range_(std::move(range)), name_(name) {}

Expected<MemoryBlock> StackAllocator::allocate_unusual(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return range_.refuse(asked);
    const auto skipped = range_.take(kUnit, kUnit);
    if (!skipped) return skipped;
    const auto block = range_.take(whole_units(size), alignment);
    if (!block) {
        range_.give_back(*skipped);
        return block;
    }
    annotate::permit({skipped->data, static_cast<std::size_t>(block->data - skipped->data)});
    std::memcpy(block->data - sizeof(skipped->data), &skipped->data, sizeof(skipped->data));
    ++live_blocks_;
    return block;
}

MemoryBlock StackAllocator::with_skipped_bytes(MemoryBlock block) noexcept {
    std::byte* start = nullptr;
    std::memcpy(&start, block.data - sizeof(start), sizeof(start));
    return {start, static_cast<std::size_t>(block.end() - start)};
}

Expected<MemoryBlock> StackAllocator::reallocate(MemoryBlock block, std::size_t new_size,
                                                 std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return range_.refuse(asked);
    if (block.is_null()) return allocate(new_size, alignment);
    note_allocation();
    block.size = whole_units(block.size);
    OURO_BLOCK_ASSERT(range_.is_newest(block), "a stack changes its newest block only", *this, block.data);
    const auto resized = range_.resize(block, whole_units(new_size));
    return resized ? resized : range_.refuse(resized.status());
}

Expected<MemoryBlock> StackAllocator::try_resize(MemoryBlock block, std::size_t new_size,
                                                 std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_DEBUG_ASSERT(!block.is_null(), "nothing can be resized in place");
    block.size = whole_units(block.size);
    if (new_size > block.size) note_allocation();
    if (range_.is_newest(block)) return range_.resize(block, whole_units(new_size));
    // Another one keeps its size: it must be possible to give it back with the one asked for.
    return whole_units(new_size) == block.size ? Expected<MemoryBlock>(block) : Status::capacity_exhausted;
}

void StackAllocator::pop_to(Marker marker) noexcept {
    OURO_BLOCK_ASSERT(marker.used_bytes <= range_.used_bytes() && marker.live_blocks <= live_blocks_,
                      "the marker is of memory that was freed already", *this, nullptr);
    range_.cut_to(marker.used_bytes);
    live_blocks_ = marker.live_blocks;
}

Expected<ResourceMark> StackAllocator::place_mark() noexcept {
    return ResourceMark{.used_bytes = range_.used_bytes(), .live_blocks = live_blocks_};
}

void StackAllocator::free_since(ResourceMark mark) noexcept {
    pop_to({.used_bytes = mark.used_bytes, .live_blocks = mark.live_blocks});
}

ResourceInfo StackAllocator::info() const noexcept {
    return {.name = name_, .thread_safety = ThreadSafety::single_thread, .frees_blocks = true};
}

ResourceStats StackAllocator::stats() const noexcept {
    ResourceStats stats = range_.stats();
    stats.live_blocks = live_blocks_;
    return stats;
}

Status StackAllocator::check() const noexcept {
    if (range_.used_bytes() % kUnit != 0 || range_.used_bytes() / kUnit < live_blocks_)
        return Status::corrupt_data;
    return range_.check();
}

}  // namespace ouro
