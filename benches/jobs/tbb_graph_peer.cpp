#include "jobs/tbb_graph_peer.hpp"

#include <atomic>
#include <deque>

#include <tbb/flow_graph.h>
#include <tbb/task_group.h>

namespace ouro::bench::tbb_peer {

struct FlowGraph::Nodes {
    using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

    tbb::flow::graph graph;
    tbb::flow::broadcast_node<tbb::flow::continue_msg> start{graph};
    std::deque<Node> nodes;
};

FlowGraph::FlowGraph(const GraphShape& shape, Marks& marks) : nodes_(std::make_unique<Nodes>()) {
    std::vector<bool> is_root(shape.tasks, true);
    for (std::uint32_t i = 0; i < shape.tasks; ++i) {
        nodes_->nodes.emplace_back(nodes_->graph,
                                   [&marks, i](const tbb::flow::continue_msg&) { marks.mark(i, i + 1); });
    }
    for (const GraphShape::Edge& edge : shape.edges) {
        tbb::flow::make_edge(nodes_->nodes[edge.before], nodes_->nodes[edge.after]);
        is_root[edge.after] = false;
    }
    for (std::uint32_t i = 0; i < shape.tasks; ++i) {
        if (is_root[i]) tbb::flow::make_edge(nodes_->start, nodes_->nodes[i]);
    }
}
FlowGraph::FlowGraph(FlowGraph&& other) noexcept = default;
FlowGraph::~FlowGraph() = default;

void FlowGraph::operator()() {
    nodes_->start.try_put({});
    nodes_->graph.wait_for_all();
}

struct CountedTasks::Nodes {
    struct Node {
        std::atomic<std::uint32_t> awaited{0};
        std::uint32_t predecessors = 0;
        std::vector<std::uint32_t> successors;
    };

    void run(std::uint32_t index) {
        marks->mark(index, index + 1);
        for (const std::uint32_t successor : nodes[index].successors) {
            Node& next = nodes[successor];
            if (next.awaited.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
            next.awaited.store(next.predecessors, std::memory_order_relaxed);
            group.run([this, successor] { run(successor); });
        }
    }

    Marks* marks = nullptr;
    std::vector<Node> nodes;
    std::vector<std::uint32_t> roots;
    tbb::task_group group;
};

CountedTasks::CountedTasks(const GraphShape& shape, Marks& marks) : nodes_(std::make_unique<Nodes>()) {
    nodes_->marks = &marks;
    nodes_->nodes = std::vector<Nodes::Node>(shape.tasks);
    for (const GraphShape::Edge& edge : shape.edges) {
        nodes_->nodes[edge.before].successors.push_back(edge.after);
        ++nodes_->nodes[edge.after].predecessors;
    }
    for (std::uint32_t i = 0; i < shape.tasks; ++i) {
        Nodes::Node& node = nodes_->nodes[i];
        node.awaited.store(node.predecessors);
        if (node.predecessors == 0) nodes_->roots.push_back(i);
    }
}
CountedTasks::CountedTasks(CountedTasks&& other) noexcept = default;
CountedTasks::~CountedTasks() = default;

void CountedTasks::operator()() {
    for (const std::uint32_t root : nodes_->roots)
        nodes_->group.run([this, root] { nodes_->run(root); });
    nodes_->group.wait();
}

}  // namespace ouro::bench::tbb_peer
