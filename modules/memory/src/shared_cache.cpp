#include <ouro/base/align.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/shared_region.hpp>

#include <bit>
#include <utility>

namespace ouro {

using detail::kClassBytes;
using detail::shared::cache_limit;
using detail::shared::kClasses;
using detail::shared::kFirstClass;
using detail::shared::kind_word;
using detail::shared::kNoUnit;
using detail::shared::kUnitBytes;
using detail::shared::slab_blocks;
using detail::shared::slab_units;
using detail::shared::UnitKind;

namespace {

// No block begins where the header does.
constexpr std::uint32_t kNoOffset = 0;

// kClasses or more for blocks of whole units.
unsigned class_of(std::size_t size, std::size_t alignment) noexcept {
    const unsigned size_class = detail::class_for(size, alignment);
    return size_class < kFirstClass ? kFirstClass : size_class;
}

std::size_t good_size(std::size_t size, std::size_t alignment) noexcept {
    const unsigned size_class = class_of(size, alignment);
    return size_class < kClasses ? kClassBytes[size_class] : units_of(size, kUnitBytes) * kUnitBytes;
}

// Counts have one writer each.
void add(std::atomic<std::uint64_t>& count, std::uint64_t more) noexcept {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// The lowest bits of a word, so many at most.
std::uint64_t lowest_bits(std::uint64_t word, std::uint32_t count) noexcept {
    std::uint64_t rest = word;
    for (; count != 0 && rest != 0; --count)
        rest &= rest - 1;
    return word & ~rest;
}

}  // namespace

SharedCache::SharedCache(SharedCache&& other) noexcept
    : region_(std::exchange(other.region_, SharedRegion())), number_(other.number_) {}

SharedCache& SharedCache::operator=(SharedCache&& other) noexcept {
    if (this != &other) {
        release();
        region_ = std::exchange(other.region_, SharedRegion());
        number_ = other.number_;
    }
    return *this;
}

SharedCache::~SharedCache() {
    release();
}

void SharedCache::release() noexcept {
    if (region_.header_ == nullptr) return;
    flush_all();
    cache().owner.store(0, std::memory_order_release);
}

Expected<MemoryBlock> SharedCache::allocate(std::size_t size, std::size_t alignment) noexcept {
    note_allocation();
    Status asked = check_allocation(size, alignment);
    if (asked == Status::ok && alignment > SharedRegion::kAlignment) asked = Status::bad_alignment;
    if (asked != Status::ok) {
        add(cache().failures, 1);
        return asked;
    }
    const unsigned size_class = class_of(size, alignment);
    const bool is_small = size_class < kClasses;
    std::uint32_t offset = is_small ? take_small(size_class) : take_large(size);
    if (offset == kNoOffset && size <= region_.bytes_ && trim() != 0)
        offset = is_small ? take_small(size_class) : take_large(size);
    if (offset == kNoOffset) {
        add(cache().failures, 1);
        return Status::capacity_exhausted;
    }
    const std::size_t bytes = good_size(size, alignment);
    add(cache().allocations, 1);
    add(cache().allocated_bytes, bytes);
    return MemoryBlock{region_.base_ + offset, bytes};
}

void SharedCache::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    OURO_BLOCK_ASSERT(region_.owns(block.data) && block.size != 0, "not a block of this shared region", *this,
                      block.data);
    const unsigned size_class = class_of(block.size, alignment);
    if (size_class < kClasses)
        give_small(offset_of(block), size_class);
    else
        give_large(block);
    add(cache().deallocations, 1);
    add(cache().freed_bytes, good_size(block.size, alignment));
}

Expected<MemoryBlock> SharedCache::try_resize(MemoryBlock block, std::size_t new_size,
                                              std::size_t alignment) noexcept {
    if (const Status status = check_allocation(new_size, alignment); status != Status::ok) return status;
    if (new_size > region_.bytes_) return Status::capacity_exhausted;
    const std::size_t bytes = good_size(new_size, alignment);
    if (bytes != good_size(block.size, alignment)) return Status::capacity_exhausted;
    return MemoryBlock{block.data, bytes};
}

Expected<MemoryBlock> SharedCache::reallocate(MemoryBlock block, std::size_t new_size,
                                              std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    const auto same = try_resize(block, new_size, alignment);
    if (same) return same;
    if (same.status() != Status::capacity_exhausted) {
        add(cache().failures, 1);
        return same;
    }
    return move_to_new_block(*this, block, new_size, alignment);
}

std::size_t SharedCache::trim() noexcept {
    flush_all();
    std::size_t bytes = 0;
    for (unsigned size_class = kFirstClass; size_class < kClasses; ++size_class)
        bytes += end_empty_slabs(size_class);
    return bytes;
}

ResourceInfo SharedCache::info() const noexcept {
    return {.name = "shared region", .thread_safety = ThreadSafety::single_thread};
}

ResourceStats SharedCache::stats() const noexcept {
    const SharedRegionStats all = region_.stats();
    return {.live_bytes = static_cast<std::size_t>(all.live_bytes),
            .peak_bytes = static_cast<std::size_t>(all.peak_bytes),
            .live_blocks = static_cast<std::size_t>(all.live_blocks),
            .reserved_bytes = region_.bytes_,
            .committed_bytes = region_.bytes_,
            .allocations = all.allocations,
            .failures = all.failures};
}

std::uint32_t SharedCache::offset_of(MemoryBlock block) const noexcept {
    return static_cast<std::uint32_t>(block.data - region_.base_);
}

// The count is written last when something comes, and first when it goes: at worst a block is lost that was
// on its way.
std::uint32_t SharedCache::take_small(unsigned size_class) noexcept {
    std::atomic<std::uint32_t>& held = cache().counts[size_class];
    std::uint32_t count = held.load(std::memory_order_relaxed);
    if (count == 0) {
        count = refill(size_class);
        if (count == 0) return kNoOffset;
    }
    const std::uint32_t offset = cache().blocks[size_class][count - 1].load(std::memory_order_relaxed);
    held.store(count - 1, std::memory_order_release);
    return offset;
}

void SharedCache::give_small(std::uint32_t offset, unsigned size_class) noexcept {
    OURO_DEBUG_BLOCK_ASSERT(region_.place_of(offset, size_class).slab != kNoUnit,
                            "not a block of this shared region, or of another size", *this,
                            region_.base_ + offset);
    std::atomic<std::uint32_t>& held = cache().counts[size_class];
    if (held.load(std::memory_order_relaxed) == cache_limit(size_class))
        flush(size_class, cache_limit(size_class) / 2);
    const std::uint32_t count = held.load(std::memory_order_relaxed);
    cache().blocks[size_class][count].store(offset, std::memory_order_relaxed);
    held.store(count + 1, std::memory_order_release);
}

std::uint32_t SharedCache::take_large(std::size_t size) noexcept {
    if (size > region_.bytes_) return kNoOffset;
    const auto count = static_cast<std::uint32_t>(units_of(size, kUnitBytes));
    const std::uint32_t first = region_.take_units(count);
    if (first == kNoUnit) return kNoOffset;
    region_.units_[first].kind.store(kind_word(UnitKind::large, count), std::memory_order_release);
    return region_.offset_of(first);
}

void SharedCache::give_large(MemoryBlock block) noexcept {
    const std::uint32_t first = region_.unit_at(offset_of(block));
    const auto count = static_cast<std::uint32_t>(units_of(block.size, kUnitBytes));
    std::uint32_t kind = kind_word(UnitKind::large, count);
    const bool is_block =
        is_aligned(block.data, kUnitBytes) &&
        region_.units_[first].kind.compare_exchange_strong(kind, kind_word(UnitKind::none, 0));
    OURO_BLOCK_ASSERT(is_block, "not a large block of this shared region, of another size, or freed already",
                      *this, block.data);
    region_.give_units(first, count);
}

std::uint32_t SharedCache::refill(unsigned size_class) noexcept {
    for (;;) {
        std::uint32_t slab = region_.pop_slab(size_class, number_);
        if (slab == kNoUnit) slab = region_.make_slab(size_class, number_);
        // Another may have held the only one for a moment.
        if (slab == kNoUnit) slab = region_.pop_slab(size_class, number_);
        if (slab == kNoUnit) return 0;
        const std::uint32_t count = take_from_slab(slab, size_class);
        region_.put_down_slab(slab);
        if (count != 0) return count;
    }
}

std::uint32_t SharedCache::take_from_slab(std::uint32_t slab, unsigned size_class) noexcept {
    const std::uint32_t wanted = cache_limit(size_class) / 2;
    std::uint32_t count = 0;
    const std::uint32_t words = units_of(slab_blocks(size_class), 64U);
    for (std::uint32_t word = 0; word < words && count < wanted; ++word) {
        std::atomic<std::uint64_t>& free = region_.free_word(slab, word);
        const std::uint64_t taken = lowest_bits(free.load(std::memory_order_relaxed), wanted - count);
        if (taken == 0) continue;
        free.fetch_and(~taken, std::memory_order_acquire);
        for_each_bit(taken, [&](unsigned bit) {
            const std::uint32_t distance = (word * 64 + bit) * kClassBytes[size_class];
            cache().blocks[size_class][count++].store(region_.offset_of(slab) + distance,
                                                      std::memory_order_relaxed);
        });
    }
    cache().counts[size_class].store(count, std::memory_order_release);
    return count;
}

void SharedCache::flush(unsigned size_class, std::uint32_t keep) noexcept {
    std::atomic<std::uint32_t>& held = cache().counts[size_class];
    for (std::uint32_t count = held.load(std::memory_order_relaxed); count > keep; --count) {
        const std::uint32_t offset = cache().blocks[size_class][count - 1].load(std::memory_order_relaxed);
        held.store(count - 1, std::memory_order_release);
        region_.give_block(offset, size_class);
    }
}

void SharedCache::flush_all() noexcept {
    for (unsigned size_class = kFirstClass; size_class < kClasses; ++size_class)
        flush(size_class, 0);
}

std::size_t SharedCache::end_empty_slabs(unsigned size_class) noexcept {
    std::size_t bytes = 0;
    // Those that stay are put down at the end, or they would be found again.
    std::uint32_t kept = kNoUnit;
    std::uint32_t left = region_.unit_count_ / slab_units(size_class);
    for (; left != 0; --left) {
        const std::uint32_t slab = region_.pop_slab(size_class, number_);
        if (slab == kNoUnit) break;
        if (region_.count_free(slab) == slab_blocks(size_class)) {
            region_.end_slab(slab);
            bytes += slab_units(size_class) * kUnitBytes;
        } else {
            region_.units_[slab].next.store(kept, std::memory_order_relaxed);
            kept = slab;
        }
    }
    while (kept != kNoUnit) {
        const std::uint32_t next = region_.units_[kept].next.load(std::memory_order_relaxed);
        region_.put_down_slab(kept);
        kept = next;
    }
    return bytes;
}

}  // namespace ouro
