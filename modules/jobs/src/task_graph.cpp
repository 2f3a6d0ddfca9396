#include "pool_state.hpp"

#include <ouro/jobs/task_graph.hpp>

namespace ouro {

TaskGraph::TaskGraph(TaskGraph&& other) noexcept
    : tasks_(std::move(other.tasks_)),
      records_(std::move(other.records_)),
      edges_(std::move(other.edges_)),
      successors_(std::move(other.successors_)),
      roots_(std::move(other.roots_)),
      serial_order_(std::move(other.serial_order_)),
      cycle_(std::move(other.cycle_)),
      is_prepared_(std::exchange(other.is_prepared_, false)) {
    OURO_ASSERT(!other.is_running_.load(), "a graph that is running stays where it is");
}

TaskGraph& TaskGraph::operator=(TaskGraph&& other) noexcept {
    if (this == &other) return *this;
    OURO_ASSERT(!other.is_running_.load(), "a graph that is running stays where it is");
    clear();
    tasks_ = std::move(other.tasks_);
    records_ = std::move(other.records_);
    edges_ = std::move(other.edges_);
    successors_ = std::move(other.successors_);
    roots_ = std::move(other.roots_);
    serial_order_ = std::move(other.serial_order_);
    cycle_ = std::move(other.cycle_);
    is_prepared_ = std::exchange(other.is_prepared_, false);
    return *this;
}

void TaskGraph::clear() noexcept {
    change();
    for (std::size_t i = 0; i < records_.size(); ++i) {
        if (records_[i].destroy != nullptr)
            records_[i].destroy(tasks_[i].function.data(), tasks_.allocator());
    }
    tasks_.clear();
    records_.clear();
    edges_.clear();
    cycle_.clear();
}

void TaskGraph::change() noexcept {
    OURO_ASSERT(!is_running_.load(std::memory_order_relaxed), "a graph that is running stays as it is");
    is_prepared_ = false;
}

Expected<TaskId> TaskGraph::add_node(const detail::TaskNode& node, const Record& record) noexcept {
    change();
    const std::size_t index = tasks_.size();
    if (index >= detail::kNoTask) return Status::capacity_exhausted;
    if (const auto added = tasks_.push_back(node); !added) return added.status();
    if (const auto added = records_.push_back(record); !added) {
        tasks_.pop_back();
        return added.status();
    }
    return static_cast<TaskId>(index);
}

Expected<void> TaskGraph::order(TaskId before, TaskId after) noexcept {
    const auto first = static_cast<std::uint32_t>(before);
    const auto second = static_cast<std::uint32_t>(after);
    if (first >= tasks_.size() || second >= tasks_.size()) return Status::bad_argument;
    change();
    if (edges_.size() >= detail::kNoTask) return Status::capacity_exhausted;
    return edges_.push_back({first, second}).status();
}

void TaskGraph::run(JobPool& pool) noexcept {
    OURO_ASSERT(is_prepared_, "a graph is prepared before it is run");
    OURO_ASSERT(!is_running_.exchange(true, std::memory_order_acquire), "a graph runs once at a time");
    const detail::TaskPlan plan{tasks_.span(), successors_.span(), roots_.span(), serial_order_.span()};
    if (pool.worker_count() == 0 || plan.tasks.size() < 2)
        detail::run_serially(plan, pool.current_participant());
    else
        detail::PoolState::of(pool)->run_graph(plan);
    is_running_.store(false, std::memory_order_release);
}

Status TaskGraph::check() const noexcept {
    if (records_.size() != tasks_.size()) return Status::corrupt_data;
    for (const Edge& edge : edges_) {
        if (edge.before >= tasks_.size() || edge.after >= tasks_.size()) return Status::corrupt_data;
    }
    if (!is_prepared_) return Status::ok;
    std::size_t roots = 0;
    for (const detail::TaskNode& task : tasks_) {
        roots += task.predecessor_count == 0 ? 1U : 0U;
        if (task.awaited != task.predecessor_count || task.first_successor > successors_.size() ||
            task.successor_count > successors_.size() - task.first_successor)
            return Status::corrupt_data;
    }
    const bool is_complete = roots == roots_.size() && successors_.size() == edges_.size() &&
                             serial_order_.size() == tasks_.size();
    return is_complete ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
