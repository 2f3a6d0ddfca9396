#pragma once

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Steps of going back between which other threads may look at the ring.
enum class RingPause : std::uint8_t {
    // Nobody begins to read the ticks that are left behind any more.
    ticks_gone,
    // What is left behind has a future, if anybody reads or keeps it.
    future_begun,
    // The index leads to what the tick has, and the image has not got it yet.
    index_changed,
    // A future became a part of another.
    futures_joined,
};

// What a test does at these steps in the place of another thread; null in every program.
using RingPauseFunction = void (*)(RingPause step);
inline constinit std::atomic<RingPauseFunction> ring_pause = nullptr;

inline void pause_ring(RingPause step) noexcept {
    const RingPauseFunction function = ring_pause.load(std::memory_order_relaxed);
    if (function != nullptr) [[unlikely]]
        function(step);
}

}  // namespace ouro::detail
