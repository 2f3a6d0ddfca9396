#pragma once

#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <cstdint>

namespace ouro::detail {

// How long to wait for what other threads do within microseconds, unless one of them was stopped: many times
// what a thread waits that others have driven from its core.
class Patience {
public:
    // Lets others go on. False when it has come to its end.
    [[nodiscard]] bool wait() noexcept {
        constexpr std::uint64_t kMostNs = 100'000'000;
        const std::uint64_t now = os::monotonic_ns();
        if (began_ns_ == 0) began_ns_ = now;
        if (now - began_ns_ > kMostNs) return false;
        os::yield_thread();
        return true;
    }

private:
    std::uint64_t began_ns_ = 0;
};

}  // namespace ouro::detail
