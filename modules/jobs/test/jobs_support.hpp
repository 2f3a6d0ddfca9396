#pragma once

#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::jobs_test {

// Ends the test program where there is none: nothing can be tested then.
inline JobPool make_pool(unsigned workers, JobPoolOptions options = {}) {
    options.workers = workers;
    auto pool = JobPool::create(options);
    OURO_ASSERT(pool.has_value(), "a test needs its pool");
    return *std::move(pool);
}

// Counts how often each index was visited.
class Visits {
public:
    explicit Visits(std::size_t count) : counts_(count) {}

    void visit(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            counts_[i].fetch_add(1, std::memory_order_relaxed);
    }
    // How many indices were visited another number of times.
    [[nodiscard]] std::size_t wrong(unsigned expected = 1) const {
        std::size_t found = 0;
        for (const auto& count : counts_)
            found += count.load(std::memory_order_relaxed) != expected ? 1U : 0U;
        return found;
    }

private:
    std::vector<std::atomic<unsigned>> counts_;
};

// A word that threads wait on until it has a value.
class Milestone {
public:
    void reach(std::uint32_t value) noexcept {
        word_.store(value);
        os::wake_all(word_);
    }
    void wait_for(std::uint32_t value) const noexcept {
        for (std::uint32_t seen = word_.load(); seen < value; seen = word_.load())
            os::wait_on(word_, seen);
    }

private:
    std::atomic<std::uint32_t> word_{0};
};

// Keeps a worker until it is let go.
struct Plug {
    Milestone begun;
    Milestone may_end;

    void operator()() noexcept {
        begun.reach(1);
        may_end.wait_for(1);
    }
};

// Long enough for a thread that does not sleep to be noticed.
inline void rest() {
    constexpr std::uint64_t kRestNs = 20'000'000;
    const std::atomic<std::uint32_t> nobody_wakes_this{0};
    os::wait_on(nobody_wakes_this, 0, kRestNs);
}

inline void await_all_asleep(const JobPool& pool) {
    while (pool.stats().sleeping_workers != pool.worker_count())
        os::yield_thread();
}

}  // namespace ouro::jobs_test
