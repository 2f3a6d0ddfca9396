#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/live_heaps.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// The general-purpose heap: small objects from size classes, larger ones as whole units of 64 KiB, from any
// thread and freed on any thread. There are no headers and no locks. Each thread has its own caches and
// slabs; what it frees of others goes home in batches; the heap of a thread that has ended goes to the next
// that needs one.
//
//     auto heap = SmallObjectAllocator::create({.name = "game"});
//     auto block = heap->allocate(48);
//     heap->deallocate(*block);
class SmallObjectAllocator final : public MemoryResource {
public:
    static constexpr std::size_t kNoHugePages = detail::HeapCore::kNoHugePages;

    struct Options {
        const char* name = "small objects";
        Tag tag = {};
        // Addresses to reserve: the most there can ever be.
        std::size_t max_bytes = sizeof(void*) == 8 ? std::size_t{16} << 30 : std::size_t{64} << 20;
        // Free memory above this is returned to the system when something is freed, but for as much as is in
        // use, or was in the last seconds. What is free when nothing happens stays until purge(). What
        // threads keep for their next large blocks is not part of it: a quarter of this each at most, none
        // for 0.
        std::size_t purge_threshold_bytes = std::size_t{64} << 20;
        // Requests up to this, raised to the size of a class, come from size classes; larger ones take whole
        // units of 64 KiB each. From 1 to kLargestSmallBytes. Less keeps rare large blocks from making slabs
        // and caches of their own; it costs nothing where blocks are small.
        std::size_t largest_small_bytes = detail::kLargestClassBytes;
        // For memory beyond this the system is asked for huge pages: fewer faults, and fewer look-ups of
        // addresses. All of a huge page is in memory when a part of it is used, and a purge that finds only a
        // part of it free may not give it back. kNoHugePages for not to ask.
        std::size_t huge_pages_from_bytes = kNoHugePages;
        // So much, in whole units, is in memory from the beginning, ready to be written without a fault. What
        // was used and freed since may go back, as all free memory.
        std::size_t prewarm_bytes = 0;
    };

    // The largest size class there is.
    static constexpr std::size_t kLargestSmallBytes = detail::kLargestClassBytes;

    // On reserved addresses of its own. Fails as os::reserve and os::commit do, as os::add_fork_hooks does
    // for the first of the process, with bad_argument when max_bytes has no room for a small block, or with
    // out_of_range for a largest_small_bytes that is none. With memory to prewarm also as os::prefault does,
    // with sealed, or with capacity_exhausted beyond max_bytes.
    [[nodiscard]] static Expected<SmallObjectAllocator> create(const Options& options) noexcept;
    // In one block of another resource, which must live longer: no other memory is ever used.
    [[nodiscard]] static Expected<SmallObjectAllocator> create_on(MemoryResource& upstream, std::size_t bytes,
                                                                  const char* name = "small objects",
                                                                  Tag tag = {}) noexcept;
    // In a region of the caller, which must stay: no other memory is ever used.
    [[nodiscard]] static Expected<SmallObjectAllocator> create_in(MemoryBlock region,
                                                                  const char* name = "small objects",
                                                                  Tag tag = {}) noexcept;

