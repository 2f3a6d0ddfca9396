#include <ouro/base/align.hpp>
#include <ouro/memory/tlsf_heap.hpp>

namespace ouro {
namespace {

// How many blocks are looked at where nothing promises a fit: bounds on the time of a call.
constexpr int kScarceSteps = 64;
constexpr int kAlignedSteps = 8;
// How many levels above are compared for a block that lies lower.
constexpr int kLowerLevels = 3;
// Zones of the class that holds blocks both smaller and larger than asked, tried before the classes above.
constexpr int kProbes = 2;

}  // namespace

void TlsfHeap::note_filled(std::uint32_t index, std::uint32_t zone) noexcept {
    const std::uint32_t level = index / kSlots;
    const std::uint32_t slot = std::uint32_t{1} << (index % kSlots);
    zones_of(index) |= std::uint64_t{1} << zone;
    slots_of(level, zone) |= slot;
    zone_sets_[level] |= std::uint64_t{1} << zone;
    slot_bits_[level] |= slot;
    level_bits_ |= std::uint32_t{1} << level;
}

void TlsfHeap::note_emptied(std::uint32_t index, std::uint32_t zone) noexcept {
    const std::uint32_t level = index / kSlots;
    const std::uint32_t slot = std::uint32_t{1} << (index % kSlots);
    const std::uint64_t zone_bit = std::uint64_t{1} << zone;
    if ((zones_of(index) &= ~zone_bit) == 0) slot_bits_[level] &= ~slot;
    if ((slots_of(level, zone) &= ~slot) != 0) return;
    if ((zone_sets_[level] &= ~zone_bit) == 0) level_bits_ &= ~(std::uint32_t{1} << level);
}

[[gnu::always_inline]] inline void TlsfHeap::push(std::uint32_t index, std::uint32_t unit) noexcept {
    const std::uint32_t zone = zone_of(unit);
    std::uint32_t& head = head_of(index, zone);
    store(unit, kNext, head);
    if (head != 0) {
        store(head, kPrevious, unit);
    } else {
        note_filled(index, zone);
    }
    head = unit;
}

[[gnu::always_inline]] inline void TlsfHeap::unlink(std::uint32_t index, std::uint32_t unit) noexcept {
    const std::uint32_t zone = zone_of(unit);
    std::uint32_t& head = head_of(index, zone);
    const std::uint32_t next = load(unit, kNext);
    if (head != unit) {
        const std::uint32_t previous = load(unit, kPrevious);
        store(previous, kNext, next);
        if (next != 0) store(next, kPrevious, previous);
        return;
    }
    head = next;
    if (next == 0) note_emptied(index, zone);
}

// A free block that begins elsewhere now and stays in its list. Requires: the same class; its own words are
// written after this.
void TlsfHeap::move_link(std::uint32_t index, std::uint32_t from, std::uint32_t to) noexcept {
    std::uint32_t& head = head_of(index, zone_of(from));
    if (zone_of(from) != zone_of(to) || head != from) {
        unlink(index, from);
        push(index, to);
        return;
    }
    const std::uint32_t next = load(from, kNext);
    head = to;
    store(to, kNext, next);
    if (next != 0) store(next, kPrevious, to);
}

void TlsfHeap::insert(std::uint32_t unit, std::uint32_t units) noexcept {
    mark(unit);
    mark(unit + units - 1);
    write_units(unit, units);
    push(class_of(units), unit);
    taken_units_ -= units;
}

void TlsfHeap::remove(std::uint32_t unit, std::uint32_t units) noexcept {
    unmark(unit);
    unmark(unit + units - 1);
    unlink(class_of(units), unit);
    taken_units_ += units;
}

// Puts units that are in no list back among the free blocks, as one with their free neighbours.
void TlsfHeap::give(std::uint32_t unit, std::uint32_t units) noexcept {
    const std::uint32_t behind = unit + units;
    const std::uint32_t more_behind = is_marked(behind) ? load(behind, kUnits) : 0;
    const std::uint32_t more_before = is_marked(unit - 1) ? units_before(unit) : 0;
    const std::uint32_t start = unit - more_before;
    const std::uint32_t all = more_before + units + more_behind;
    const std::uint32_t index = class_of(all);
    // A large neighbour often stays in its class, and then in its list.
    if (more_before != 0 && class_of(more_before) == index) {
        if (more_behind != 0) remove(behind, more_behind);
        unmark(unit - 1);
        taken_units_ -= units + more_behind;
    } else if (more_behind != 0 && class_of(more_behind) == index) {
        if (more_before != 0) remove(start, more_before);
        unmark(behind);
        move_link(index, behind, start);
        taken_units_ -= units + more_before;
    } else {
        if (more_before != 0) remove(start, more_before);
        if (more_behind != 0) remove(behind, more_behind);
        push(index, start);
        taken_units_ -= all;
    }
    mark(start);
    mark(start + all - 1);
    write_units(start, all);
}

// Takes units from the front of a free block; the rest stays free.
void TlsfHeap::take_front(std::uint32_t unit, std::uint32_t units) noexcept {
    const std::uint32_t have = load(unit, kUnits);
    const std::uint32_t rest = have - units;
    const std::uint32_t index = class_of(have);
    unmark(unit);
    taken_units_ += units;
    if (rest == 0) {
        unmark(unit + units - 1);
        unlink(index, unit);
        return;
    }
    if (class_of(rest) == index) {
        move_link(index, unit, unit + units);
    } else {
        unlink(index, unit);
        push(class_of(rest), unit + units);
    }
    mark(unit + units);
    write_units(unit + units, rest);
}

// The class of a size also holds smaller blocks: looks at a few, so that a block freed is found again by the
// next request of its size.
std::uint32_t TlsfHeap::probe(std::uint32_t index, std::uint32_t units) const noexcept {
    std::uint64_t zones = zones_of(index);
    for (int step = 0; zones != 0 && step < kProbes; ++step, zones &= zones - 1) {
        const std::uint32_t unit = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
        if (load(unit, kUnits) >= units) return unit;
    }
    return 0;
}

// The lowest block of a class or of any above it, as exactly as zones tell.
std::uint32_t TlsfHeap::choose_above(std::uint32_t index) const noexcept {
    std::uint32_t level = index / kSlots;
    std::uint32_t best_level = kMaxLevels;
    std::uint32_t best_zone = 0;
    std::uint32_t best_slots = 0;
    if (level < level_count_ && (slot_bits_[level] >> (index % kSlots)) != 0) {
        std::uint64_t zones = zone_sets_[level];
        for (; best_slots == 0; zones &= zones - 1) {
            best_zone = static_cast<std::uint32_t>(std::countr_zero(zones));
            best_slots = slots_of(level, best_zone) & (~std::uint32_t{0} << (index % kSlots));
        }
        best_level = level;
    }
    std::uint32_t higher = level_bits_ & (~std::uint32_t{1} << level);
    for (int step = 0; higher != 0 && step < kLowerLevels; ++step, higher &= higher - 1) {
        level = static_cast<std::uint32_t>(std::countr_zero(higher));
        const auto zone = static_cast<std::uint32_t>(std::countr_zero(zone_sets_[level]));
        if (best_level != kMaxLevels && zone >= best_zone) continue;
        best_level = level;
        best_zone = zone;
        best_slots = slots_of(level, zone);
    }
    if (best_level == kMaxLevels) return 0;
    return head_of(best_level * kSlots + static_cast<std::uint32_t>(std::countr_zero(best_slots)), best_zone);
}

// Of the blocks that fit well the lowest one. Where none does, a larger one must be cut: the lowest of those
// too, whatever its size, so that what is cut up lies together.
std::uint32_t TlsfHeap::choose(std::uint32_t units) const noexcept {
    const std::uint32_t exact = class_of(units);
    const std::uint32_t fitting = class_fitting(units);
    if (fitting / kSlots >= level_count_) return 0;
    if (exact != fitting) {
        if (const std::uint32_t unit = probe(exact, units); unit != 0) return unit;
    }
    if (zones_of(fitting) != 0) return lowest_of(fitting);
    return choose_above(fitting + 1);
}

Expected<MemoryBlock> TlsfHeap::allocate_units(std::uint32_t units) noexcept {
    std::uint32_t unit = choose(units);
    if (unit == 0) [[unlikely]] {
        unit = find_fit(units, kUnit, kScarceSteps);
        // Blocks kept for their size may be what is missing between two neighbours.
        if (unit == 0 && quick_units_ != 0 &&
            units <= end_unit_ - first_unit_ - taken_units_ + quick_units_) {
            flush_quick();
            unit = find_fit(units, kUnit, kScarceSteps);
        }
        if (unit == 0) return Status::capacity_exhausted;
    }
    take_front(unit, units);
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
void TlsfHeap::take_part(std::uint32_t unit, std::uint32_t skipped, std::uint32_t units) noexcept {
    const std::uint32_t have = load(unit, kUnits);
    remove(unit, have);
    if (skipped != 0) insert(unit, skipped);
    if (have > skipped + units) insert(unit + skipped + units, have - skipped - units);
}

// The first of a bounded number of blocks that happens to fit, from the class of the size itself upwards.
std::uint32_t TlsfHeap::find_fit(std::uint32_t units, std::size_t alignment, int steps) const noexcept {
    for (std::uint32_t index = class_of(units); index < level_count_ * kSlots; ++index) {
        if ((slot_bits_[index / kSlots] >> (index % kSlots) & 1) == 0) continue;
        std::uint64_t zones = zones_of(index);
        for (; zones != 0; zones &= zones - 1) {
            std::uint32_t unit = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
            for (; unit != 0; unit = load(unit, kNext)) {
                const std::uint32_t have = load(unit, kUnits);
                if (have >= units && have - units >= skip_to_alignment(unit, alignment)) return unit;
                if (--steps == 0) return 0;
            }
        }
    }
    return 0;
}

// A block that happens to be aligned may be large enough without room for the worst skip.
std::uint32_t TlsfHeap::choose_aligned(std::uint32_t units, std::size_t alignment) const noexcept {
    if (const std::uint32_t unit = find_fit(units, alignment, kAlignedSteps); unit != 0) return unit;
    const std::uint32_t worst = units + static_cast<std::uint32_t>(alignment / kUnit) - 1;
    if (const std::uint32_t unit = choose(worst); unit != 0) return unit;
    return find_fit(units, alignment, kScarceSteps);
}

// Alignments beyond the unit, and requests that make no sense.
Expected<MemoryBlock> TlsfHeap::allocate_unusual(std::size_t size, std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return asked;
    if (size > kMaxRequest) return Status::size_overflow;
    if (alignment > kMaxRequest - size) return Status::capacity_exhausted;
    const auto units = static_cast<std::uint32_t>((size + kUnit - 1) / kUnit);
    std::uint32_t unit = choose_aligned(units, alignment);
    if (unit == 0 && quick_units_ != 0) {
        flush_quick();
        unit = choose_aligned(units, alignment);
    }
    if (unit == 0) return Status::capacity_exhausted;
    const std::uint32_t skipped = skip_to_alignment(unit, alignment);
    take_part(unit, skipped, units);
    ++allocations_;
    return block_at(unit + skipped, units);
}

}  // namespace ouro
