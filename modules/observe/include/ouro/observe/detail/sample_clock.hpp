#pragma once

#include <ouro/observe/detail/owner_words.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Counts the bytes that one thread allocates, down to the next one to sample. Written by that thread with
// plain stores; the profiler sets `left` to zero from outside when it wants the thread to look at the rate
// again. A store that crosses such a one undoes it, so that threads look now and then by themselves too.
struct SampleClock {
    // Bytes until the next sample; below zero when one is due.
    std::atomic<std::int64_t> left;
    // What the thread will have allocated when the countdown ends, so that this less `left` is its position.
    std::atomic<std::int64_t> end;
    // The rate that the countdown was drawn for; see SampleRate.
    std::atomic<std::uint64_t> rate;
    // How many countdowns were drawn since the profiler was started.
    std::atomic<std::uint32_t> draws;
    // Which thread it is, and its stream of random numbers; never zero once it was used.
    std::atomic<std::uint32_t> id;

    [[nodiscard]] std::int64_t position() const noexcept {
        return end.load(std::memory_order_relaxed) - left.load(std::memory_order_relaxed);
    }
};

// True when these bytes end the countdown. Only for the clock's own thread.
[[nodiscard]] inline bool count_down(SampleClock& clock, std::size_t bytes) noexcept {
    return take_from(clock.left, static_cast<std::int64_t>(bytes));
}

// What all threads sample at, in one word: the mean distance of samples in bytes, zero for none, and a number
// that changes with every change.
struct SampleRate {
    static constexpr unsigned kMeanBits = 40;
    static constexpr std::uint64_t kMostMean = (std::uint64_t{1} << kMeanBits) - 1;

    std::uint64_t mean_bytes = 0;
    std::uint32_t number = 0;

    [[nodiscard]] static constexpr SampleRate from_word(std::uint64_t word) noexcept {
        return {word & kMostMean, static_cast<std::uint32_t>(word >> kMeanBits)};
    }
    [[nodiscard]] constexpr std::uint64_t word() const noexcept {
        return mean_bytes | std::uint64_t{number} << kMeanBits;
    }
};

}  // namespace ouro::detail
