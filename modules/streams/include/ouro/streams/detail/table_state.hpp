#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/streams/stream_refusal.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

struct TableState;

enum class SlotUse : std::uint8_t {
    vacant,
    open,
    // Closed, but the system would not take the memory back yet: nobody else may get it.
    waiting,
};

// What a table knows of one stream. The owner of the stream alone touches what stands below `range`; who
// opens and closes does the rest, under the lock.
struct StreamSlot {
    TableState* table = nullptr;
    SlotUse use = SlotUse::vacant;
    // Behind the range, never committed.
    std::size_t guard_bytes = 0;
    MemoryBlock range;

    std::size_t committed_bytes = 0;
    std::size_t cursor_bytes = 0;
    std::size_t high_water_bytes = 0;
    std::size_t step_bytes = 0;
    bool is_told = false;
    Tag tag;
    std::array<char, kBlockNameBytes> name{};
    BlockRegistration listing;
    StreamRefusal last_refusal;
    // As told to the table the last time.
    std::size_t published_committed_bytes = 0;
    std::size_t published_cursor_bytes = 0;
};

inline constexpr std::size_t kMaxStreams = 128;

// Lies behind the streams in the table's own reservation, so that streams find it wherever the table goes.
struct TableState {
    WordLock changing;
    MemoryBlock range;
    std::size_t own_bytes = 0;
    // By address; the first `taken` count.
    std::array<std::uint8_t, kMaxStreams> order{};
    std::size_t taken = 0;
    std::size_t committed_bytes = 0;
    std::size_t cursor_bytes = 0;
    std::uint64_t refusals = 0;
    StreamRefusal last_refusal;
    BlockRegistration listing;
    std::array<StreamSlot, kMaxStreams> slots;
};

static_assert(kMaxStreams <= 256, "an index of a slot is a byte");

}  // namespace ouro::detail
