#pragma once

#include "guarded_blocks.hpp"
#include "mapped_blocks.hpp"
#include "profiled_blocks.hpp"
#include "thread_state.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/size_classes.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// The one heap of the process behind malloc: small blocks and units from the core, blocks too large for that
// from mappings of their own, guarded ones, and those that a profile sampled. The fast paths are here;
// everything else is out of line.
namespace ouro::process_heap {

// What malloc promises without being asked.
inline constexpr std::size_t kAlignment = 16;
// Differences of pointers into a block must fit.
inline constexpr std::size_t kMostBytes = PTRDIFF_MAX;

// The core's addresses and the kinds of its units, for free(); empty until the first call.
struct Region {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    const std::atomic<detail::UnitKind>* kinds = nullptr;
};
inline constinit Region g_region;

// What the first allocation does, now.
void start_early() noexcept;
// Null, with errno set, when there is no memory; errno stays as it was otherwise.
[[gnu::noinline]] void* allocate_slow(std::size_t size, std::size_t alignment, bool zeroed) noexcept;
// The same for what was counted already, or need not be, and for what may be a sample.
[[gnu::noinline]] void* allocate_unsampled(std::size_t size, std::size_t alignment, bool zeroed) noexcept;
[[gnu::noinline]] void* allocate_due(std::size_t size) noexcept;
// Keeps errno.
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;
[[nodiscard]] void* reallocate(void* block, std::size_t new_size) noexcept;
// The bytes that may be used. Requires: a block of this heap, or null.
[[nodiscard]] std::size_t usable_size(const void* block) noexcept;

// Larger blocks have a mapping of their own.
inline constexpr std::size_t kLargestUnitBytes = std::size_t{32} << 20;

// Null before the first allocation, and where there are no addresses for units.
[[nodiscard]] detail::HeapCore* known_core() noexcept;

// Gives back what is free: caches of all threads, and units. True when there was something.
bool purge() noexcept;

static_assert(detail::kClassAlignment == kAlignment);

// Requires: size <= kLargestClassBytes.
[[nodiscard]] inline unsigned class_of_request(std::size_t size) noexcept {
    return size <= detail::kLargestTableBytes ? detail::aligned_table_class(size)
                                              : detail::class_of_size(size);
}

[[nodiscard]] inline void* allocate(std::size_t size) noexcept {
    if (size <= detail::kLargestTableBytes) [[likely]] {
        detail::ThreadHeap* heap = t_state.heap;
        if (heap == nullptr) [[unlikely]] {
            heap = t_state.counted_heap;
            if (heap == nullptr) return allocate_slow(size, kAlignment, false);
            if (is_sample_due(size)) [[unlikely]]
                return allocate_due(size);
        }
        if (void* const block = heap->pop(detail::aligned_table_class(size))) [[likely]]
            return block;
        return allocate_unsampled(size, kAlignment, false);
    }
    return allocate_slow(size, kAlignment, false);
}

[[nodiscard]] inline bool is_in_core(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - g_region.begin < g_region.bytes;
}

// The kind of the unit that an address lies in; none for what is not in the core.
[[nodiscard]] inline detail::UnitKind kind_of(const void* address) noexcept {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - g_region.begin;
    if (offset >= g_region.bytes) return detail::UnitKind::none;
    return g_region.kinds[offset >> detail::UnitMap::kUnitShift].load(std::memory_order_relaxed);
}

inline void deallocate(void* block) noexcept {
    const detail::UnitKind kind = kind_of(block);
    if (detail::is_slab(kind)) [[likely]] {
        if (detail::ThreadHeap* const heap = t_state.free_heap) [[likely]]
            if (heap->push(detail::class_of_kind(kind), block)) [[likely]]
                return;
    }
    deallocate_slow(block);
}

// With the size that was asked for: no look-up, but for the blocks that have a mapping of their own because
// the core was full.
inline void deallocate_sized(void* block, std::size_t size) noexcept {
    if (size <= detail::kLargestClassBytes && is_in_core(block)) [[likely]] {
        if (detail::ThreadHeap* const heap = t_state.free_heap) [[likely]]
            if (heap->push(class_of_request(size), block)) [[likely]]
                return;
    }
    deallocate_slow(block);
}

struct Report {
    detail::HeapCore::Counts counts;
    std::size_t usable_bytes = 0;
    std::size_t reserved_bytes = 0;
    std::size_t peak_bytes = 0;
    std::size_t free_dirty_bytes = 0;
    std::size_t idle_returned_bytes = 0;
    MappedTotals mapped;
    GuardedTotals guarded;
    ProfiledTotals profiled;
    std::uint64_t allocations = 0;
    std::uint64_t failures = 0;
};
[[nodiscard]] Report report() noexcept;

}  // namespace ouro::process_heap
