#pragma once

// How free blocks are listed, cut and merged: what allocating, resizing and growing have in common.
#include <ouro/memory/tlsf_heap.hpp>

namespace ouro {

template <WriteBarrier Barrier>
inline void TlsfHeap::note_filled(Barrier barrier, std::uint32_t list) noexcept {
    const std::uint32_t index = list >> zone_bits_;
    const std::uint32_t zone = list - (index << zone_bits_);
    const std::uint32_t level = index / kSlots;
    const std::uint64_t zone_bit = std::uint64_t{1} << zone;
    put(barrier, zones_of(index), zones_of(index) | zone_bit);
    std::uint32_t& slots = slots_of(level, zone);
    if (slots == 0) {
        for (std::uint32_t below = level; (reach_[below] & zone_bit) == 0; --below) {
            reach_[below] |= zone_bit;
            if (below == 0) break;
        }
    }
    put(barrier, slots, slots | std::uint32_t{1} << (index % kSlots));
}

template <WriteBarrier Barrier>
inline void TlsfHeap::note_emptied(Barrier barrier, std::uint32_t list) noexcept {
    const std::uint32_t index = list >> zone_bits_;
    const std::uint32_t zone = list - (index << zone_bits_);
    const std::uint32_t level = index / kSlots;
    const std::uint64_t zone_bit = std::uint64_t{1} << zone;
    put(barrier, zones_of(index), zones_of(index) & ~zone_bit);
    std::uint32_t& slots = slots_of(level, zone);
    put(barrier, slots, slots & ~(std::uint32_t{1} << (index % kSlots)));
    if (slots != 0 || (reach_[level + 1] & zone_bit) != 0) return;
    for (std::uint32_t below = level; slots_of(below, zone) == 0; --below) {
        reach_[below] &= ~zone_bit;
        if (below == 0) break;
    }
}

template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::push(Barrier barrier, std::uint32_t list,
                                                  std::uint32_t record) noexcept {
    std::uint32_t& head = head_of(list);
    store(record, kNext, head);
    store(record, kPrevious, 0);
    if (head != 0) {
        store(barrier, head, kPrevious, record);
    } else {
        note_filled(barrier, list);
    }
    put(barrier, head, record);
}

template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::unlink(Barrier barrier, std::uint32_t list,
                                                    std::uint32_t record) noexcept {
    const std::uint32_t next = load(record, kNext);
    const std::uint32_t previous = load(record, kPrevious);
    if (next != 0) store(barrier, next, kPrevious, previous);
    if (previous != 0) return store(barrier, previous, kNext, next);
    put(barrier, head_of(list), next);
    if (next == 0) note_emptied(barrier, list);
}

template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::relist(Barrier barrier, std::uint32_t record, std::uint32_t from,
                                                    std::uint32_t to) noexcept {
    if (from == to) return;
    unlink(barrier, from, record);
    push(barrier, to, record);
}

inline std::uint32_t TlsfHeap::claim_record(std::uint32_t unit) noexcept {
    const std::uint32_t record = free_record_;
    if (record == 0) [[unlikely]]
        return unit;
    free_record_ = load(record, kNext);
    return record;
}

// Leaves nothing in it that could differ or be taken for a record in use.
template <WriteBarrier Barrier>
inline void TlsfHeap::release_record(Barrier barrier, std::uint32_t record) noexcept {
    if (!is_tabled(record)) [[unlikely]]
        return;
    declare_record(barrier, record);
    store(record, kNext, free_record_);
    store(record, kPrevious, 0);
    store(record, kUnits, 0);
    store(record, kStart, 0);
    free_record_ = record;
}

template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::set_tag(Barrier barrier, std::uint16_t& tag, std::uint32_t unit,
                                                     std::uint32_t record) noexcept {
    if (tag == 0 && is_tabled(record)) [[likely]] {
        put(barrier, tag, static_cast<std::uint16_t>(record - records_unit_));
    } else {
        store(barrier, unit, kRecord, record);
    }
}

// Records outside the table are further from its start than any tag can say.
template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::clear_tag(Barrier barrier, std::uint16_t& tag,
                                                       std::uint32_t record) noexcept {
    put(barrier, tag, tag == record - records_unit_ ? std::uint16_t{0} : tag);
}

// Requires: neither neighbour is free.
template <WriteBarrier Barrier>
inline void TlsfHeap::insert(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept {
    const std::uint32_t record = claim_record(unit);
    const std::uint32_t last = unit + units - 1;
    mark(barrier, unit);
    mark(barrier, last);
    set_tag(barrier, tags_of(unit).first, unit, record);
    set_tag(barrier, tags_of(last).last, last, record);
    declare_record(barrier, record);
    store(record, kUnits, units);
    store(record, kStart, unit);
    push(barrier, list_of(unit, units), record);
    taken_units_ -= units;
}

template <WriteBarrier Barrier>
inline void TlsfHeap::remove(Barrier barrier, std::uint32_t record) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t units = load(record, kUnits);
    const std::uint32_t last = unit + units - 1;
    unlink(barrier, list_of(unit, units), record);
    clear_tag(barrier, tags_of(unit).first, record);
    clear_tag(barrier, tags_of(last).last, record);
    release_record(barrier, record);
    unmark(barrier, unit);
    unmark(barrier, last);
    taken_units_ += units;
}

// Takes units from the front of a free block; the rest stays free.
template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::take_front(Barrier barrier, std::uint32_t record,
                                                        std::uint32_t units) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t have = load(record, kUnits);
    const std::uint32_t rest = have - units;
    if (rest == 0 || !is_tabled(record)) {
        remove(barrier, record);
        if (rest != 0) insert(barrier, unit + units, rest);
        return;
    }
    const std::uint32_t start = unit + units;
    taken_units_ += units;
    unmark(barrier, unit);
    mark(barrier, start);
    clear_tag(barrier, tags_of(unit).first, record);
    set_tag(barrier, tags_of(start).first, start, record);
    declare_record(barrier, record);
    store(record, kUnits, rest);
    store(record, kStart, start);
    relist(barrier, record, list_of(unit, have), list_of(start, rest));
}

