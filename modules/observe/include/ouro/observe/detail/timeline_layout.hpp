#pragma once

#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

inline constexpr std::size_t kTimelineTags = 16;
inline constexpr std::size_t kTimelineSlots = sizeof(void*) == 8 ? 4096 : 256;

// One moment as words. The sequence is even and tells the moment's number when the words belong together.
struct TimelineSlot {
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::uint64_t> time_ns;
    std::atomic<std::uint64_t> live_bytes;
    std::atomic<std::uint64_t> live_blocks;
    std::atomic<std::uint64_t> resident_bytes;
    // Committed in the blocks that the program lists.
    std::atomic<std::uint64_t> listed_bytes;
    // What the records took themselves.
    std::atomic<std::uint64_t> record_bytes;
    // Since the program began.
    std::atomic<std::uint64_t> allocated_bytes;
    std::atomic<std::uint64_t> freed_bytes;
    std::atomic<std::uint64_t> allocations;
    // The largest first: what is live under the tag alone, and its number in the upper bits.
    std::array<std::atomic<std::uint64_t>, kTimelineTags> tags;
};
static_assert(sizeof(TimelineSlot) == 208);

inline constexpr unsigned kTimelineTagShift = 48;

// What is known of a tag from the looks before, to notice peaks and spikes.
struct TagWatch {
    std::uint64_t last_bytes;
    std::uint64_t told_peak_bytes;
};

struct TimelineRing {
    std::atomic<std::uint64_t> next;
    std::atomic<std::uint64_t> next_look_ns;
    std::array<TagWatch, kMaxTags> watches;
    std::array<TimelineSlot, kTimelineSlots> slots;
};

}  // namespace ouro::detail
