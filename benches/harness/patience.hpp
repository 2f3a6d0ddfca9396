#pragma once

#include <ouro/os/thread.hpp>

#include <sched.h>

namespace ouro::bench {

// How to wait for another thread that is about to answer: spinning, and giving the core away when the other
// seems to have none. Make a new one for each wait.
class Patience {
public:
    void wait() noexcept {
        if (++waits_ % kSpins == 0)
            ::sched_yield();
        else
            os::spin_pause();
    }

private:
    static constexpr unsigned kSpins = 2'000;
    unsigned waits_ = 0;
};

}  // namespace ouro::bench
