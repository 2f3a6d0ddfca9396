#pragma once

#include "counter.hpp"
#include "loop.hpp"
#include "parking.hpp"
#include "patience.hpp"
#include "post_queue.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/jobs/detail/loop_order.hpp>
#include <ouro/jobs/job.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// One thread of a pool.
struct alignas(kCacheLine) Worker {
    PoolState* pool = nullptr;
    // From 1; 0 is whoever calls.
    unsigned participant = 0;
    os::Thread thread;
    Patience patience;

    Counter searches;
    Counter calls;
    Counter steals;
    Counter jobs;
    Counter sleeps;
};

// Where the parts of a pool lie in its one block.
struct PoolLayout {
    std::size_t workers = 0;
    std::size_t loops = 0;
    std::size_t shares = 0;
    std::size_t places = 0;
    std::size_t bytes = 0;
};

// All of a pool that its threads look at. Lies at the front of the pool's block, with the arrays behind it.
class PoolState {
public:
    [[nodiscard]] static PoolLayout layout_for(unsigned workers, std::size_t posted_jobs) noexcept;

    // Requires: the block holds what the layout says, and zeros.
    PoolState(MemoryBlock block, const PoolLayout& layout, const JobPoolOptions& options) noexcept;
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;
    ~PoolState() = default;

    [[nodiscard]] static PoolState* of(JobPool& pool) noexcept { return pool.state_; }

    // When it fails, none is running.
    [[nodiscard]] Expected<void> start_workers(const JobPoolOptions& options) noexcept;
    void stop_workers() noexcept;
    // In the child of a fork: there are no threads to wait for.
    void forget_workers() noexcept;
    [[nodiscard]] bool is_of_this_process() const noexcept;
    [[nodiscard]] bool has_loops() const noexcept { return used_loops_.load() != 0; }

    [[nodiscard]] unsigned current_participant() const noexcept;
    void run_loop(const LoopOrder& order) noexcept;
    [[nodiscard]] Status post(Job& job) noexcept;
    static void wait_for(Job& job) noexcept;

    [[nodiscard]] JobPoolStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

private:
    static void run_worker(void* worker) noexcept;
    void serve(Worker& worker) noexcept;
    // False when there was none with work for this one.
    [[nodiscard]] bool join_a_loop(Worker& worker) noexcept;
    [[nodiscard]] bool run_a_job(Worker& worker) noexcept;
    [[nodiscard]] bool has_more_work() const noexcept;
    // A worker that found work lets others sleep no longer where there is more.
    void pass_on() noexcept;

    // Null when all are taken.
    [[nodiscard]] Loop* claim_loop() noexcept;
    void release_loop(const Loop& loop) noexcept;

    // Somebody who waits for a job that runs elsewhere looks so often before it sleeps.
    static constexpr unsigned kWaitPauses = 500;
    // Null when all are taken.
    [[nodiscard]] PostQueue::Place* claim_place() noexcept;
    static void run_here(Job& job) noexcept;
    static void finish(Job& job) noexcept;

    std::span<Worker> workers_;
    std::span<Loop> loops_;
    PostQueue queue_;
    std::uint32_t process_;
    unsigned spin_pauses_;
    std::atomic<bool> is_stopping_{false};
    // One bit a place for loops.
    alignas(kCacheLine) std::atomic<std::uint32_t> used_loops_{0};
    Parking parking_;
    // By whoever waited for them, or posted them where there are no workers.
    alignas(kCacheLine) Counter jobs_run_outside_;
    Counter crowded_out_loops_;
};

}  // namespace ouro::detail
