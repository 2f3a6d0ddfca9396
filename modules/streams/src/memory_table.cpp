#include "table_slots.hpp"

#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/memory_table.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace ouro {
namespace {

using detail::SlotUse;
using detail::StreamSlot;
using detail::TableState;

std::size_t state_bytes() noexcept {
    return align_up(sizeof(TableState), os::page_size());
}

// The streams, a guard, and the table's own records.
Expected<std::size_t> whole_bytes(std::size_t stream_bytes) noexcept {
    return checked_add(stream_bytes, os::page_size() + state_bytes());
}

Expected<os::Reservation> reserve_exactly(std::size_t stream_bytes, void* address) noexcept {
    const auto bytes = whole_bytes(stream_bytes);
    if (!bytes) return bytes.status();
    return os::Reservation::create({.bytes = *bytes, .address = address}, os::page_size());
}

Expected<os::Reservation> reserve_largest(std::size_t& stream_bytes, void* address) noexcept {
    for (std::size_t bytes = std::numeric_limits<std::size_t>::max() / 2 + 1; bytes >= os::page_size();
         bytes /= 2) {
        auto taken = reserve_exactly(bytes, address);
        stream_bytes = bytes;
        const Status status = taken.status();
        if (status != Status::out_of_address_space && status != Status::address_in_use &&
            status != Status::size_overflow)
            return taken;
    }
    return Status::out_of_address_space;
}

// Where a stream of that shape fits between others: the offset of its first byte, and its place among them.
struct Gap {
    std::size_t offset = 0;
    std::size_t place = 0;
};

struct Shape {
    std::size_t bytes = 0;
    std::size_t alignment = 0;
    std::size_t guard_bytes = 0;
};

StreamSlot& slot_at(TableState& table, std::size_t place) noexcept {
    return table.slots[table.order[place]];
}

// The guard of the last stream may be the table's own.
Expected<Gap> find_gap(TableState& table, const Shape& shape) noexcept {
    std::size_t free_from = 0;
    for (std::size_t place = 0; place <= table.taken; ++place) {
        const bool is_last = place == table.taken;
        const std::size_t free_to =
            is_last ? table.range.size
                    : static_cast<std::size_t>(slot_at(table, place).range.data - table.range.data);
        const std::size_t guard = is_last ? 0 : shape.guard_bytes;
        const std::size_t skipped =
            free_from < free_to ? padding_to(table.range.data + free_from, shape.alignment) : 0;
        const std::size_t room = free_to > free_from ? free_to - free_from : 0;
        if (skipped <= room && guard <= room - skipped && shape.bytes <= room - skipped - guard)
            return Gap{free_from + skipped, place};
        if (!is_last) free_from = detail::end_with_guard(table, slot_at(table, place));
    }
    return Status::capacity_exhausted;
}

Expected<Shape> shape_of(const StreamOptions& options) noexcept {
    if (options.name.empty()) return Status::bad_argument;
    if (options.reserve_bytes == 0) return Status::zero_size;
    if (options.alignment != 0 && !is_alignment(options.alignment)) return Status::bad_alignment;
    const auto bytes = checked_align_up(options.reserve_bytes, os::page_size());
    const auto guard = checked_align_up(std::max(options.guard_bytes, os::page_size()), os::page_size());
    const auto step = checked_align_up(options.commit_step_bytes, os::page_size());
    if (!bytes || !guard || !step) return Status::size_overflow;
    return Shape{*bytes, std::max(options.alignment, os::page_size()), *guard};
}

StreamSlot* find_vacant(TableState& table) noexcept {
    for (StreamSlot& slot : table.slots) {
        if (slot.use == SlotUse::vacant) return &slot;
    }
    return nullptr;
}

void take_slot(TableState& table, StreamSlot& slot, const Gap& gap, const Shape& shape,
               const StreamOptions& options) noexcept {
    std::destroy_at(&slot);
    std::construct_at(&slot);
    slot.table = &table;
    slot.use = SlotUse::open;
    slot.guard_bytes = shape.guard_bytes;
    slot.range = table.range.sub(gap.offset, shape.bytes);
    slot.step_bytes = align_up(std::max(options.commit_step_bytes, os::page_size()), os::page_size());
    slot.tag = options.tag;
    detail::copy_name(slot.name, options.name);
    const auto place = table.order.begin() + static_cast<std::ptrdiff_t>(gap.place);
    const auto end = table.order.begin() + static_cast<std::ptrdiff_t>(table.taken);
    std::copy_backward(place, end, end + 1);
    *place = static_cast<std::uint8_t>(&slot - table.slots.data());
    ++table.taken;
}

// Requires: the lock. Null with a refusal noted.
StreamSlot* open_slot(TableState& table, const Shape& shape, const StreamOptions& options) noexcept {
    detail::retry_waiting_slots(table);
    StreamSlot* const slot = find_vacant(table);
    const auto gap = slot != nullptr ? find_gap(table, shape) : Status::capacity_exhausted;
    if (gap) {
        take_slot(table, *slot, *gap, shape, options);
        return slot;
    }
    StreamRefusal refusal{.status = gap.status(), .wanted_bytes = shape.bytes};
    detail::copy_name(refusal.name_text, options.name);
    detail::note_refusal(table, refusal);
    return nullptr;
}

}  // namespace

