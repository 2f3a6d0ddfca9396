#pragma once

#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// For who finds another thread in the middle of something, once for each wait: some pauses, for it will be
// over soon; then short sleeps, for that thread may have lost its core. They are waits that nobody ends: a
// tick calls the system for nothing but its tracker and futexes.
class GiveWay {
public:
    explicit GiveWay(unsigned pauses = 64) noexcept : pauses_(pauses) {}

    void once() noexcept {
        if (pauses_ != 0) {
            --pauses_;
            os::spin_pause();
            return;
        }
        constexpr std::uint64_t kSleepNs = 1000;
        const std::atomic<std::uint32_t> nobody_wakes_this = 0;
        (void)os::wait_on(nobody_wakes_this, 0, kSleepNs);
    }

private:
    unsigned pauses_;
};

}  // namespace ouro::detail
