#include "tlsf_heap_lists.hpp"

#include <ouro/base/align.hpp>

namespace ouro {
namespace {

// How many blocks are looked at where nothing promises a fit: bounds on the time of a call.
constexpr int kScarceSteps = 64;
constexpr int kAlignedSteps = 8;
// Zones of the class that holds blocks both smaller and larger than asked, tried before the classes above.
constexpr int kProbes = 2;

}  // namespace

// The class of a size also holds smaller blocks: looks at a few, so that a block freed is found again by the
// next request of its size.
[[gnu::always_inline]] inline std::uint32_t TlsfHeap::probe(std::uint32_t index,
                                                            std::uint32_t units) const noexcept {
    std::uint64_t zones = zones_of(index);
    for (int step = 0; zones != 0 && step < kProbes; ++step, zones &= zones - 1) {
        const std::uint32_t record = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
        if (load(record, kUnits) >= units) return record;
    }
    return 0;
}

// The lowest block of a level or of any above it, as exactly as zones tell.
[[gnu::always_inline]] inline std::uint32_t TlsfHeap::lowest_from(std::uint32_t level) const noexcept {
    const std::uint64_t zones = reach_[level];
    if (zones == 0) return 0;
    const auto zone = static_cast<std::uint32_t>(std::countr_zero(zones));
    while (slots_of(level, zone) == 0)
        ++level;
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(slots_of(level, zone)));
    return head_of(level * kSlots + slot, zone);
}

// Of the blocks that fit well the lowest one. Where none does, a larger one must be cut: the lowest of those
// that leave a rest which is larger than what is taken, and so is of use to others. None when there is only
// what leaves less.
[[gnu::always_inline]] inline std::uint32_t TlsfHeap::choose(std::uint32_t units) const noexcept {
    const std::uint32_t exact = class_of(units);
    const std::uint32_t fitting = class_fitting(units);
    const std::uint32_t level = fitting / kSlots;
    if (level >= level_count_) return 0;
    if (exact != fitting) {
        if (const std::uint32_t record = probe(exact, units); record != 0) return record;
    }
    if (zones_of(fitting) != 0) return lowest_of(fitting);
    return lowest_from(level + kRoomyLevels);
}

// A block of the lowest class that has one, from this one upwards.
std::uint32_t TlsfHeap::any_from(std::uint32_t index) const noexcept {
    for (; index < level_count_ * kSlots; ++index) {
        if (zones_of(index) != 0) return lowest_of(index);
    }
    return 0;
}

// Where choose() finds nothing: what fits best, and in any case something if a class promises it.
std::uint32_t TlsfHeap::find_scarce(std::uint32_t units, std::size_t alignment) const noexcept {
    if (const std::uint32_t record = find_fit(units, alignment, kScarceSteps); record != 0) return record;
    const std::uint32_t worst = units + static_cast<std::uint32_t>(alignment / kUnit) - 1;
    return any_from(class_fitting(worst));
}

Expected<MemoryBlock> TlsfHeap::allocate_scarce(std::uint32_t units) noexcept {
    std::uint32_t record = find_scarce(units, kUnit);
    // Blocks kept for their size may be what is missing between two neighbours.
    if (record == 0 && quick_units_ != 0 && units <= end_unit_ - first_unit_ - taken_units_ + quick_units_) {
        flush_quick();
        record = find_scarce(units, kUnit);
    }
    if (record == 0) return Status::capacity_exhausted;
    const std::uint32_t unit = load(record, kStart);
    take_front(record, units);
    ++allocations_;
    return block_at(unit, units);
}

Expected<MemoryBlock> TlsfHeap::allocate_units(std::uint32_t units) noexcept {
    const std::uint32_t record = choose(units);
    if (record == 0) [[unlikely]]
        return allocate_scarce(units);
    const std::uint32_t unit = load(record, kStart);
    take_front(record, units);
    ++allocations_;
    return block_at(unit, units);
}

