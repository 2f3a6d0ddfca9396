#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// One event as words. The sequence is even and tells the event's number when the words belong together.
struct EventSlot {
    std::atomic<std::uint64_t> sequence;
    std::array<std::atomic<std::uint64_t>, 7> words;
};
static_assert(sizeof(EventSlot) == 64);

inline constexpr std::size_t kEventSlots = 1024;

// Any thread adds, the oldest are overwritten; whoever reads keeps a cursor of his own.
struct EventRing {
    std::atomic<std::uint64_t> next;
    std::array<EventSlot, kEventSlots> slots;
};

}  // namespace ouro::detail
