#pragma once

#include "jobs/graph_shape.hpp"
#include "jobs/loop_work.hpp"

#include <memory>

namespace ouro::bench::tbb_peer {

// Built once and run many times: nodes of the library's own graph.
class FlowGraph {
public:
    FlowGraph(const GraphShape& shape, Marks& marks);
    FlowGraph(FlowGraph&& other) noexcept;
    ~FlowGraph();
    void operator()();

private:
    struct Nodes;
    std::unique_ptr<Nodes> nodes_;
};

// The same with a task a node, which is begun by the last one that it waits for.
class CountedTasks {
public:
    CountedTasks(const GraphShape& shape, Marks& marks);
    CountedTasks(CountedTasks&& other) noexcept;
    ~CountedTasks();
    void operator()();

private:
    struct Nodes;
    std::unique_ptr<Nodes> nodes_;
};

}  // namespace ouro::bench::tbb_peer
