#include "pool_state.hpp"
#include "thread_place.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/os/give_way.hpp>
#include <ouro/os/process_memory.hpp>

#include <array>
#include <charconv>
#include <memory>
#include <utility>

// The life of a pool's threads.
namespace ouro::detail {
namespace {

// As much as systems show.
using ThreadName = std::array<char, 16>;

ThreadName name_of(const char* name, unsigned participant) noexcept {
    constexpr std::size_t kNumberBytes = 3;
    ThreadName text{};
    std::size_t length = 0;
    for (; length < text.size() - 1 - kNumberBytes && name[length] != '\0'; ++length)
        text[length] = name[length];
    text[length++] = '-';
    std::to_chars(&text[length], &text[text.size() - 1], participant);
    return text;
}

}  // namespace

unsigned PoolState::current_participant() const noexcept {
    return t_place.pool == this ? t_place.participant : 0;
}

bool PoolState::is_of_this_process() const noexcept {
    return process_ == os::process_id();
}

Expected<void> PoolState::start_workers(const JobPoolOptions& options) noexcept {
    for (Worker& worker : workers_) {
        const ThreadName name = name_of(options.name, worker.participant);
        const unsigned core = options.pins_workers ? worker.participant % os::core_count() : os::kAnyCore;
        auto started = os::Thread::start(
            run_worker, &worker, {.name = name.data(), .stack_bytes = options.stack_bytes, .core = core});
        if (!started) {
            stop_workers();
            return started.status();
        }
        worker.thread = *std::move(started);
    }
    return {};
}

void PoolState::stop_workers() noexcept {
    is_stopping_.store(true);
    parking_.tell(kMaxWorkers);
    for (Worker& worker : workers_) {
        if (worker.thread.is_joinable()) worker.thread.join();
    }
}

void PoolState::forget_workers() noexcept {
    for (Worker& worker : workers_)
        std::construct_at(&worker.thread);
}

void PoolState::run_worker(void* worker) noexcept {
    auto& self = *static_cast<Worker*>(worker);
    t_place = {.pool = self.pool, .participant = self.participant};
    self.pool->serve(self);
    t_place = {};
}

void PoolState::serve(Worker& worker) noexcept {
    for (;;) {
        // Before the search: what comes after it is news, and the sleep below does not begin.
        const std::uint64_t seen = parking_.news();
        // Before the search as well: what was posted until then is run.
        const bool is_stopping = is_stopping_.load();
        worker.searches.add(1);
        if (find_work(worker)) {
            worker.vain_searches = 0;
            continue;
        }
        if (is_stopping) return;
        rest(worker, seen);
    }
}

void PoolState::rest(Worker& worker, std::uint64_t seen) noexcept {
    // Whoever is about to fill a place may have lost its core.
    constexpr unsigned kPoliteSearches = 64;
    parking_.begin_idle();
    // Tasks and jobs bring no news while nobody is idle.
    if (has_graph_tasks() || !queues_.is_empty()) {
        if (++worker.vain_searches % kPoliteSearches == 0) os::nap();
    } else if (!worker.patience.spin_until([&] { return parking_.news() != seen; })) {
        worker.patience.sleep([&] {
            if (parking_.sleep(worker.participant - 1, seen)) worker.sleeps.add(1);
        });
    }
    parking_.end_idle();
}

bool PoolState::find_work(Worker& worker) noexcept {
    if (queues_.has_high() && run_a_job(worker)) return true;
    return join_a_loop(worker) || join_a_graph(worker) || run_a_job(worker);
}

bool PoolState::join_a_loop(Worker& worker) noexcept {
    bool has_worked = false;
    for_each_bit(used_loops_.used(), [&](unsigned index) {
        Loop& loop = loops_[index];
        // Not joining in vain keeps the owner from having to wait for that.
        if (!loop.has_chunks() || !loop.try_join()) return;
        pass_on();
        const LoopWork work = work_in(loop, this, worker.participant);
        worker.calls.add(work.calls);
        worker.steals.add(work.steals);
        loop.leave();
        has_worked = true;
    });
    return has_worked;
}

bool PoolState::join_a_graph(Worker& worker) noexcept {
    bool has_worked = false;
    for_each_bit(used_graphs_.used(), [&](unsigned index) {
        GraphRun& graph = graphs_[index];
        if (!graph.has_tasks() || !graph.try_join()) return;
        pass_on();
        {
            const GraphScope scope(this, &graph);
            const GraphWork work = graph.work(worker.participant);
            worker.tasks.add(work.tasks);
            worker.steals.add(work.steals);
            has_worked = has_worked || work.tasks != 0;
        }
        graph.leave();
    });
    return has_worked;
}

bool PoolState::run_a_job(Worker& worker) noexcept {
    Job* job = queues_.take(worker.jobs.value());
    if (job == nullptr) return false;
    pass_on();
    worker.jobs.add(1);
    run_here(*job);
    return true;
}

}  // namespace ouro::detail
