#pragma once

#include <ouro/observe/detail/observe_image.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// What a slot's sequence is once it holds the moment of this number; odd while it is written.
[[nodiscard]] constexpr std::uint64_t timeline_sequence(std::uint64_t number) noexcept {
    return 2 * number + 2;
}

// What the ring has touched of its memory.
[[nodiscard]] inline std::size_t used_bytes_of(const TimelineRing& ring) noexcept {
    const std::uint64_t looks = ring.next.load(std::memory_order_relaxed);
    if (looks == 0) return 0;
    const auto slots = static_cast<std::size_t>(std::min<std::uint64_t>(looks, kTimelineSlots));
    return offsetof(TimelineRing, slots) + slots * sizeof(TimelineSlot);
}

}  // namespace ouro::detail
