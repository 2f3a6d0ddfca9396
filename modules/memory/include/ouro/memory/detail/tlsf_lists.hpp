#pragma once

// How free blocks are listed, cut and merged: what allocating, resizing and growing have in common.
#include <ouro/memory/tlsf_heap.hpp>

namespace ouro {

inline void TlsfHeap::note_filled(std::uint32_t list) noexcept {
    const std::uint32_t index = list >> zone_bits_;
    const std::uint32_t zone = list - (index << zone_bits_);
    const std::uint32_t level = index / kSlots;
    const std::uint64_t zone_bit = std::uint64_t{1} << zone;
    zones_of(index) |= zone_bit;
    std::uint32_t& slots = slots_of(level, zone);
    if (slots == 0) {
        for (std::uint32_t below = level; (reach_[below] & zone_bit) == 0; --below) {
            reach_[below] |= zone_bit;
            if (below == 0) break;
        }
    }
    slots |= std::uint32_t{1} << (index % kSlots);
}

inline void TlsfHeap::note_emptied(std::uint32_t list) noexcept {
    const std::uint32_t index = list >> zone_bits_;
    const std::uint32_t zone = list - (index << zone_bits_);
    const std::uint32_t level = index / kSlots;
    const std::uint64_t zone_bit = std::uint64_t{1} << zone;
    zones_of(index) &= ~zone_bit;
    std::uint32_t& slots = slots_of(level, zone);
    slots &= ~(std::uint32_t{1} << (index % kSlots));
    if (slots != 0 || (reach_[level + 1] & zone_bit) != 0) return;
    for (std::uint32_t below = level; slots_of(below, zone) == 0; --below) {
        reach_[below] &= ~zone_bit;
        if (below == 0) break;
    }
}

[[gnu::always_inline]] inline void TlsfHeap::push(std::uint32_t list, std::uint32_t record) noexcept {
    std::uint32_t& head = head_of(list);
    store(record, kNext, head);
    store(record, kPrevious, 0);
    if (head != 0) {
        store(head, kPrevious, record);
    } else {
        note_filled(list);
    }
    head = record;
}

[[gnu::always_inline]] inline void TlsfHeap::unlink(std::uint32_t list, std::uint32_t record) noexcept {
    const std::uint32_t next = load(record, kNext);
    const std::uint32_t previous = load(record, kPrevious);
    if (next != 0) store(next, kPrevious, previous);
    if (previous != 0) return store(previous, kNext, next);
    head_of(list) = next;
    if (next == 0) note_emptied(list);
}

[[gnu::always_inline]] inline void TlsfHeap::relist(std::uint32_t record, std::uint32_t from,
                                                    std::uint32_t to) noexcept {
    if (from == to) return;
    unlink(from, record);
    push(to, record);
}

inline std::uint32_t TlsfHeap::claim_record(std::uint32_t unit) noexcept {
    const std::uint32_t record = free_record_;
    if (record == 0) [[unlikely]]
        return unit;
    free_record_ = load(record, kNext);
    return record;
}

// Leaves nothing in it that could differ or be taken for a record in use.
inline void TlsfHeap::release_record(std::uint32_t record) noexcept {
    if (!is_tabled(record)) [[unlikely]]
        return;
    store(record, kNext, free_record_);
    store(record, kPrevious, 0);
    store(record, kUnits, 0);
    store(record, kStart, 0);
    free_record_ = record;
}

[[gnu::always_inline]] inline void TlsfHeap::tag_first(std::uint32_t unit, std::uint32_t record) noexcept {
    std::uint16_t& tag = tags_of(unit).first;
    if (tag == 0 && is_tabled(record)) [[likely]] {
        tag = static_cast<std::uint16_t>(record - records_unit_);
    } else {
        store(unit, kRecord, record);
    }
}

[[gnu::always_inline]] inline void TlsfHeap::tag_last(std::uint32_t unit, std::uint32_t record) noexcept {
    std::uint16_t& tag = tags_of(unit).last;
    if (tag == 0 && is_tabled(record)) [[likely]] {
        tag = static_cast<std::uint16_t>(record - records_unit_);
    } else {
        store(unit, kRecord, record);
    }
}

// Records outside the table are further from its start than any tag can say.
[[gnu::always_inline]] inline void TlsfHeap::untag_first(std::uint32_t unit, std::uint32_t record) noexcept {
    std::uint16_t& tag = tags_of(unit).first;
    tag = tag == record - records_unit_ ? std::uint16_t{0} : tag;
}

[[gnu::always_inline]] inline void TlsfHeap::untag_last(std::uint32_t unit, std::uint32_t record) noexcept {
    std::uint16_t& tag = tags_of(unit).last;
    tag = tag == record - records_unit_ ? std::uint16_t{0} : tag;
}

// Requires: neither neighbour is free.
inline void TlsfHeap::insert(std::uint32_t unit, std::uint32_t units) noexcept {
    const std::uint32_t record = claim_record(unit);
    const std::uint32_t last = unit + units - 1;
    mark(unit);
    mark(last);
    tag_first(unit, record);
    tag_last(last, record);
    store(record, kUnits, units);
    store(record, kStart, unit);
    push(list_of(unit, units), record);
    taken_units_ -= units;
}

inline void TlsfHeap::remove(std::uint32_t record) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t units = load(record, kUnits);
    const std::uint32_t last = unit + units - 1;
    unlink(list_of(unit, units), record);
    untag_first(unit, record);
    untag_last(last, record);
    release_record(record);
    unmark(unit);
    unmark(last);
    taken_units_ += units;
}

