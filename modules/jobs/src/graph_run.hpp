#pragma once

#include "counter.hpp"
#include "gate.hpp"
#include "parking.hpp"
#include "patience.hpp"
#include "ready_ring.hpp"
#include "task_stack.hpp"

#include <ouro/jobs/detail/task_node.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// What a participant has done in a graph.
struct GraphWork {
    std::uint64_t tasks = 0;
    std::uint64_t steals = 0;
};

// A graph that is being run, in a place of the pool's that serves one run after another. Tasks that can begin
// lie in rings, one a participant, and whoever ends a task goes on with one that waited for it. Workers who
// find nothing leave, and come again when they are told; the owner stays.
class alignas(kCacheLine) GraphRun {
public:
    GraphRun(Parking& parking, std::span<ReadyRing> rings, unsigned spin_pauses) noexcept
        : parking_(parking), rings_(rings), patience_(spin_pauses) {}

    // By the owner alone, in this order. Requires: the plan has tasks.
    void open(const TaskPlan& plan) noexcept;
    // Runs tasks until it finds none. By the owner, or between join and leave.
    [[nodiscard]] GraphWork work(unsigned participant) noexcept;
    // Waits for news since `seen` or the end.
    void wait_for_news(std::uint64_t seen) noexcept;
    void close_and_wait() noexcept { gate_.close_and_wait(patience_); }
    void count(const GraphWork& work) noexcept;

    // Guesses, true or false for a moment.
    [[nodiscard]] bool has_tasks() const noexcept;
    [[nodiscard]] bool has_ended() const noexcept { return left_.load(std::memory_order_seq_cst) == 0; }
    // False when the run is over.
    [[nodiscard]] bool try_join() noexcept { return gate_.try_join(); }
    void leave() noexcept { gate_.leave(); }
    // There is something for the owner to look at. False when it does not sleep.
    bool wake_owner() noexcept;

    [[nodiscard]] std::uint64_t runs() const noexcept { return runs_.value(); }
    [[nodiscard]] GraphWork work_of_owners() const noexcept { return {tasks_.value(), steals_.value()}; }
    // Closed, with nobody inside and nothing left to do.
    [[nodiscard]] bool is_at_rest() const noexcept;

private:
    static constexpr std::uint32_t kAwake = 0;
    static constexpr std::uint32_t kAsleep = 1;

    // Ends a task that has run: puts what can begin now into the ring but the one that it returns, or
    // kNoTask.
    [[nodiscard]] std::uint32_t finish(const TaskNode& task, ReadyRing& own) noexcept;
    // From everywhere but the own ring.
    [[nodiscard]] std::uint32_t find(unsigned participant, GraphWork& done) noexcept;
    void take_roots(TaskBatch& batch) noexcept;
    void share(const TaskBatch& batch, ReadyRing& own) noexcept;
    void count_down(std::uint32_t tasks) noexcept;
    [[nodiscard]] bool are_rings_empty() const noexcept;

    Gate gate_;
    // Written by the owner while nobody is inside.
    TaskPlan plan_;
    Parking& parking_;
    std::span<ReadyRing> rings_;

    alignas(kCacheLine) std::atomic<std::uint32_t> roots_left_{0};
    TaskStack overflow_;
    // Tasks that nobody has reported as done.
    alignas(kCacheLine) std::atomic<std::uint32_t> left_{0};
    std::atomic<std::uint32_t> owner_{kAwake};

    // The owners', one after another.
    alignas(kCacheLine) Patience patience_;
    Counter runs_;
    Counter tasks_;
    Counter steals_;
};

// Without any pool.
void run_serially(const TaskPlan& plan, unsigned participant) noexcept;

}  // namespace ouro::detail