void TlsfHeap::deallocate_units(std::uint32_t unit, std::uint32_t units) noexcept {
    give(unit, units);
    if (units <= kQuickUnits && quick_limit_units_ >= kQuickUnits) make_quick_room(kQuickUnits);
}

void TlsfHeap::make_quick_room(std::uint32_t units) noexcept {
    while (quick_units_ + units > quick_limit_units_) {
        std::uint32_t& head = quick_heads_[quick_cursor_];
        if (head != 0) {
            const std::uint32_t unit = head;
            head = load(unit, kNext);
            quick_units_ -= quick_cursor_ + 1;
            give(unit, quick_cursor_ + 1);
        }
        quick_cursor_ = (quick_cursor_ + 1) % kQuickUnits;
    }
}

void TlsfHeap::flush_quick() noexcept {
    for (std::uint32_t units = 1; units <= kQuickUnits; ++units) {
        std::uint32_t unit = quick_heads_[units - 1];
        quick_heads_[units - 1] = 0;
        while (unit != 0) {
            const std::uint32_t next = load(unit, kNext);
            quick_units_ -= units;
            give(unit, units);
            unit = next;
        }
    }
    quick_cursor_ = 0;
}

std::uint32_t TlsfHeap::skip_to_alignment(std::uint32_t unit, std::size_t alignment) const noexcept {
    return static_cast<std::uint32_t>(padding_to(at(unit), alignment) / kUnit);
}

// Takes units out of a free block, leaving what was skipped before them and what is left behind free.
void TlsfHeap::take_part(std::uint32_t record, std::uint32_t skipped, std::uint32_t units) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t have = load(record, kUnits);
    remove(record);
    if (skipped != 0) insert(unit, skipped);
    if (have > skipped + units) insert(unit + skipped + units, have - skipped - units);
}

// The first of a bounded number of blocks that happens to fit, from the class of the size itself upwards.
std::uint32_t TlsfHeap::find_fit(std::uint32_t units, std::size_t alignment, int steps) const noexcept {
    for (std::uint32_t index = class_of(units); index < level_count_ * kSlots; ++index) {
        std::uint64_t zones = zones_of(index);
        for (; zones != 0; zones &= zones - 1) {
            std::uint32_t record = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
            for (; record != 0; record = load(record, kNext)) {
                const std::uint32_t have = load(record, kUnits);
                const std::uint32_t start = load(record, kStart);
                if (have >= units && have - units >= skip_to_alignment(start, alignment)) return record;
                if (--steps == 0) return 0;
            }
        }
    }
    return 0;
}

// A block that happens to be aligned may be large enough without room for the worst skip.
std::uint32_t TlsfHeap::choose_aligned(std::uint32_t units, std::size_t alignment) const noexcept {
    if (const std::uint32_t record = find_fit(units, alignment, kAlignedSteps); record != 0) return record;
    const std::uint32_t worst = units + static_cast<std::uint32_t>(alignment / kUnit) - 1;
    if (const std::uint32_t record = choose(worst); record != 0) return record;
    return find_scarce(units, alignment);
}

// Alignments beyond the unit, and requests that make no sense.
Expected<MemoryBlock> TlsfHeap::allocate_unusual(std::size_t size, std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return asked;
    if (size > kMaxRequest) return Status::size_overflow;
    if (alignment > kMaxRequest - size) return Status::capacity_exhausted;
    const auto units = static_cast<std::uint32_t>((size + kUnit - 1) / kUnit);
    std::uint32_t record = choose_aligned(units, alignment);
    if (record == 0 && quick_units_ != 0) {
        flush_quick();
        record = choose_aligned(units, alignment);
    }
    if (record == 0) return Status::capacity_exhausted;
    const std::uint32_t start = load(record, kStart);
    const std::uint32_t skipped = skip_to_alignment(start, alignment);
    take_part(record, skipped, units);
    ++allocations_;
    return block_at(start + skipped, units);
}

}  // namespace ouro
