#include "pool_state.hpp"
#include "thread_place.hpp"

#include <ouro/base/bits.hpp>

// The graphs of a pool's callers, and the loops that begin inside of them.
namespace ouro::detail {

GraphRun* PoolState::current_graph() const noexcept {
    return t_place.graph_pool == this ? t_place.graph : nullptr;
}

void PoolState::run_graph(const TaskPlan& plan) noexcept {
    const unsigned participant = current_participant();
    const unsigned place = used_graphs_.claim();
    if (place == PlaceSet::kNone) {
        crowded_out_graphs_.add_shared(1);
        run_serially(plan, participant);
        return;
    }
    GraphRun& graph = graphs_[place];
    graph.open(plan);
    // In any case: who looks at the count afterwards sees the graph.
    parking_.tell(plan.roots.size() > 1 ? 1 : 0);
    GraphWork total;
    {
        const GraphScope scope(this, &graph);
        for (;;) {
            const GraphWork work = graph.work(participant);
            total.tasks += work.tasks;
            total.steals += work.steals;
            if (graph.has_ended()) break;
            help_or_wait(graph, participant);
        }
    }
    graph.close_and_wait();
    graph.count(total);
    used_graphs_.release(place);
}

void PoolState::help_or_wait(GraphRun& graph, unsigned participant) noexcept {
    parking_.begin_idle();
    const std::uint64_t seen = parking_.news();
    if (!graph.has_tasks() && !has_chunks_of(graph)) graph.wait_for_news(seen);
    parking_.end_idle();
    help_loops_of(graph, participant);
}

bool PoolState::has_graph_tasks() const noexcept {
    bool found = false;
    for_each_bit(used_graphs_.used(), [&](unsigned index) { found = found || graphs_[index].has_tasks(); });
    return found;
}

bool PoolState::has_chunks_of(const GraphRun& graph) const noexcept {
    bool found = false;
    for_each_bit(used_loops_.used(), [&](unsigned index) {
        found = found || (loops_[index].graph() == &graph && loops_[index].has_chunks());
    });
    return found;
}

void PoolState::help_loops_of(const GraphRun& graph, unsigned participant) noexcept {
    for_each_bit(used_loops_.used(), [&](unsigned index) {
        Loop& loop = loops_[index];
        if (loop.graph() != &graph || !loop.has_chunks() || !loop.try_join()) return;
        // Only now the place serves no other loop. In those of the own graph nobody else has this number.
        if (loop.graph() == &graph) {
            const LoopWork work = work_in(loop, this, participant);
            calls_outside_.add_shared(work.calls);
            steals_outside_.add_shared(work.steals);
        }
        loop.leave();
    });
}

LoopWork PoolState::work_in(Loop& loop, const PoolState* pool, unsigned participant) noexcept {
    const GraphScope scope(pool, loop.graph());
    return loop.work(participant);
}

}  // namespace ouro::detail
