#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ouro {

namespace detail {
class PoolState;
}  // namespace detail

inline constexpr unsigned kMaxWorkers = 64;
// A worker for each core that this process may use but one, which is the caller's.
inline constexpr unsigned kWorkersForCores = ~0U;

struct JobPoolOptions {
    // Threads beside those that call: from 0, where everything runs on the caller, to kMaxWorkers, or
    // kWorkersForCores.
    unsigned workers = kWorkersForCores;
    // Shown by debuggers and profilers, with the worker's number behind it.
    const char* name = "ouro-job";
    // Keeps worker w on core w, counted around where there are more workers than cores; the callers are left
    // where they are. Not in wasm32.
    bool pins_workers = false;
    // Of each worker; zero is the system's default.
    std::size_t stack_bytes = 0;
    // How many posted jobs of each priority can wait at once; rounded up to a power of two.
    std::size_t max_posted_jobs = 1024;
    // How long a thread without work looks for some before it sleeps, in pauses of a spin loop (some tens of
    // microseconds in all). Less is taken where looking was in vain lately or the pool has more threads than
    // there are cores; with 0 it sleeps at once.
    unsigned spin_pauses = 2000;
};

// Since the pool was made; each number is exact once the threads that add to it are at rest.
struct JobPoolStats {
    // Loops that workers could join, and those that found no place among kMaxLoops and ran on their caller.
    std::uint64_t shared_loops = 0;
    std::uint64_t crowded_out_loops = 0;
    // The same of graphs, among kMaxGraphs.
    std::uint64_t shared_graphs = 0;
    std::uint64_t crowded_out_graphs = 0;
    // Calls of the shared loops' bodies, tasks of the shared graphs, and how often a participant took over
    // another's share of a loop, its tasks, or half of them.
    std::uint64_t body_calls = 0;
    std::uint64_t graph_tasks = 0;
    std::uint64_t steals = 0;
    // Jobs that were posted, and those of them that were begun.
    std::uint64_t posted_jobs = 0;
    std::uint64_t finished_jobs = 0;
    // Times that workers looked for work, went to sleep, and were woken because there was some.
    std::uint64_t searches = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t wakes = 0;
    // Asleep at this moment.
    unsigned sleeping_workers = 0;
};

// Threads that wait for work: loops and graphs that their callers share out (parallel_for.hpp,
// task_graph.hpp), and jobs that run when neither needs anybody (job.hpp).
//
//     auto pool = JobPool::create({});
//     if (!pool) return pool.status();
//     parallel_for(*pool, bodies.size(), 256, [&](std::size_t begin, std::size_t end) { ... });
//
// May be used from any thread, from inside loops and jobs too, several at once. No call waits for a lock, and
// none allocates: all memory is taken when the pool is made. Which thread does what, and in which order, is
// not defined; results must not depend on it.
//
// The child of a fork has none of the workers: there a pool of the parent can only be destroyed. In wasm32 a
// browser's main thread may not sleep, and so may not call parallel_for or wait on a pool with workers.
class JobPool final {
public:
    // Fails with bad_argument (too many workers, no name, no room for jobs, no such stack), not_supported (no
    // pinning here), too_many_threads, out_of_memory, or as os::reserve does; then no thread is left behind.
    [[nodiscard]] static Expected<JobPool> create(const JobPoolOptions& options = {}) noexcept;

    // The workers do not notice a move. A pool that was moved from has no workers: loops run on their
    // callers.
    JobPool(JobPool&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)),
          workers_(std::exchange(other.workers_, 0)),
          memory_(std::move(other.memory_)) {}
    JobPool& operator=(JobPool&& other) noexcept;
    // Runs what was posted, then ends the workers and waits for them. Requires: no loop or graph is running
    // on it, and the caller is none of its workers (asserts).
    ~JobPool() { shut_down(); }

    [[nodiscard]] unsigned worker_count() const noexcept { return workers_; }
    // How many threads at most are in one loop at once: the workers and the caller.
    [[nodiscard]] unsigned participant_count() const noexcept { return workers_ + 1; }

    // The calling thread's number among the participants: 1 to worker_count() for workers, 0 for all others.
    // No two threads in one loop have the same, so that it serves as an index into memory of one's own for
    // the time of a loop. Two callers of different loops are both 0.
    [[nodiscard]] unsigned current_participant() const noexcept;

    [[nodiscard]] JobPoolStats stats() const noexcept;
    // Walks everything; corrupt_data when something does not fit together. Requires: no loop or graph is
    // running, no job is pending, and nobody begins either meanwhile.
    [[nodiscard]] Status check() const noexcept;

private:
    friend class detail::PoolState;

    JobPool(detail::PoolState* state, unsigned workers, os::Reservation memory) noexcept
        : state_(state), workers_(workers), memory_(std::move(memory)) {}
    void shut_down() noexcept;

    detail::PoolState* state_;
    unsigned workers_;
    os::Reservation memory_;
};

// How many loops of one pool can be shared out at once, nested ones included.
inline constexpr unsigned kMaxLoops = 16;
// The same of graphs.
inline constexpr unsigned kMaxGraphs = 8;

}  // namespace ouro
