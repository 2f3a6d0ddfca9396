// Graphs that are built once and run many times, of tasks that do next to nothing.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "jobs/graph_shape.hpp"
#include "jobs/jobs_suite.hpp"
#include "jobs/loop_work.hpp"
#include "jobs/tbb_graph_peer.hpp"
#include "jobs/tbb_peer.hpp"

#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <memory>
#include <string>

namespace ouro::bench {
namespace {

constexpr const char* kHowToGetTbb = "install libtbb-dev";

// Builds the graph, then times its runs.
template <class Build>
Work running(const GraphShape& shape, Build build) {
    return [&shape, build](Round& round) {
        Marks marks(shape.tasks);
        auto run = build(marks);
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                marks.begin_round();
                run();
            }
        });
        round.check(marks.count());
    };
}

// Owns what its graph takes memory from.
class OwnGraph {
public:
    OwnGraph(JobPool& pool, const GraphShape& shape, Marks& marks)
        : pool_(&pool),
          memory_(std::make_unique<SystemAllocator>(must(SystemAllocator::create({}), "memory"))),
          graph_(*memory_) {
        for (std::uint32_t i = 0; i < shape.tasks; ++i)
            must(graph_.add([&marks, i] { marks.mark(i, i + 1); }), "add");
        for (const GraphShape::Edge& edge : shape.edges)
            must(graph_.order(static_cast<TaskId>(edge.before), static_cast<TaskId>(edge.after)), "order");
        must(graph_.prepare(), "prepare");
    }
    void operator()() { graph_.run(*pool_); }

private:
    JobPool* pool_;
    std::unique_ptr<SystemAllocator> memory_;
    TaskGraph graph_;
};

template <class Peer>
void add_tbb(Case& measured, const char* name, const GraphShape& shape) {
    if (tbb_peer::version().empty()) {
        measured.missing_peer(name, kHowToGetTbb);
        return;
    }
    measured.peer(name, tbb_peer::version(),
                  running(shape, [&shape](Marks& marks) { return Peer(shape, marks); }));
}

void measure_graph(Session& session, JobPool& pool, const std::string& name, const GraphShape& shape) {
    Case measured = session.measure(name, kMicroseconds);
    measured.ours(running(shape, [&](Marks& marks) { return OwnGraph(pool, shape, marks); }));
    add_tbb<tbb_peer::FlowGraph>(measured, "flow::graph", shape);
    add_tbb<tbb_peer::CountedTasks>(measured, "task_group", shape);
    measured
        .bound("a serial loop", running(shape,
                                        [](Marks& marks) {
                                            return [&marks] {
                                                for (std::size_t i = 0; i < marks.size(); ++i)
                                                    marks.mark(i, i + 1);
                                            };
                                        }))
        .bar(ratio_at_most(1.0))
        .on_any_core()
        .run();
}

}  // namespace

void measure_graphs(Session& session) {
    JobPool pool = must(JobPool::create(), "pool");
    measure_graph(session, pool, "graph of 50 tasks, as in a tick", layered_graph(5, 10));
    measure_graph(session, pool, "graph of 10,000 tasks, 100 layers", layered_graph(100, 100));
    measure_graph(session, pool, "graph of 10,000 tasks, wavefront", wavefront_graph(100));
    measure_graph(session, pool, "graph of 10,000 tasks, out and in", fan_graph(10'000));
}

}  // namespace ouro::bench