    // Using one that was moved from asserts, in every build.
    SmallObjectAllocator(SmallObjectAllocator&& other) noexcept;
    SmallObjectAllocator& operator=(SmallObjectAllocator&& other) noexcept;
    // Ends all blocks of all threads at once, from any thread. Requires: nobody uses the heap any more.
    ~SmallObjectAllocator();

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        if (size - 1 < detail::kLargestClassBytes && is_plain(alignment)) [[likely]] {
            const unsigned size_class = plain_class(size, alignment);
            if (detail::ThreadHeap* const heap = detail::noted_heap(id_)) [[likely]] {
                if (void* const block = heap->pop(size_class)) [[likely]]
                    return handed_out(static_cast<std::byte*>(block), detail::kClassBytes[size_class]);
            }
        }
        return allocate_slow(size, alignment);
    }

    // Requires: a block of this heap, with its size and alignment; or null. Without asserts, a small one of
    // another heap is noticed by check(), and else not for certain; a large one at once.
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_freed(block, alignment);
        if (block.size - 1 < detail::kLargestClassBytes && is_plain(alignment)) [[likely]] {
            const unsigned size_class = plain_class(block.size, alignment);
            OURO_DEBUG_BLOCK_ASSERT(block.is_null() || is_of_class(block.data, size_class),
                                    "not a block of this heap with this size and alignment", *this,
                                    block.data);
            detail::ThreadHeap* const heap = detail::noted_heap(id_);
            if (heap != nullptr && !block.is_null() && heap->push(size_class, block.data)) [[likely]]
                return;
        }
        deallocate_slow(block, alignment);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // In place within a class, and for blocks of whole units while there is room behind them.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    using Purged = detail::HeapCore::Purged;
    // Takes back the free blocks that threads keep, idle ones included, and returns free memory to the
    // system. From any thread, beside any use. Threads that are allocating at that moment are skipped, and so
    // are all others where the platform has no process barrier.
    Purged purge() noexcept { return core().purge(); }

    // Ends all blocks of all threads and keeps the addresses. Requires: nobody uses the heap meanwhile.
    void reset() noexcept;

    using Counts = detail::HeapCore::Counts;
    // What stats() does not say. Exact when nobody uses the heap meanwhile.
    [[nodiscard]] Counts counts() const noexcept { return core().count(); }

    // Where its size classes end: the option, raised to the size of a class.
    [[nodiscard]] std::size_t largest_small_bytes() const noexcept {
        return detail::kClassBytes[core().slab_classes() - 1];
    }
    // The size a block has that is asked for so: what allocate() would return, in a heap whose size classes
    // end there. Requires: as for allocate.
    [[nodiscard]] static constexpr std::size_t good_size(
        std::size_t size, std::size_t alignment = kDefaultAlignment,
        std::size_t largest_small_bytes = kLargestSmallBytes) noexcept {
        const unsigned size_class = detail::class_for(size, alignment);
        if (size_class <= detail::class_of_size(largest_small_bytes)) return detail::kClassBytes[size_class];
        return (size + detail::UnitMap::kUnitBytes - 1) & ~(detail::UnitMap::kUnitBytes - 1);
    }

    // Where its blocks lie: no one else's as long as it lives.
    [[nodiscard]] MemoryBlock addresses() const noexcept { return core().units().units(); }
    [[nodiscard]] bool owns(const void* address) const noexcept override;
    [[nodiscard]] ResourceInfo info() const noexcept override;
    // live_bytes and peak_bytes count whole classes and units; the peak is that of the units in use.
    // committed_bytes never become fewer: a purge returns memory, and the addresses stay usable.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    // Finds blocks that were freed twice too, while they lie in two places. Requires: nobody uses the heap
    // meanwhile.
    [[nodiscard]] Status check() const noexcept override;

private:
    // Where looking costs nothing that counts; the paths of small blocks come to one of those places.
    [[nodiscard]] detail::HeapCore& core() const noexcept {
        OURO_ASSERT(core_ != nullptr, "the heap was moved from");
        return *core_;
    }

    // Whether the size alone decides the class.
    [[nodiscard]] static constexpr bool is_plain(std::size_t alignment) noexcept {
        return alignment <= detail::kClassAlignment && is_alignment(alignment);
    }
    // Requires: size from 1 to kLargestClassBytes. The first class is aligned to its size only.
    [[nodiscard]] static constexpr unsigned plain_class(std::size_t size, std::size_t alignment) noexcept {
        return detail::class_of_size(size < alignment ? alignment : size);
    }

    // For sanitizers; nothing without them. A pool is known by its core, which does not move; the first byte
    // of that may be the first of another pool's block.
    [[nodiscard]] static const std::byte* pool_of(const detail::HeapCore* core) noexcept {
        return reinterpret_cast<const std::byte*>(core + 1) - 1;
    }
    [[nodiscard]] MemoryBlock handed_out(std::byte* data, std::size_t size) const noexcept {
        annotate::allocated(pool_of(core_), {data, size});
        return {data, size};
    }
    void note_freed(MemoryBlock block, std::size_t alignment) const noexcept {
        if constexpr (annotate::kActive) {
            if (block.is_null()) return;
            annotate::freed(pool_of(core_),
                            {block.data, good_size(block.size, alignment, largest_small_bytes())});
        }
    }

    struct Listing;
    struct Parts;
    explicit SmallObjectAllocator(Parts&& parts) noexcept;
    [[nodiscard]] static Expected<SmallObjectAllocator> build(Parts&& parts) noexcept;
    [[nodiscard]] bool is_of_class(const void* block, unsigned size_class) const noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size, std::size_t alignment) noexcept;
    [[gnu::noinline]] void deallocate_slow(MemoryBlock block, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> find_block(unsigned size_class, std::size_t size,
                                                   std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> allocate_small(unsigned size_class) noexcept;
    // A large block of what the thread keeps, or null.
    [[nodiscard]] MemoryBlock take_kept(std::size_t size, std::size_t alignment) noexcept;
    void deallocate_large(std::byte* block) noexcept;
    [[nodiscard]] Listing& listing() const noexcept;

    detail::HeapCore* core_ = nullptr;
    // The core's, for the hot paths.
    std::uint64_t id_ = 0;
    const char* name_;
    // Either addresses of its own, metadata apart from the blocks, or a region of another.
    os::Reservation metadata_;
    os::Reservation units_;
    MemoryBlock region_;
    MemoryResource* upstream_ = nullptr;
};

}  // namespace ouro
