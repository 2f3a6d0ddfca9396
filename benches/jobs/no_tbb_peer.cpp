#include "jobs/tbb_graph_peer.hpp"
#include "jobs/tbb_peer.hpp"

namespace ouro::bench::tbb_peer {

std::string version() {
    return {};
}

void mark_all(Marks&, Partition) {}
void mark_in_tasks(Marks&) {}
void integrate_all(std::span<float>, std::span<const float>, std::size_t, Partition) {}

struct FlowGraph::Nodes {};
FlowGraph::FlowGraph(const GraphShape&, Marks&) {}
FlowGraph::FlowGraph(FlowGraph&& other) noexcept = default;
FlowGraph::~FlowGraph() = default;
void FlowGraph::operator()() {}

struct CountedTasks::Nodes {};
CountedTasks::CountedTasks(const GraphShape&, Marks&) {}
CountedTasks::CountedTasks(CountedTasks&& other) noexcept = default;
CountedTasks::~CountedTasks() = default;
void CountedTasks::operator()() {}

}  // namespace ouro::bench::tbb_peer
