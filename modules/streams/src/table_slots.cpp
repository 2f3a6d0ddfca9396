#include "table_slots.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// Requires: the lock. The registry hears of the table without an event: an observer might want the lock.
void publish_table(TableState& table) noexcept {
    table.listing.update_silently(table.committed_bytes + table.own_bytes,
                                  table.cursor_bytes + table.own_bytes);
}

// Requires: the lock.
void tell_table(StreamSlot& slot, std::size_t committed_bytes, std::size_t cursor_bytes) noexcept {
    TableState& table = *slot.table;
    table.committed_bytes += committed_bytes - slot.published_committed_bytes;
    table.cursor_bytes += cursor_bytes - slot.published_cursor_bytes;
    slot.published_committed_bytes = committed_bytes;
    slot.published_cursor_bytes = cursor_bytes;
    publish_table(table);
}

// Requires: the lock. False when the system keeps the memory.
bool empty_slot(StreamSlot& slot) noexcept {
    if (slot.committed_bytes == 0) return true;
    const MemoryBlock used = slot.range.sub(0, slot.committed_bytes);
    if (!os::decommit(used)) return false;
    slot.committed_bytes = 0;
    tell_table(slot, 0, 0);
    return true;
}

// Requires: the lock, and an empty slot.
void vacate(StreamSlot& slot) noexcept {
    TableState& table = *slot.table;
    const auto number = static_cast<std::uint8_t>(&slot - table.slots.data());
    const auto end = table.order.begin() + static_cast<std::ptrdiff_t>(table.taken);
    const auto place = std::find(table.order.begin(), end, number);
    std::copy(place + 1, end, place);
    --table.taken;
    slot.use = SlotUse::vacant;
}

}  // namespace

void publish_slot(StreamSlot& slot) noexcept {
    slot.listing.update(slot.committed_bytes, slot.cursor_bytes, slot.high_water_bytes);
    const WordLockScope scope(slot.table->changing);
    tell_table(slot, slot.committed_bytes, slot.cursor_bytes);
}

void note_refusal(TableState& table, StreamRefusal& refusal) noexcept {
    refusal.number = ++table.refusals;
    table.last_refusal = refusal;
}

void close_slot(StreamSlot& slot) noexcept {
    // Not listed any more when somebody else may get the addresses.
    slot.listing = {};
    annotate::permit_written(slot.range.sub(0, slot.committed_bytes));
    const WordLockScope scope(slot.table->changing);
    slot.use = SlotUse::waiting;
    slot.cursor_bytes = 0;
    if (empty_slot(slot)) vacate(slot);
}

void retry_waiting_slots(TableState& table) noexcept {
    for (StreamSlot& slot : table.slots) {
        if (slot.use == SlotUse::waiting && empty_slot(slot)) vacate(slot);
    }
}

void copy_name(std::array<char, kBlockNameBytes>& target, std::string_view name) noexcept {
    target.fill('\0');
    std::copy_n(name.data(), std::min(name.size(), target.size() - 1), target.data());
}

}  // namespace ouro::detail