// Adds units to the free block that ends before them and, if there is one, to the one behind.
template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::grow_up(Barrier barrier, std::uint32_t unit, std::uint32_t units,
                                                     bool merges_behind) noexcept {
    const std::uint32_t record = record_up_to(unit - 1);
    const std::uint32_t start = load(record, kStart);
    const std::uint32_t before = unit - start;
    std::uint32_t all = before + units;
    clear_tag(barrier, tags_of(unit - 1).last, record);
    if (merges_behind) {
        const std::uint32_t other = record_from(unit + units);
        all += load(other, kUnits);
        remove(barrier, other);
        taken_units_ -= all - before;
    } else {
        taken_units_ -= units;
    }
    if (before != 1) unmark(barrier, unit - 1);
    const std::uint32_t last = start + all - 1;
    mark(barrier, last);
    set_tag(barrier, tags_of(last).last, last, record);
    declare_record(barrier, record);
    store(record, kUnits, all);
    relist(barrier, record, list_of(start, before), list_of(start, all));
}

// Adds units to the free block behind them.
template <WriteBarrier Barrier>
[[gnu::always_inline]] inline void TlsfHeap::grow_down(Barrier barrier, std::uint32_t unit,
                                                       std::uint32_t units) noexcept {
    const std::uint32_t behind = unit + units;
    const std::uint32_t record = record_from(behind);
    const std::uint32_t more = load(record, kUnits);
    if (!is_tabled(record)) [[unlikely]] {
        remove(barrier, record);
        return insert(barrier, unit, units + more);
    }
    mark(barrier, unit);
    if (more != 1) unmark(barrier, behind);
    clear_tag(barrier, tags_of(behind).first, record);
    set_tag(barrier, tags_of(unit).first, unit, record);
    declare_record(barrier, record);
    store(record, kStart, unit);
    store(record, kUnits, units + more);
    taken_units_ -= units;
    relist(barrier, record, list_of(behind, more), list_of(unit, units + more));
}

// Puts units that are in no list back among the free blocks, as one with their free neighbours.
template <WriteBarrier Barrier>
inline void TlsfHeap::give(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept {
    const bool merges_before = is_marked(unit - 1);
    const bool merges_behind = is_marked(unit + units);
    if (merges_before) {
        grow_up(barrier, unit, units, merges_behind);
    } else if (merges_behind) {
        grow_down(barrier, unit, units);
    } else {
        insert(barrier, unit, units);
    }
}

}  // namespace ouro
