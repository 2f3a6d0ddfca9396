#pragma once

#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::os {

// Sleeps for a moment, some 50 microseconds on most systems, so that others run: a wait that nobody ends. For
// code that may call the system for nothing but futexes; else yield_thread is quicker.
inline void nap() noexcept {
    constexpr std::uint64_t kSleepNs = 1000;
    const std::atomic<std::uint32_t> nobody_wakes_this = 0;
    (void)wait_on(nobody_wakes_this, 0, kSleepNs);
}

// For who finds another thread in the middle of something, once for each wait: some pauses, for it will be
// over soon; then naps, for that thread may have lost its core.
class GiveWay {
public:
    explicit GiveWay(unsigned pauses = 64) noexcept : pauses_(pauses) {}

    void once() noexcept {
        if (pauses_ == 0) return nap();
        --pauses_;
        spin_pause();
    }

private:
    unsigned pauses_;
};

}  // namespace ouro::os
