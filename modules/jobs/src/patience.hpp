#pragma once

#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <cstdint>

namespace ouro::detail {

// How long to spin before sleeping: less after sleeps that were long, and as long as allowed again after one
// that spinning would have saved. Of one thread at a time.
class Patience {
public:
    // The most pauses, and with more threads than cores a small part of it: whoever spins then may keep from
    // running what it waits for.
    [[nodiscard]] static unsigned longest(unsigned wanted, unsigned threads) noexcept {
        return threads <= os::core_count() ? wanted : wanted / kCrowdedDivisor;
    }

    constexpr Patience() noexcept = default;
    explicit Patience(unsigned longest_pauses) noexcept : limit_(longest_pauses), longest_(longest_pauses) {}

    // Spins until the answer is true; false when the patience was over before.
    template <class Question>
    [[nodiscard]] bool spin_until(Question&& question) noexcept {
        for (unsigned pauses = 0; pauses < limit_; ++pauses) {
            if (question()) return true;
            os::spin_pause();
        }
        return question();
    }

    // Calls what sleeps, and remembers whether it was for long.
    template <class Sleep>
    void sleep(Sleep&& sleep) noexcept {
        const std::uint64_t begin_ns = os::monotonic_ns();
        sleep();
        const bool was_short = os::monotonic_ns() - begin_ns < kShortSleepNs;
        limit_ = was_short ? longest_ : std::max(limit_ / 2, longest_ / kShortestDivisor);
    }

private:
    static constexpr unsigned kCrowdedDivisor = 16;
    static constexpr unsigned kShortestDivisor = 32;
    // About as long as the longest spin and a wake together.
    static constexpr std::uint64_t kShortSleepNs = 100'000;

    unsigned limit_ = 0;
    unsigned longest_ = 0;
};

}  // namespace ouro::detail