Expected<MemoryTable> MemoryTable::create(const Options& options) noexcept {
    if (options.name.empty()) return Status::bad_argument;
    const auto rounded = checked_align_up(options.reserve_bytes, os::page_size());
    if (!rounded) return rounded.status();
    std::size_t stream_bytes = *rounded;
    auto reservation = stream_bytes != 0 ? reserve_exactly(stream_bytes, options.address)
                                         : reserve_largest(stream_bytes, options.address);
    if (!reservation) return reservation.status();
    const std::size_t state_offset = stream_bytes + os::page_size();
    if (const auto committed = reservation->commit(state_offset, state_bytes()); !committed)
        return committed.status();
    const MemoryBlock whole = reservation->block();
    auto* const state = std::construct_at(reinterpret_cast<TableState*>(whole.data + state_offset));
    state->range = whole.sub(0, stream_bytes);
    state->own_bytes = state_bytes();
    state->listing = BlockRegistration({.name = options.name,
                                        .tag = options.tag,
                                        .base = whole.data,
                                        .reserved_bytes = whole.size,
                                        .committed_bytes = state_bytes()});
    state->listing.update(state_bytes(), state_bytes());
    return MemoryTable(*std::move(reservation), state);
}

MemoryTable::MemoryTable(MemoryTable&& other) noexcept
    : reservation_(std::move(other.reservation_)), state_(std::exchange(other.state_, nullptr)) {}

MemoryTable& MemoryTable::operator=(MemoryTable&& other) noexcept {
    if (this != &other) {
        end();
        reservation_ = std::move(other.reservation_);
        state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
}

MemoryTable::~MemoryTable() {
    end();
}

void MemoryTable::end() noexcept {
    if (state_ == nullptr) return;
    for (const StreamSlot& slot : state_->slots)
        OURO_ASSERT(slot.use != SlotUse::open, "a stream must be closed before its table ends");
    std::destroy_at(state_);
    state_ = nullptr;
}

Expected<Stream> MemoryTable::open_stream(const StreamOptions& options) noexcept {
    const auto shape = shape_of(options);
    if (!shape) return shape.status();
    StreamSlot* slot = nullptr;
    {
        const detail::WordLockScope scope(state().changing);
        slot = open_slot(state(), *shape, options);
    }
    if (slot == nullptr) return Status::capacity_exhausted;
    // Outside of the lock: who hears of it may ask the table.
    BlockRegistration listing({.name = options.name,
                               .tag = options.tag,
                               .kind = BlockKind::borrowed,
                               .base = slot->range.data,
                               .reserved_bytes = slot->range.size});
    const detail::WordLockScope scope(state().changing);
    slot->listing = std::move(listing);
    return Stream(*slot);
}

std::size_t MemoryTable::snapshot_streams(std::span<BlockInfo> streams) const noexcept {
    std::array<BlockHandle, kMaxStreams> handles;
    std::size_t open = 0;
    {
        const detail::WordLockScope scope(state().changing);
        for (std::size_t place = 0; place < state().taken; ++place)
            handles[open++] = slot_at(state(), place).listing.handle();
    }
    std::size_t count = 0;
    for (std::size_t index = 0; index < open; ++index) {
        const auto info = find_block(handles[index]);
        if (!info) continue;
        if (count < streams.size()) streams[count] = *info;
        ++count;
    }
    return count;
}

MemoryTable::Stats MemoryTable::stats() const noexcept {
    const detail::WordLockScope scope(state().changing);
    Stats stats{.reserved_bytes = state().range.size,
                .committed_bytes = state().committed_bytes + state().own_bytes,
                .refusals = state().refusals};
    std::size_t free_from = 0;
    for (std::size_t place = 0; place <= state().taken; ++place) {
        const bool is_last = place == state().taken;
        const std::size_t guard = is_last ? 0 : os::page_size();
        const std::size_t free_to =
            is_last ? state().range.size
                    : static_cast<std::size_t>(slot_at(state(), place).range.data - state().range.data);
        if (free_to > free_from && free_to - free_from > guard)
            stats.largest_free_bytes = std::max(stats.largest_free_bytes, free_to - free_from - guard);
        if (is_last) break;
        const StreamSlot& slot = slot_at(state(), place);
        free_from = detail::end_with_guard(state(), slot);
        stats.stream_bytes += slot.range.size;
        stats.streams += slot.use == SlotUse::open ? 1U : 0U;
    }
    return stats;
}

StreamRefusal MemoryTable::last_refusal() const noexcept {
    const detail::WordLockScope scope(state().changing);
    return state().last_refusal;
}

Status MemoryTable::check() const noexcept {
    const detail::WordLockScope scope(state().changing);
    std::size_t free_from = 0;
    std::size_t committed = 0;
    for (std::size_t place = 0; place < state().taken; ++place) {
        const StreamSlot& slot = slot_at(state(), place);
        const auto offset = static_cast<std::size_t>(slot.range.data - state().range.data);
        const bool is_placed = slot.use != SlotUse::vacant && slot.table == &state() &&
                               state().range.contains(slot.range) && offset >= free_from;
        const bool is_sound = slot.cursor_bytes <= slot.high_water_bytes || slot.use == SlotUse::waiting;
        if (!is_placed || !is_sound || slot.committed_bytes > slot.range.size) return Status::corrupt_data;
        if (slot.cursor_bytes > slot.committed_bytes) return Status::corrupt_data;
        free_from = detail::end_with_guard(state(), slot);
        committed += slot.published_committed_bytes;
    }
    return committed == state().committed_bytes ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
