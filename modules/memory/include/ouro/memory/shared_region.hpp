#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/memory/detail/shared_layout.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

class SharedCache;

struct SharedRegionStats {
    // Handed out and not returned, in whole classes and units; what a process that died had counts too.
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t allocations = 0;
    std::uint64_t failures = 0;
    // Free blocks in caches.
    std::uint64_t cached_bytes = 0;
    // What blocks can be made of, what of it is taken for slabs and large blocks, and the most there ever
    // was.
    std::uint64_t unit_bytes = 0;
    std::uint64_t taken_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint32_t claimed_caches = 0;
};

// A heap in one piece of memory that several processes have mapped, each where it likes, or that the workers
// of a page share: for what threads allocate concurrently outside the hashed image. All of it is made of
// offsets. Small blocks come from size classes, through a cache that a thread claims; larger ones take whole
// units of 4 KiB. There is no lock: whoever stops or dies stops nobody else.
//
//     auto region = SharedRegion::create(mapping.block());      // another process: SharedRegion::attach
//     auto memory = region->claim_cache(process_id);            // a thread's way to allocate
//     auto block = memory->allocate(100);
//     auto place = OffsetPtr<Message>::to(message, region->base());   // what to tell the others
//
// This is a view, which can be copied; the memory must stay mapped as long as there are views and caches.
class SharedRegion {
public:
    // Offsets reach so far.
    static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
    // What the memory is aligned to, and the largest alignment of a block.
    static constexpr std::size_t kAlignment = detail::shared::kUnitBytes;
    static constexpr std::uint32_t kMaxCaches = 4096;

    struct Options {
        // Of threads that use it at the same time, in all processes; each takes some 6 KiB.
        std::uint32_t max_caches = 16;
    };

    // A new region in the whole memory, whatever is in it. Fails with bad_alignment (kAlignment),
    // bad_argument (no caches, or more than kMaxCaches), size_overflow (more than kMaxBytes) and
    // capacity_exhausted (no room for a block).
    [[nodiscard]] static Expected<SharedRegion> create(MemoryBlock memory, const Options& options) noexcept;
    [[nodiscard]] static Expected<SharedRegion> create(MemoryBlock memory) noexcept;
    // A region that is there already. Fails with bad_alignment, wrong_format (no region, or of another
    // version), out_of_range (the memory is smaller than the region) and corrupt_data (the header is
    // damaged).
    [[nodiscard]] static Expected<SharedRegion> attach(MemoryBlock memory) noexcept;

    // A cache for one thread, until it goes out of scope. The owner is a number that is not zero and by which
    // the program can tell whether whoever has the cache is still alive, as a process id; it may have several
    // of them. Fails with bad_argument (zero) and capacity_exhausted (all caches are claimed).
    [[nodiscard]] Expected<SharedCache> claim_cache(std::uint64_t owner) const noexcept;
    [[nodiscard]] std::uint32_t cache_count() const noexcept { return header_->geometry.cache_count; }
    // Who has the cache, or zero. Requires: a number below cache_count().
    [[nodiscard]] std::uint64_t owner_of(std::uint32_t cache) const noexcept;

    // Takes over what an owner that is dead had in its caches, and gives it back; how many caches that were.
    // The blocks that it was using are not known here: they stay allocated until someone who knows them frees
    // them. What it was in the middle of at that moment may stay taken until repair(). Requires: none of its
    // threads lives; `own` is not zero and not that owner.
    std::uint32_t reclaim_caches(std::uint64_t dead, std::uint64_t own) const noexcept;

    // What offsets in the region are resolved through. Byte zero belongs to the header.
    [[nodiscard]] OffsetBase base() const noexcept { return {base_, bytes_}; }
    [[nodiscard]] MemoryBlock block() const noexcept { return {base_, bytes_}; }
    // True when the address lies where blocks do.
    [[nodiscard]] bool owns(const void* address) const noexcept;

    // Exact when nobody uses the region meanwhile.
    [[nodiscard]] SharedRegionStats stats() const noexcept;
    // Walks everything: ok, or corrupt_data, also for what a process left behind that died in the middle of
    // something. Requires: nobody uses the region meanwhile.
    [[nodiscard]] Status check() const noexcept;
    // Makes the region sound again after processes died: what belongs to no block becomes free, and all lists
    // are made anew. How many bytes became free. Requires: nobody uses the region meanwhile, and the caches
    // of the dead are reclaimed.
    std::size_t repair() const noexcept;

private:
    friend class SharedCache;
    struct Census;
    using Header = detail::shared::Header;
    using Unit = detail::shared::Unit;
    using Cache = detail::shared::Cache;

    SharedRegion() noexcept = default;
    explicit SharedRegion(std::byte* memory) noexcept;

