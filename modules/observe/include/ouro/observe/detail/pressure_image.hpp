#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What monitors of pressure keep in the image.
namespace ouro::detail {

inline constexpr std::size_t kHandlerNameBytes = 39;
inline constexpr std::size_t kHandlerNameWords = (kHandlerNameBytes + 1) / sizeof(std::uint64_t);

// One call of a handler as words. The sequence is the call's number plus one when the words belong together,
// and zero while they are written.
struct PressureSlot {
    static constexpr std::size_t kNumbers = 7;

    std::atomic<std::uint64_t> sequence;
    std::array<std::atomic<std::uint64_t>, kNumbers> numbers;
    std::array<std::atomic<std::uint64_t>, kHandlerNameWords> name;
};
static_assert(sizeof(PressureSlot) == 104);

inline constexpr std::size_t kPressureSlots = 256;

struct PressureRing {
    std::atomic<std::uint64_t> next;
    std::array<PressureSlot, kPressureSlots> slots;
};

inline constexpr std::size_t kLatencyBuckets = 40;

// What one monitor found last, and has done.
struct PressureState {
    // One while it is a monitor's.
    std::atomic<std::uint32_t> is_used;
    std::atomic<std::uint32_t> tag;
    std::atomic<std::uint32_t> level;
    std::atomic<std::uint32_t> source;
    std::atomic<std::uint64_t> used_bytes;
    std::atomic<std::uint64_t> limit_bytes;

    std::atomic<std::uint64_t> looks;
    std::atomic<std::uint64_t> skipped_polls;
    std::atomic<std::uint64_t> level_changes;
    std::atomic<std::uint64_t> handler_calls;
    std::atomic<std::uint64_t> reliefs;
    std::atomic<std::uint64_t> failures;
    std::atomic<std::uint64_t> reported_bytes;
    std::atomic<std::uint64_t> freed_bytes;
    std::atomic<std::uint64_t> handler_ns;

    std::atomic<std::uint64_t> latency_min_ns;
    std::atomic<std::uint64_t> latency_max_ns;
    std::array<std::atomic<std::uint64_t>, kLatencyBuckets> latency_buckets;
};

// Monitors beyond so many are not seen from outside of the process.
inline constexpr std::size_t kPressureStates = 8;

struct PressureImage {
    std::array<PressureState, kPressureStates> monitors;
    PressureRing log;
};

}  // namespace ouro::detail
