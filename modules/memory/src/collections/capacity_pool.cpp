#include <ouro/base/bits.hpp>
#include <ouro/memory/collections/capacity_pool.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>

namespace ouro {

CapacityPool::CapacityPool(MemoryResource& upstream, const Options& options) noexcept
    : upstream_(upstream),
      name_(options.name),
      largest_bytes_(std::min(std::bit_floor(options.largest_block_bytes), class_bytes(kClasses - 1))),
      max_kept_bytes_(options.max_kept_bytes) {}

CapacityPool::~CapacityPool() {
    OURO_DEBUG_ASSERT(stats_.live_blocks == 0, "a collection outlives its pool");
    trim(0);
}

unsigned CapacityPool::class_of(std::size_t size) noexcept {
    return log2_ceil(std::max(size, kSmallestBytes)) - log2_floor(kSmallestBytes);
}

Status CapacityPool::fail(Status status) noexcept {
    ++stats_.failures;
    return status;
}

void CapacityPool::count_live(std::size_t bytes) noexcept {
    ++stats_.allocations;
    ++stats_.live_blocks;
    stats_.live_bytes += bytes;
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.live_bytes);
}

MemoryBlock CapacityPool::take_kept(unsigned index) noexcept {
    Kept* const first = kept_[index];
    if (first == nullptr) return {};
    kept_[index] = first->next;
    ++pool_stats_.reused;
    --pool_stats_.kept_blocks;
    pool_stats_.kept_bytes -= class_bytes(index);
    return {reinterpret_cast<std::byte*>(first), class_bytes(index)};
}

void CapacityPool::keep(std::byte* data, unsigned index) noexcept {
    kept_[index] = std::construct_at(reinterpret_cast<Kept*>(data), Kept{kept_[index]});
    ++pool_stats_.kept_blocks;
    pool_stats_.kept_bytes += class_bytes(index);
}

Expected<MemoryBlock> CapacityPool::allocate(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return fail(asked);
    if (!is_pooled(size, alignment)) return allocate_direct(size, alignment);
    const unsigned index = class_of(size);
    MemoryBlock block = take_kept(index);
    if (block.is_null()) {
        const auto fetched = upstream_.allocate(class_bytes(index), kBlockAlignment);
        if (!fetched) return fail(fetched.status());
        ++pool_stats_.fetched;
        block = {fetched->data, class_bytes(index)};
    }
    count_live(block.size);
    return block;
}

// The size that was asked for, so that it comes back the same and is counted the same.
Expected<MemoryBlock> CapacityPool::allocate_direct(std::size_t size, std::size_t alignment) noexcept {
    const auto block = upstream_.allocate(size, alignment);
    if (!block) return fail(block.status());
    count_live(size);
    return MemoryBlock{block->data, size};
}

void CapacityPool::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    const bool pooled = is_pooled(block.size, alignment);
    if (pooled) block.size = class_bytes(class_of(block.size));
    OURO_DEBUG_ASSERT(stats_.live_blocks != 0 && stats_.live_bytes >= block.size,
                      "the block is not of this pool, or was given back already");
    --stats_.live_blocks;
    stats_.live_bytes -= block.size;
    if (!pooled) {
        upstream_.deallocate(block, alignment);
    } else if (block.size <= max_kept_bytes_ && pool_stats_.kept_bytes <= max_kept_bytes_ - block.size) {
        keep(block.data, class_of(block.size));
    } else {
        upstream_.deallocate(block, kBlockAlignment);
    }
}

Expected<MemoryBlock> CapacityPool::reallocate(MemoryBlock block, std::size_t new_size,
                                               std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return fail(asked);
    if (block.is_null()) return allocate(new_size, alignment);
    const bool was_pooled = is_pooled(block.size, alignment);
    const bool is_to_be_pooled = is_pooled(new_size, alignment);
    if (was_pooled && is_to_be_pooled) return reallocate_class(block, class_of(new_size));
    if (!was_pooled && !is_to_be_pooled) return reallocate_direct(block, new_size, alignment);
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> CapacityPool::reallocate_direct(MemoryBlock block, std::size_t new_size,
                                                      std::size_t alignment) noexcept {
    const auto changed = upstream_.reallocate(block, new_size, alignment);
    if (!changed) return fail(changed.status());
    stats_.live_bytes -= block.size;
    --stats_.live_blocks;
    count_live(new_size);
    return MemoryBlock{changed->data, new_size};
}

Expected<MemoryBlock> CapacityPool::reallocate_class(MemoryBlock block, unsigned new_class) noexcept {
    const unsigned old_class = class_of(block.size);
    block.size = class_bytes(old_class);
    if (old_class == new_class) return block;
    const MemoryBlock kept = take_kept(new_class);
    if (!kept.is_null()) {
        std::memcpy(kept.data, block.data, std::min(kept.size, block.size));
        deallocate(block, kBlockAlignment);
        count_live(kept.size);
        return kept;
    }
    const auto changed = upstream_.reallocate(block, class_bytes(new_class), kBlockAlignment);
    if (!changed) return fail(changed.status());
    ++pool_stats_.fetched;
    stats_.live_bytes -= block.size;
    --stats_.live_blocks;
    count_live(class_bytes(new_class));
    return MemoryBlock{changed->data, class_bytes(new_class)};
}

std::size_t CapacityPool::trim(std::size_t keep_bytes) noexcept {
    const std::size_t before = pool_stats_.kept_bytes;
    for (unsigned index = kClasses; index-- > 0;) {
        while (kept_[index] != nullptr && pool_stats_.kept_bytes > keep_bytes) {
            Kept* const first = kept_[index];
            kept_[index] = first->next;
            --pool_stats_.kept_blocks;
            pool_stats_.kept_bytes -= class_bytes(index);
            upstream_.deallocate({reinterpret_cast<std::byte*>(first), class_bytes(index)}, kBlockAlignment);
        }
    }
    return before - pool_stats_.kept_bytes;
}

ResourceInfo CapacityPool::info() const noexcept {
    static constexpr auto kSizes = [] {
        std::array<std::size_t, kClasses> sizes{};
        for (unsigned index = 0; index < kClasses; ++index)
            sizes[index] = class_bytes(index);
        return sizes;
    }();
    const std::size_t count = largest_bytes_ < kSmallestBytes ? 0 : class_of(largest_bytes_) + 1;
    return {.name = name_,
            .thread_safety = ThreadSafety::single_thread,
            .frees_blocks = true,
            .size_classes = std::span(kSizes).first(count)};
}

ResourceStats CapacityPool::stats() const noexcept {
    ResourceStats stats = stats_;
    stats.reserved_bytes = stats_.live_bytes + pool_stats_.kept_bytes;
    stats.committed_bytes = stats.reserved_bytes;
    return stats;
}

Status CapacityPool::check() const noexcept {
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    for (unsigned index = 0; index < kClasses; ++index) {
        for (const Kept* kept = kept_[index]; kept != nullptr; kept = kept->next) {
            // More than there can be: the chain runs in a circle.
            if (blocks == pool_stats_.kept_blocks) return Status::corrupt_data;
            if (!is_aligned(kept, kBlockAlignment) || !upstream_.owns(kept)) return Status::corrupt_data;
            ++blocks;
            bytes += class_bytes(index);
        }
    }
    const bool counted = blocks == pool_stats_.kept_blocks && bytes == pool_stats_.kept_bytes;
    return counted ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
