#pragma once

#include "counter.hpp"
#include "graph_run.hpp"
#include "job_queues.hpp"
#include "loop.hpp"
#include "parking.hpp"
#include "patience.hpp"
#include "place_set.hpp"

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
    // How often in a row it saw work and did not get any.
    unsigned vain_searches = 0;

    Counter searches;
    Counter calls;
    Counter tasks;
    Counter steals;
    // Taken from the queues.
    Counter jobs;
    Counter sleeps;
};

// Where the parts of a pool lie in its one block.
struct PoolLayout {
    std::size_t workers = 0;
    std::size_t loops = 0;
    std::size_t shares = 0;
    std::size_t graphs = 0;
    std::size_t rings = 0;
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
    [[nodiscard]] bool is_sharing_out() const noexcept {
        return used_loops_.used() != 0 || used_graphs_.used() != 0;
    }

    [[nodiscard]] unsigned current_participant() const noexcept;
    void run_loop(const LoopOrder& order) noexcept;
    void run_graph(const TaskPlan& plan) noexcept;
    [[nodiscard]] Status post(Job& job, JobPriority priority) noexcept;
    static void wait_for(Job& job) noexcept;

    [[nodiscard]] JobPoolStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

private:
    static void run_worker(void* worker) noexcept;
    void serve(Worker& worker) noexcept;
    // Each false when there was none for this one.
    [[nodiscard]] bool find_work(Worker& worker) noexcept;
    [[nodiscard]] bool join_a_loop(Worker& worker) noexcept;
    [[nodiscard]] bool join_a_graph(Worker& worker) noexcept;
    [[nodiscard]] bool run_a_job(Worker& worker) noexcept;
    // Until there are news since `seen`, or there is something that brings none.
    void rest(Worker& worker, std::uint64_t seen) noexcept;
    [[nodiscard]] bool has_graph_tasks() const noexcept;
    [[nodiscard]] bool has_more_work() const noexcept;
    // A worker that found work lets others sleep no longer where there is more.
    void pass_on() noexcept;

    // The calling thread's, if it is on this pool.
    [[nodiscard]] GraphRun* current_graph() const noexcept;
    // By the owner of a graph who has no task to run.
    void help_or_wait(GraphRun& graph, unsigned participant) noexcept;
    [[nodiscard]] bool has_chunks_of(const GraphRun& graph) const noexcept;
    void help_loops_of(const GraphRun& graph, unsigned participant) noexcept;
    // Between join and leave.
    static LoopWork work_in(Loop& loop, const PoolState* pool, unsigned participant) noexcept;

    // Somebody who waits for a job that runs elsewhere looks so often before it sleeps.
    static constexpr unsigned kWaitPauses = 500;
    // Null when all are taken.
    [[nodiscard]] static PostQueue::Place* claim_place(PostQueue& queue) noexcept;
    static void run_here(Job& job) noexcept;
    static void finish(Job& job) noexcept;

    std::span<Worker> workers_;
    std::span<Loop> loops_;
    std::span<GraphRun> graphs_;
    JobQueues queues_;
    std::uint32_t process_;
    unsigned spin_pauses_;
    std::atomic<bool> is_stopping_{false};
    alignas(kCacheLine) PlaceSet used_loops_{kMaxLoops};
    PlaceSet used_graphs_{kMaxGraphs};
    Parking parking_;
    // By whoever posted them where there are no workers.
    alignas(kCacheLine) Counter jobs_run_at_once_;
    Counter crowded_out_loops_;
    Counter crowded_out_graphs_;
    // By callers who ran out of tasks of their graphs.
    Counter calls_outside_;
    Counter steals_outside_;
};

}  // namespace ouro::detail
