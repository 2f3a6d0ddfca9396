#include "pool_state.hpp"

#include "thread_place.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <bit>
#include <memory>

// A pool's memory, its numbers, and the loops of its callers.
namespace ouro::detail {
namespace {

// Wakes grow like a tree: each thread that has found work wakes so many others.
constexpr unsigned kWakesEach = 2;

template <class T>
std::span<T> array_at(MemoryBlock block, std::size_t offset, std::size_t count) noexcept {
    return {reinterpret_cast<T*>(block.data + offset), count};
}

}  // namespace

PoolLayout PoolState::layout_for(unsigned workers, std::size_t posted_jobs) noexcept {
    PoolLayout layout;
    layout.workers = align_up(sizeof(PoolState), alignof(Worker));
    layout.loops = layout.workers + workers * sizeof(Worker);
    layout.shares = layout.loops + kMaxLoops * sizeof(Loop);
    layout.graphs = layout.shares + kMaxLoops * (workers + 1) * sizeof(ChunkRange);
    layout.rings = layout.graphs + kMaxGraphs * sizeof(GraphRun);
    layout.places = layout.rings + kMaxGraphs * (workers + 1) * sizeof(ReadyRing);
    layout.bytes = layout.places + JobQueues::places_for(posted_jobs) * sizeof(PostQueue::Place);
    return layout;
}

PoolState::PoolState(MemoryBlock block, const PoolLayout& layout, const JobPoolOptions& options) noexcept
    : workers_(array_at<Worker>(block, layout.workers, options.workers)),
      loops_(array_at<Loop>(block, layout.loops, kMaxLoops)),
      graphs_(array_at<GraphRun>(block, layout.graphs, kMaxGraphs)),
      queues_([&] {
          const auto places = array_at<PostQueue::Place>(
              block, layout.places, JobQueues::places_for(std::bit_ceil(options.max_posted_jobs)));
          std::uninitialized_default_construct(places.begin(), places.end());
          return places;
      }()),
      process_(os::process_id()),
      spin_pauses_(Patience::longest(options.spin_pauses, options.workers + 1)) {
    const std::size_t participants = workers_.size() + 1;
    const auto shares = array_at<ChunkRange>(block, layout.shares, kMaxLoops * participants);
    std::uninitialized_default_construct(shares.begin(), shares.end());
    for (std::size_t i = 0; i < loops_.size(); ++i)
        std::construct_at(&loops_[i], shares.subspan(i * participants, participants), spin_pauses_);
    const auto rings = array_at<ReadyRing>(block, layout.rings, kMaxGraphs * participants);
    std::uninitialized_default_construct(rings.begin(), rings.end());
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
        std::construct_at(&graphs_[i], parking_, rings.subspan(i * participants, participants), spin_pauses_);
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = *std::construct_at(&workers_[i]);
        worker.pool = this;
        worker.participant = static_cast<unsigned>(i + 1);
        worker.patience = Patience(spin_pauses_);
    }
}

void PoolState::run_loop(const LoopOrder& order) noexcept {
    const unsigned participant = current_participant();
    const unsigned place = used_loops_.claim();
    if (place == PlaceSet::kNone) {
        crowded_out_loops_.add_shared(1);
        order.call(order.body, 0, order.count, participant);
        return;
    }
    Loop& loop = loops_[place];
    GraphRun* graph = current_graph();
    loop.open(order, graph);
    const bool has_two_chunks = order.count - order.grain <= order.grain;
    parking_.tell(has_two_chunks ? 1 : kWakesEach);
    if (graph != nullptr) graph->wake_owner();
    const LoopWork work = loop.work(participant);
    loop.close_and_wait();
    loop.count(work);
    used_loops_.release(place);
}

bool PoolState::has_more_work() const noexcept {
    if (!queues_.is_empty() || has_graph_tasks()) return true;
    bool found = false;
    for_each_bit(used_loops_.used(), [&](unsigned index) { found = found || loops_[index].has_chunks(); });
    return found;
}

void PoolState::pass_on() noexcept {
    if (parking_.sleeper_count() != 0 && has_more_work()) parking_.wake(kWakesEach);
}

JobPoolStats PoolState::stats() const noexcept {
    JobPoolStats stats;
    for (const Loop& loop : loops_) {
        stats.shared_loops += loop.loops();
        stats.body_calls += loop.work_of_owners().calls;
        stats.steals += loop.work_of_owners().steals;
    }
    for (const GraphRun& graph : graphs_) {
        stats.shared_graphs += graph.runs();
        stats.graph_tasks += graph.work_of_owners().tasks;
        stats.steals += graph.work_of_owners().steals;
    }
    for (const Worker& worker : workers_) {
        stats.graph_tasks += worker.tasks.value();
        stats.body_calls += worker.calls.value();
        stats.steals += worker.steals.value();
        stats.searches += worker.searches.value();
        stats.sleeps += worker.sleeps.value();
    }
    stats.body_calls += calls_outside_.value();
    stats.steals += steals_outside_.value();
    stats.crowded_out_loops = crowded_out_loops_.value();
    stats.crowded_out_graphs = crowded_out_graphs_.value();
    // Counted from what is left, so that nobody who takes a job has to count.
    const std::uint64_t waiting = queues_.count_waiting();
    stats.posted_jobs = jobs_run_at_once_.value() + queues_.put_count();
    stats.finished_jobs = stats.posted_jobs - std::min(waiting, stats.posted_jobs);
    stats.wakes = parking_.wake_count();
    stats.sleeping_workers = parking_.sleeper_count();
    return stats;
}

Status PoolState::check() const noexcept {
    if (is_sharing_out()) return Status::corrupt_data;
    const auto is_at_rest = [](const auto& shared) { return shared.is_at_rest(); };
    if (!std::ranges::all_of(loops_, is_at_rest) || !std::ranges::all_of(graphs_, is_at_rest))
        return Status::corrupt_data;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i].pool != this || workers_[i].participant != i + 1) return Status::corrupt_data;
    }
    const JobPoolStats numbers = stats();
    const bool is_sound = parking_.is_sound(static_cast<unsigned>(workers_.size())) && queues_.is_sound() &&
                          numbers.finished_jobs <= numbers.posted_jobs;
    return is_sound ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
