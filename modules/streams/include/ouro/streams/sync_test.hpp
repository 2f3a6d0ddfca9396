#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace ouro {

// Where two runs of the same ticks parted.
struct SyncDifference {
    // The first tick whose hash differs.
    Tick tick = 0;
    std::uint64_t first_hash = 0;
    std::uint64_t second_hash = 0;
    // The first bytes of it that differ, when there was room to keep them (reader_bytes); else page_known is
    // false and the rest is zero.
    bool page_known = false;
    SegmentKind kind = SegmentKind::portable;
    std::array<char, kSegmentNameBytes> segment{};
    std::uint32_t page = 0;
    // In the image, of the first byte that differs; how far the range goes, and its beginning in both runs.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::array<std::byte, 16> first{};
    std::array<std::byte, 16> second{};
};

struct SyncOutcome {
    // How many ticks were simulated again; zero as long as fewer were ever committed.
    std::uint32_t ticks = 0;
    bool differs = false;
    SyncDifference difference;
};

// Whether a simulation is deterministic: goes back by so many ticks, simulates them again and compares. Call
// it after each commit, with what simulates the tick of the given number, inputs included, without
// committing it:
//
//     const auto outcome = sync_test(ring, 7, [&](Tick tick) { simulate(inputs_of(tick)); });
//     if (outcome && outcome->differs) report(outcome->difference);
//
// It never goes back before tick 1, which holds the initial state: the fresh image of tick 0 is all zeros,
// and what a program writes there before its first commit is in no step.
//
// Afterwards the image holds the second run, and the newest tick has the same number. Both kinds of segments
// are compared. Fails with not_supported when the ring has no hashes, bad_argument (no distance, or more than
// kMaxSyncDistance), tick_gone when the history's bounds keep fewer ticks than that, and as rollback and
// commit do.
inline constexpr std::uint32_t kMaxSyncDistance = 256;

using StepFunction = void (*)(void* function, Tick tick);
Expected<SyncOutcome> sync_test(StateRing& ring, std::uint32_t distance, StepFunction step,
                                void* function) noexcept;

template <class Step>
Expected<SyncOutcome> sync_test(StateRing& ring, std::uint32_t distance, Step&& step) noexcept {
    using Function = std::remove_reference_t<Step>;
    return sync_test(
        ring, distance, [](void* function, Tick tick) { (*static_cast<Function*>(function))(tick); },
        const_cast<void*>(static_cast<const void*>(&step)));
}

}  // namespace ouro
