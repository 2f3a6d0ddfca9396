#pragma once

#include <ouro/streams/detail/table_state.hpp>
#include <ouro/streams/stream.hpp>

#include <cstddef>
#include <string_view>

// What tables and streams do to each other's records.
namespace ouro::detail {

// The bytes from one stream's first to where the next may begin.
[[nodiscard]] inline std::size_t end_with_guard(const TableState& table, const StreamSlot& slot) noexcept {
    return static_cast<std::size_t>(slot.range.end() - table.range.data) + slot.guard_bytes;
}

// Tells the table and the registry of blocks how far the stream is used.
void publish_slot(StreamSlot& slot) noexcept;

// Notes a refusal with the table. Requires: the lock.
void note_refusal(TableState& table, StreamRefusal& refusal) noexcept;

// Returns memory and addresses of a stream that nobody uses any more.
void close_slot(StreamSlot& slot) noexcept;

// Tries again to empty streams that the system would not take back when they were closed. Requires: the lock.
void retry_waiting_slots(TableState& table) noexcept;

// Copies a name, cut where the registry of blocks would cut it.
void copy_name(std::array<char, kBlockNameBytes>& target, std::string_view name) noexcept;

}  // namespace ouro::detail
