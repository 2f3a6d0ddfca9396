#pragma once

#include "harness/patience.hpp"

#include <ouro/os/thread.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace ouro::bench {

// A second thread that does its half of the work at once with its owner. It waits for the next turn spinning,
// and falls asleep where none comes: what others do on both cores meanwhile is measured too.
class SecondThread {
public:
    // With a core of its own, beside the one that cases are pinned to: on the core of its owner it would
    // begin only when that one waits, and the case would show the one after the other.
    enum class Placement : unsigned char { anywhere, own_core };

    explicit SecondThread(Placement placement = Placement::anywhere)
        : thread_([this, placement] {
              if (placement == Placement::own_core && os::core_count() > 1)
                  static_cast<void>(os::pin_this_thread(os::core_count() - 2));
              serve();
          }) {}
    SecondThread(const SecondThread&) = delete;
    SecondThread& operator=(const SecondThread&) = delete;
    ~SecondThread() {
        stopping_ = true;
        asked_.fetch_add(1, std::memory_order_release);
        asked_.notify_one();
        thread_.join();
    }

    // Calls part(0) on this thread and part(1) on the second one; returns when both are done.
    void run_both(const std::function<void(int)>& part) {
        part_ = &part;
        asked_.fetch_add(1, std::memory_order_release);
        asked_.notify_one();
        part(0);
        for (Patience patience;
             done_.load(std::memory_order_acquire) != asked_.load(std::memory_order_relaxed);)
            patience.wait();
    }

private:
    // Longer than what lies between two turns of one round.
    static constexpr unsigned kWaitsAwake = 20'000;

    void serve() {
        unsigned served = 0;
        for (;;) {
            Patience patience;
            for (unsigned waits = 0; waits < kWaitsAwake && asked_.load(std::memory_order_acquire) == served;
                 ++waits)
                patience.wait();
            asked_.wait(served, std::memory_order_acquire);
            if (stopping_) return;
            (*part_)(1);
            done_.store(++served, std::memory_order_release);
        }
    }

    const std::function<void(int)>* part_ = nullptr;
    std::atomic<unsigned> asked_{0};
    std::atomic<unsigned> done_{0};
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace ouro::bench
