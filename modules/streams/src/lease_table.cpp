#include "lease_table.hpp"

#include <ouro/base/assert.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// Never more, not even for a moment: what does not fit must not keep others out that do. Whoever sees that
// these are taken sees that those who had them before are gone.
bool add_within(std::atomic<std::uint64_t>& sum, std::uint32_t pages, std::uint64_t most) noexcept {
    std::uint64_t before = sum.load(std::memory_order_relaxed);
    do {
        if (before + pages > most) return false;
    } while (!sum.compare_exchange_weak(before, before + pages, std::memory_order_acquire,
                                        std::memory_order_relaxed));
    return true;
}

}  // namespace

// One reader more of a tick that is read already.
bool LeaseTable::join(Cell& cell, std::uint32_t tick, std::uint8_t future) noexcept {
    std::uint64_t value = cell.load(std::memory_order_relaxed);
    for (;;) {
        const Lease lease = unpack(value);
        const bool has_room = (value & kSettled) != 0 && (value & kReaders) < kReaders - kOneReader;
        if (!lease.is_held || lease.tick != tick || lease.future != future || !has_room) return false;
        if (cell.compare_exchange_weak(value, value + kOneReader, std::memory_order_seq_cst,
                                       std::memory_order_relaxed))
            return true;
    }
}

bool LeaseTable::hold(std::uint32_t index) noexcept {
    std::uint64_t value = cells_[index].load(std::memory_order_seq_cst);
    do {
        if ((value & kReaders) == 0) return false;
        OURO_ASSERT((value & kReaders) != kReaders, "a tick has no more readers than can be counted");
    } while (!cells_[index].compare_exchange_weak(value, value + kOneReader, std::memory_order_seq_cst));
    return true;
}

bool LeaseTable::reserve(std::uint32_t pages) noexcept {
    return add_within(reserved_pages_, pages, quota_pages_);
}

Expected<std::uint32_t> LeaseTable::take(std::uint32_t tick, std::uint8_t future,
                                         std::uint32_t pages) noexcept {
    for (std::uint32_t index = 0; index < kReaderCells; ++index)
        if (join(cells_[index], tick, future)) return index;
    if (!reserve(pages)) return Status::budget_exceeded;
    held_.fetch_add(1, std::memory_order_seq_cst);
    for (std::uint32_t index = 0; index < kReaderCells; ++index) {
        std::uint64_t empty = 0;
        if (!cells_[index].compare_exchange_strong(empty, pack(tick, future), std::memory_order_seq_cst,
                                                   std::memory_order_relaxed))
            continue;
        cell_pages_[index].store(pages, std::memory_order_relaxed);
        return index;
    }
    held_.fetch_sub(1, std::memory_order_seq_cst);
    reserved_pages_.fetch_sub(pages, std::memory_order_relaxed);
    return Status::capacity_exhausted;
}

void LeaseTable::take_for(std::uint8_t future, std::uint32_t tick, std::uint32_t reserved_pages) noexcept {
    held_.fetch_add(1, std::memory_order_seq_cst);
    cell_pages_[cell_of(future)].store(reserved_pages, std::memory_order_relaxed);
    if (cell_of(future) >= cell_end_.load(std::memory_order_relaxed))
        cell_end_.store(cell_of(future) + 1, std::memory_order_seq_cst);
    cells_[cell_of(future)].store(pack(tick, 0), std::memory_order_seq_cst);
    // It may get versions for readers that end before their leases are moved.
    future_ends_.fetch_add(1, std::memory_order_seq_cst);
}

void LeaseTable::hand_over(std::uint8_t from, std::uint8_t to) noexcept {
    cells_[cell_of(to)].store(cells_[cell_of(from)].load(std::memory_order_relaxed),
                              std::memory_order_seq_cst);
    end(cell_of(from));
    future_ends_.fetch_add(1, std::memory_order_seq_cst);
}

bool LeaseTable::set_aside(std::uint32_t index, std::uint32_t pages) noexcept {
    if (is_set_aside(index)) return true;
    if (!add_within(set_aside_pages_, pages, unpacked_quota_)) return is_set_aside(index);
    std::uint32_t none = 0;
    if (!unpacked_[index].compare_exchange_strong(none, pages, std::memory_order_seq_cst))
        set_aside_pages_.fetch_sub(pages, std::memory_order_relaxed);
    return true;
}

bool LeaseTable::leave(std::uint32_t index) noexcept {
    Cell& cell = cells_[index];
    std::uint64_t value = cell.load(std::memory_order_relaxed);
    std::uint64_t left = 0;
    do {
        left = (value & kReaders) == kOneReader ? kEnding : value - kOneReader;
    } while (!cell.compare_exchange_weak(value, left, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (left != kEnding) return false;
    // Before its share of the quota can be another's.
    if (unpack(value).future != 0) future_ends_.fetch_add(1, std::memory_order_seq_cst);
    return true;
}

void LeaseTable::give_back(std::uint32_t index) noexcept {
    if (index < kReaderCells)
        set_aside_pages_.fetch_sub(unpacked_[index].exchange(0, std::memory_order_relaxed),
                                   std::memory_order_release);
    reserved_pages_.fetch_sub(cell_pages_[index].load(std::memory_order_relaxed), std::memory_order_release);
    cells_[index].store(0, std::memory_order_release);
    held_.fetch_sub(1, std::memory_order_seq_cst);
}

LeaseTable::Lease LeaseTable::lease(std::uint32_t cell) const noexcept {
    return unpack(cells_[cell].load(std::memory_order_seq_cst));
}

bool LeaseTable::has_readers() const noexcept {
    for (std::uint32_t index = 0; index < kReaderCells; ++index)
        if (lease(index).is_held) return true;
    return false;
}

std::uint32_t LeaseTable::oldest_or(std::uint32_t tick) const noexcept {
    any_cell([&](const Lease& each, std::uint32_t) {
        if (each.is_held && each.future == 0) tick = std::min(tick, each.tick);
        return false;
    });
    return tick;
}

std::uint32_t LeaseTable::newest_or(std::uint32_t tick) const noexcept {
    any_cell([&](const Lease& each, std::uint32_t) {
        if (each.is_held && each.future == 0) tick = std::max(tick, each.tick);
        return false;
    });
    return tick;
}

bool LeaseTable::reads_future(std::uint8_t future) const noexcept {
    return any_cell([&](const Lease& each, std::uint32_t) { return each.is_held && each.future == future; });
}

void LeaseTable::move_behind(std::uint32_t tick, std::uint8_t future) noexcept {
    for (Cell& cell : cells_) {
        std::uint64_t value = cell.load(std::memory_order_seq_cst);
        for (;;) {
            const Lease each = unpack(value);
            if (!each.is_held || each.future != 0 || each.tick <= tick) break;
            if (cell.compare_exchange_weak(value, value | future, std::memory_order_seq_cst,
                                           std::memory_order_relaxed))
                break;
        }
    }
}

}  // namespace ouro::detail
