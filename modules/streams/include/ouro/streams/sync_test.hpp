#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

// Where two runs of the same ticks parted.
struct SyncDifference {
    // The first tick whose hash differs.
    Tick tick = 0;
    std::uint64_t first_hash = 0;
    std::uint64_t second_hash = 0;
    // The first bytes of it that differ, when there was room to keep them and to read both runs; else
    // page_known is false, the rest is zero, and this says what was missing: budget_exceeded (reader_bytes,
    // unpacked_bytes) or capacity_exhausted (futures that can be kept, ticks that can be read at once).
    Status not_kept = Status::ok;
    bool page_known = false;
    SegmentKind kind = SegmentKind::portable;
    std::array<char, kSegmentNameBytes> segment{};
    std::uint32_t page = 0;
    // In the image, of the first byte that differs; how far the range goes, and its beginning in both runs.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::array<std::byte, 16> first{};
    std::array<std::byte, 16> second{};
    // Who has the first of them, in the second run.
    ImageOwner owner{};
};

// Writes it as a sentence, cut where the text is full, with a zero at the end: "tick 40 differs in segment
// 'world', page 16: 1 byte at image offset 65604 was 28 and is 2f when simulated again: byte 8 of element 5
// of 'creatures' (12 bytes)". 500 characters hold all of them. Returns what was written, without the zero.
std::string_view describe_difference(const SyncDifference& difference, std::span<char> text) noexcept;

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
//     if (outcome && outcome->differs) log(describe_difference(outcome->difference, text));
//
// Containers that are given as sources are asked who has the bytes that differ: see find_owner().
//
// It never goes back before tick 1, which holds the initial state: the fresh image of tick 0 is all zeros,
// and what a program writes there before its first commit is in no step.
//
// What was written since the last commit is undone, as by a rollback: call it before the next tick begins.
// Afterwards the image holds the second run, and the newest tick has the same number. Both kinds of segments
// are compared. Fails with not_supported when the ring has no hashes, bad_argument (no distance, or more than
// kMaxSyncDistance, or a step that commits or goes back by itself: the rest of the ticks is then not
// simulated again) and tick_gone, with nothing changed, when the history's bounds keep fewer ticks than that.
// No failure of the system ends it half-way: see StateRing::commit.
inline constexpr std::uint32_t kMaxSyncDistance = 256;

using StepFunction = void (*)(void* function, Tick tick);
Expected<SyncOutcome> sync_test(StateRing& ring, std::uint32_t distance, StepFunction step, void* function,
                                std::span<const OwnerSource> sources = {}) noexcept;

template <class Step>
Expected<SyncOutcome> sync_test(StateRing& ring, std::uint32_t distance, Step&& step,
                                std::span<const OwnerSource> sources = {}) noexcept {
    using Function = std::remove_reference_t<Step>;
    return sync_test(
        ring, distance, [](void* function, Tick tick) { (*static_cast<Function*>(function))(tick); },
        const_cast<void*>(static_cast<const void*>(&step)), sources);
}

}  // namespace ouro
