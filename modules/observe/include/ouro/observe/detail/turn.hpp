#pragma once

#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// One thread at a time is at work, in steps; others do not queue, but can wait for the end of a step.
class Turn {
public:
    // False while somebody is at work, this thread itself included.
    [[nodiscard]] bool try_begin() noexcept {
        std::uint64_t nobody = 0;
        return owner_.compare_exchange_strong(nobody, os::this_thread_id(), std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void end() noexcept {
        owner_.store(0, std::memory_order_release);
        finish_step();
    }
    [[nodiscard]] bool is_mine() const noexcept {
        return owner_.load(std::memory_order_relaxed) == os::this_thread_id();
    }

    // Tells those who wait to ask again.
    void finish_step() noexcept {
        steps_.fetch_add(1);
        if (waiting_.load() != 0) os::wake_all(steps_);
    }

    // Sleeps while the answer is true; asks again after each step. A step that ends after the question finds
    // the sleeper counted, or changes the word that it sleeps on.
    template <class Question>
    void wait_while(Question&& question) noexcept {
        waiting_.fetch_add(1);
        for (;;) {
            const std::uint32_t seen = steps_.load();
            if (!question()) break;
            os::wait_on(steps_, seen);
        }
        waiting_.fetch_sub(1);
    }

private:
    std::atomic<std::uint64_t> owner_{0};
    std::atomic<std::uint32_t> steps_{0};
    std::atomic<std::uint32_t> waiting_{0};
};

}  // namespace ouro::detail