    [[nodiscard]] Cache& cache(std::uint32_t index) const noexcept { return caches_[index]; }
    [[nodiscard]] std::uint32_t offset_of(std::uint32_t unit) const noexcept {
        return first_offset_ + (unit << detail::shared::kUnitShift);
    }
    // Requires: an offset of a unit's byte.
    [[nodiscard]] std::uint32_t unit_at(std::uint32_t offset) const noexcept {
        return (offset - first_offset_) >> detail::shared::kUnitShift;
    }
    [[nodiscard]] bool is_in_units(std::uint32_t offset) const noexcept {
        return offset >= first_offset_ && unit_at(offset) < unit_count_;
    }
    [[nodiscard]] std::atomic<std::uint64_t>& free_word(std::uint32_t slab,
                                                        std::uint32_t word) const noexcept {
        return units_[slab + word / Unit::kWords].free[word % Unit::kWords];
    }
    // Where a small block lies.
    struct Place {
        std::uint32_t slab = detail::shared::kNoUnit;
        std::uint32_t index = 0;
    };
    // No slab where there is no block of that class.
    [[nodiscard]] Place place_of(std::uint32_t offset, unsigned size_class) const noexcept;
    [[nodiscard]] bool has_free_block(std::uint32_t slab) const noexcept;
    [[nodiscard]] std::uint32_t count_free(std::uint32_t slab) const noexcept;

    // Units: kNoUnit when there is no such run.
    [[nodiscard]] std::uint32_t take_units(std::uint32_t count) const noexcept;
    void give_units(std::uint32_t first, std::uint32_t count) const noexcept;
    // Slabs: held by the cache between these.
    [[nodiscard]] std::uint32_t pop_slab(unsigned size_class, std::uint32_t holder) const noexcept;
    [[nodiscard]] std::uint32_t make_slab(unsigned size_class, std::uint32_t holder) const noexcept;
    void put_down_slab(std::uint32_t slab) const noexcept;
    void end_slab(std::uint32_t slab) const noexcept;
    void list_slab(std::uint32_t slab) const noexcept;
    void give_block(std::uint32_t offset, unsigned size_class) const noexcept;
    void put_down_all_of(std::uint32_t holder) const noexcept;

    [[nodiscard]] bool is_sound_slab(std::uint32_t slab) const noexcept;
    [[nodiscard]] bool count_units(Census& census) const noexcept;
    [[nodiscard]] bool are_lists_sound(const Census& census) const noexcept;
    [[nodiscard]] bool is_list_sound(unsigned size_class, std::uint32_t length) const noexcept;
    [[nodiscard]] bool are_caches_sound() const noexcept;
    [[nodiscard]] bool is_cached_once(std::uint32_t in_cache, unsigned size_class,
                                      std::uint32_t entry) const noexcept;
    [[nodiscard]] bool is_taken(std::uint32_t first, std::uint32_t count) const noexcept;
    void repair_slab(std::uint32_t slab) const noexcept;
    [[nodiscard]] std::uint32_t units_of_block(std::uint32_t unit) const noexcept;

    Header* header_ = nullptr;
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
    std::atomic<std::uint64_t>* taken_ = nullptr;
    Unit* units_ = nullptr;
    Cache* caches_ = nullptr;
    std::uint32_t unit_count_ = 0;
    std::uint32_t first_offset_ = 0;
};

// A thread's way to allocate in a shared region. Its blocks may be freed through any cache of the region, in
// any process, at that process's address of them; one thread at a time uses a cache. After a fork the child
// must not use or end those of its parent, but claim its own.
class SharedCache final : public MemoryResource {
public:
    SharedCache(SharedCache&& other) noexcept;
    SharedCache& operator=(SharedCache&& other) noexcept;
    // Gives back all free blocks that it keeps.
    ~SharedCache();

    // As the contract says, with bad_alignment beyond SharedRegion::kAlignment. May fail with
    // capacity_exhausted although blocks are free, as long as those are in caches of others.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept override;
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override;
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;
    // Within a size class or the same count of units.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Gives back what this cache keeps, and makes slabs without a block in use free for all sizes. How many
    // bytes that were. Beside any use by others.
    std::size_t trim() noexcept;

    [[nodiscard]] const SharedRegion& region() const noexcept { return region_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return region_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    // Of the whole region.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override { return region_.check(); }

private:
    friend class SharedRegion;
    using Cache = detail::shared::Cache;

    SharedCache(const SharedRegion& region, std::uint32_t number) noexcept
        : region_(region), number_(number) {}

    [[nodiscard]] Cache& cache() const noexcept { return region_.cache(number_); }
    [[nodiscard]] std::uint32_t offset_of(MemoryBlock block) const noexcept;
    [[nodiscard]] std::uint32_t take_small(unsigned size_class) noexcept;
    [[nodiscard]] std::uint32_t take_large(std::size_t size) noexcept;
    void give_small(std::uint32_t offset, unsigned size_class) noexcept;
    void give_large(MemoryBlock block) noexcept;
    [[nodiscard]] std::uint32_t refill(unsigned size_class) noexcept;
    [[nodiscard]] std::uint32_t take_from_slab(std::uint32_t slab, unsigned size_class) noexcept;
    void flush(unsigned size_class, std::uint32_t keep) noexcept;
    void flush_all() noexcept;
    [[nodiscard]] std::size_t end_empty_slabs(unsigned size_class) noexcept;
    void release() noexcept;

    SharedRegion region_;
    std::uint32_t number_ = 0;
};

}  // namespace ouro