// Takes units from the front of a free block; the rest stays free.
[[gnu::always_inline]] inline void TlsfHeap::take_front(std::uint32_t record, std::uint32_t units) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t have = load(record, kUnits);
    const std::uint32_t rest = have - units;
    if (rest == 0 || !is_tabled(record)) {
        remove(record);
        if (rest != 0) insert(unit + units, rest);
        return;
    }
    const std::uint32_t start = unit + units;
    taken_units_ += units;
    unmark(unit);
    mark(start);
    untag_first(unit, record);
    tag_first(start, record);
    store(record, kUnits, rest);
    store(record, kStart, start);
    relist(record, list_of(unit, have), list_of(start, rest));
}

// Adds units to the free block that ends before them and, if there is one, to the one behind.
[[gnu::always_inline]] inline void TlsfHeap::grow_up(std::uint32_t unit, std::uint32_t units,
                                                     bool merges_behind) noexcept {
    const std::uint32_t record = record_up_to(unit - 1);
    const std::uint32_t start = load(record, kStart);
    const std::uint32_t before = unit - start;
    std::uint32_t all = before + units;
    untag_last(unit - 1, record);
    if (merges_behind) {
        const std::uint32_t other = record_from(unit + units);
        all += load(other, kUnits);
        remove(other);
        taken_units_ -= all - before;
    } else {
        taken_units_ -= units;
    }
    if (before != 1) unmark(unit - 1);
    const std::uint32_t last = start + all - 1;
    mark(last);
    tag_last(last, record);
    store(record, kUnits, all);
    relist(record, list_of(start, before), list_of(start, all));
}

// Adds units to the free block behind them.
[[gnu::always_inline]] inline void TlsfHeap::grow_down(std::uint32_t unit, std::uint32_t units) noexcept {
    const std::uint32_t behind = unit + units;
    const std::uint32_t record = record_from(behind);
    const std::uint32_t more = load(record, kUnits);
    if (!is_tabled(record)) [[unlikely]] {
        remove(record);
        return insert(unit, units + more);
    }
    mark(unit);
    if (more != 1) unmark(behind);
    untag_first(behind, record);
    tag_first(unit, record);
    store(record, kStart, unit);
    store(record, kUnits, units + more);
    taken_units_ -= units;
    relist(record, list_of(behind, more), list_of(unit, units + more));
}

// Puts units that are in no list back among the free blocks, as one with their free neighbours.
inline void TlsfHeap::give(std::uint32_t unit, std::uint32_t units) noexcept {
    const bool merges_before = is_marked(unit - 1);
    const bool merges_behind = is_marked(unit + units);
    if (merges_before) {
        grow_up(unit, units, merges_behind);
    } else if (merges_behind) {
        grow_down(unit, units);
    } else {
        insert(unit, units);
    }
}

}  // namespace ouro
