#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Steps of going back between which other threads may look at the ring, and one of finding what was written
// at which others may write.
enum class RingPause : std::uint8_t {
    // Nobody begins to read the ticks that are left behind any more.
    ticks_gone,
    // What is left behind has a future, if anybody reads or keeps it.
    future_begun,
    // The index leads to what the tick has, and the image has not got it yet.
    index_changed,
    // A future became a part of another.
    futures_joined,
    // It is known which pages of a run were written, and the kernel does not note writes to them yet.
    pages_looked_at,
};

// Steps of a reader between which the ring may go on, and one of the ring at which readers may end.
enum class ReadPause : std::uint8_t {
    // A slot is looked at to unpack a page.
    slot_looked_at,
    // The page is unpacked, and not added yet.
    page_unpacked,
    // The last reader of a tick is gone, and what was unpacked for it is still there.
    view_left,
    // The ring has unpacked a page for a reader, which may be about to end its view.
    unpacked_for_reader,
};

// What a test does at these steps in the place of another thread; null in every program.
using RingPauseFunction = void (*)(RingPause step);
// The second with the slot that is looked at.
using ReadPauseFunction = void (*)(ReadPause step, const std::byte* slot);
inline constinit std::atomic<RingPauseFunction> ring_pause = nullptr;
inline constinit std::atomic<ReadPauseFunction> read_pause = nullptr;

inline void pause_ring(RingPause step) noexcept {
    const RingPauseFunction function = ring_pause.load(std::memory_order_relaxed);
    if (function != nullptr) [[unlikely]]
        function(step);
}

inline void pause_read(ReadPause step, const std::byte* slot = nullptr) noexcept {
    const ReadPauseFunction function = read_pause.load(std::memory_order_relaxed);
    if (function != nullptr) [[unlikely]]
        function(step, slot);
}

}  // namespace ouro::detail
