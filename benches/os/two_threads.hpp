#pragma once

#include "harness/patience.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace ouro::bench {

// A second thread that waits, spinning, to do its half of the work at once with its owner.
class SecondThread {
public:
    SecondThread() : thread_([this] { serve(); }) {}
    SecondThread(const SecondThread&) = delete;
    SecondThread& operator=(const SecondThread&) = delete;
    ~SecondThread() {
        stopping_ = true;
        thread_.join();
    }

    // Calls part(0) on this thread and part(1) on the second one; returns when both are done.
    void run_both(const std::function<void(int)>& part) {
        part_ = &part;
        asked_.fetch_add(1, std::memory_order_release);
        part(0);
        for (Patience patience;
             done_.load(std::memory_order_acquire) != asked_.load(std::memory_order_relaxed);)
            patience.wait();
    }

private:
    void serve() {
        Patience patience;
        unsigned served = 0;
        while (!stopping_) {
            if (asked_.load(std::memory_order_acquire) == served) {
                patience.wait();
                continue;
            }
            (*part_)(1);
            done_.store(++served, std::memory_order_release);
            patience = Patience();
        }
    }

    const std::function<void(int)>* part_ = nullptr;
    std::atomic<unsigned> asked_{0};
    std::atomic<unsigned> done_{0};
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace ouro::bench
