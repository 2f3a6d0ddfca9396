#pragma once

// What a heap does, with every write declared to a barrier. Who uses TlsfHeap with one includes this file in
// one source; without one, all of it is in the library.
#include <ouro/base/align.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/tlsf_lists.hpp>
#include <ouro/memory/detail/tlsf_search.hpp>

#include <new>

namespace ouro {

template <WriteBarrier Barrier>
Expected<TlsfHeap*> TlsfHeap::create_in(Barrier barrier, MemoryBlock image,
                                        std::size_t usable_bytes) noexcept {
    if (!is_aligned(image.data, kUnit)) return Status::bad_alignment;
    const std::uint64_t image_bytes = image.size;
    if (image_bytes > kMaxBytes || usable_bytes > image.size) return Status::out_of_range;
    const Layout layout = layout_of(image_bytes);
    if (usable_bytes < bytes_of(layout.first_unit)) return Status::out_of_range;
    barrier.clear(image.data, bytes_of(layout.first_unit));
    barrier.declare(image.data, sizeof(TlsfHeap));
    auto* heap = new (image.data) TlsfHeap(layout);
    for (std::uint32_t record = layout.tags_unit; --record > layout.records_unit;)
        heap->release_record(barrier, record);
    const Expected<void> grown = heap->grow(barrier, usable_bytes);
    if (!grown) return grown.status();
    return heap;
}

template <WriteBarrier Barrier>
Expected<void> TlsfHeap::grow(Barrier barrier, std::size_t usable_bytes) noexcept {
    if (usable_bytes > bytes_of(capacity_units_) + kUnit - 1) return Status::out_of_range;
    const auto new_end = static_cast<std::uint32_t>(usable_bytes / kUnit);
    if (new_end <= end_unit_) return {};
    declare_control(barrier);
    const std::uint32_t old_end = end_unit_;
    end_unit_ = new_end;
    taken_units_ += new_end - old_end;
    give(barrier, old_end, new_end - old_end);
    return {};
}

template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::allocate_scarce(Barrier barrier, std::uint32_t units) noexcept {
    std::uint32_t record = find_scarce(units, kUnit);
    // Blocks kept for their size may be what is missing between two neighbours.
    if (record == 0 && quick_units_ != 0 && units <= end_unit_ - first_unit_ - taken_units_ + quick_units_) {
        flush_quick(barrier);
        record = find_scarce(units, kUnit);
    }
    if (record == 0) return Status::capacity_exhausted;
    const std::uint32_t unit = load(record, kStart);
    take_front(barrier, record, units);
    ++allocations_;
    return block_at(unit, units);
}

template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::allocate_units(Barrier barrier, std::uint32_t units) noexcept {
    const std::uint32_t record = choose(units);
    if (record == 0) [[unlikely]]
        return allocate_scarce(barrier, units);
    const std::uint32_t unit = load(record, kStart);
    take_front(barrier, record, units);
    ++allocations_;
    return block_at(unit, units);
}

template <WriteBarrier Barrier>
void TlsfHeap::deallocate_units(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept {
    give(barrier, unit, units);
    if (units <= kQuickUnits && quick_limit_units_ >= kQuickUnits) make_quick_room(barrier, kQuickUnits);
}

template <WriteBarrier Barrier>
void TlsfHeap::make_quick_room(Barrier barrier, std::uint32_t units) noexcept {
    while (quick_units_ + units > quick_limit_units_) {
        std::uint32_t& head = quick_heads_[quick_cursor_];
        if (head != 0) {
            const std::uint32_t unit = head;
            head = load(unit, kNext);
            quick_units_ -= quick_cursor_ + 1;
            give(barrier, unit, quick_cursor_ + 1);
        }
        quick_cursor_ = (quick_cursor_ + 1) % kQuickUnits;
    }
}

template <WriteBarrier Barrier>
void TlsfHeap::flush_quick(Barrier barrier) noexcept {
    for (std::uint32_t units = 1; units <= kQuickUnits; ++units) {
        std::uint32_t unit = quick_heads_[units - 1];
        quick_heads_[units - 1] = 0;
        while (unit != 0) {
            const std::uint32_t next = load(unit, kNext);
            quick_units_ -= units;
            give(barrier, unit, units);
            unit = next;
        }
    }
    quick_cursor_ = 0;
}

template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::allocate(Barrier barrier, std::size_t size, std::size_t alignment) noexcept {
    declare_control(barrier);
    if (size - 1 >= kMaxRequest || alignment > kUnit || !is_alignment(alignment)) [[unlikely]]
        return allocate_unusual(barrier, size, alignment);
    const auto units = static_cast<std::uint32_t>((size + kUnit - 1) / kUnit);
    if (units <= kQuickUnits) {
        if (const std::uint32_t kept = take_quick(units); kept != 0) return block_at(kept, units);
    }
    return allocate_units(barrier, units);
}

template <WriteBarrier Barrier>
void TlsfHeap::deallocate(Barrier barrier, MemoryBlock block) noexcept {
    if (block.is_null()) return;
    declare_control(barrier);
    const std::uint32_t unit = unit_of(block.data);
    const auto units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
    end_block(unit, units);
    if (!keep_quick(barrier, unit, units)) deallocate_units(barrier, unit, units);
}

// Takes units out of a free block, leaving what was skipped before them and what is left behind free.
template <WriteBarrier Barrier>
void TlsfHeap::take_part(Barrier barrier, std::uint32_t record, std::uint32_t skipped,
                         std::uint32_t units) noexcept {
    const std::uint32_t unit = load(record, kStart);
    const std::uint32_t have = load(record, kUnits);
    remove(barrier, record);
    if (skipped != 0) insert(barrier, unit, skipped);
    if (have > skipped + units) insert(barrier, unit + skipped + units, have - skipped - units);
}

// Alignments beyond the unit, and requests that make no sense.
template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::allocate_unusual(Barrier barrier, std::size_t size,
                                                 std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return asked;
    if (size > kMaxRequest || alignment > kMaxRequest - size) return Status::capacity_exhausted;
    const auto units = static_cast<std::uint32_t>((size + kUnit - 1) / kUnit);
    std::uint32_t record = choose_aligned(units, alignment);
    if (record == 0 && quick_units_ != 0) {
        flush_quick(barrier);
        record = choose_aligned(units, alignment);
    }
    if (record == 0) return Status::capacity_exhausted;
    const std::uint32_t start = load(record, kStart);
    const std::uint32_t skipped = skip_to_alignment(start, alignment);
    take_part(barrier, record, skipped, units);
    ++allocations_;
    return block_at(start + skipped, units);
}

template <WriteBarrier Barrier>
bool TlsfHeap::grow_behind(Barrier barrier, std::uint32_t unit, std::uint32_t old_units,
                           std::uint32_t units) noexcept {
    const std::uint32_t behind = unit + old_units;
    const std::uint32_t more = units - old_units;
    if (!is_marked(behind)) return false;
    const std::uint32_t record = record_from(behind);
    if (load(record, kUnits) < more) return false;
    take_front(barrier, record, more);
    return true;
}

// Over the free memory before the block and, where there is some, behind it.
template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::slide_down(Barrier barrier, MemoryBlock block, std::uint32_t units,
                                           std::size_t alignment) noexcept {
    const std::uint32_t unit = unit_of(block.data);
    const auto old_units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
    if (!is_marked(unit - 1)) return Status::capacity_exhausted;
    const std::uint32_t lower = record_up_to(unit - 1);
    const std::uint32_t before = load(lower, kUnits);
    const std::uint32_t start = unit - before;
    const std::uint32_t skipped = skip_to_alignment(start, alignment);
    const std::uint32_t end = unit + old_units;
    const std::uint32_t behind = is_marked(end) ? load(record_from(end), kUnits) : 0;
    const std::uint32_t have = before + old_units + behind;
    if (skipped >= before || have - skipped < units) return Status::capacity_exhausted;
    remove(barrier, lower);
    if (behind != 0) remove(barrier, record_from(end));
    const std::uint32_t target = start + skipped;
    // What the block holds may lie there already.
    annotate::permit_written(block_at(target, units));
    barrier.declare(at(target), block.size);
    std::memmove(at(target), block.data, block.size);
    if (skipped != 0) insert(barrier, start, skipped);
    if (have - skipped > units) insert(barrier, target + units, have - skipped - units);
    return block_at(target, units);
}

template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::try_resize(Barrier barrier, MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(new_size, alignment); asked != Status::ok) return asked;
    if (new_size > kMaxRequest) return Status::capacity_exhausted;
    const std::uint32_t unit = unit_of(block.data);
    const auto old_units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
    const auto units = static_cast<std::uint32_t>((new_size + kUnit - 1) / kUnit);
    OURO_BLOCK_ASSERT(holds(unit, old_units), "the block is not of this heap", nullptr, block.data);
    declare_control(barrier);
    if (units < old_units) {
        note_peak();
        give(barrier, unit + units, old_units - units);
    } else if (units > old_units) {
        if (!grow_behind(barrier, unit, old_units, units)) return Status::capacity_exhausted;
        ++grown_in_place_;
    }
    return block_at(unit, units);
}

template <WriteBarrier Barrier>
Expected<MemoryBlock> TlsfHeap::reallocate(Barrier barrier, MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(barrier, new_size, alignment);
    const auto resized = try_resize(barrier, block, new_size, alignment);
    if (resized.status() != Status::capacity_exhausted || new_size > kMaxRequest) return resized;
    const auto units = static_cast<std::uint32_t>((new_size + kUnit - 1) / kUnit);
    if (const auto slid = slide_down(barrier, block, units, alignment)) {
        ++slid_down_;
        return slid;
    }
    const auto moved = allocate(barrier, new_size, alignment);
    if (!moved) return moved;
    annotate::permit(*moved);
    barrier.declare(moved->data, block.size);
    std::memcpy(moved->data, block.data, block.size);
    deallocate(barrier, block);
    ++moved_;
    return moved;
}

}  // namespace ouro
