#include <ouro/jobs/task_graph.hpp>

#include <algorithm>

// What a graph looks like to those who run it, made of its tasks and edges.
namespace ouro {

// Tasks are ranked by priority, then by their numbers: of two that can begin, the one of lower rank does.
class TaskGraph::Planner {
public:
    explicit Planner(TaskGraph& graph) noexcept
        : graph_(graph),
          tasks_(graph.tasks_.span()),
          by_rank_(graph.tasks_.allocator()),
          ranks_(graph.tasks_.allocator()),
          scratch_(graph.tasks_.allocator()),
          edge_sources_(graph.tasks_.allocator()) {}

    [[nodiscard]] Status plan() noexcept {
        if (const Status status = take_memory(); status != Status::ok) return status;
        rank();
        count_edges();
        list_successors();
        list_roots();
        if (find_serial_order()) return Status::ok;
        return name_a_cycle();
    }

private:
    using Numbers = PooledVector<std::uint32_t>;

    [[nodiscard]] Status take_memory() noexcept {
        const std::size_t tasks = tasks_.size();
        const std::size_t edges = graph_.edges_.size();
        for (Numbers* numbers : {&by_rank_, &ranks_, &scratch_, &graph_.serial_order_}) {
            if (const Status status = numbers->resize(tasks); status != Status::ok) return status;
        }
        for (Numbers* numbers : {&edge_sources_, &graph_.successors_}) {
            if (const Status status = numbers->resize(edges); status != Status::ok) return status;
        }
        graph_.roots_.clear();
        graph_.cycle_.clear();
        return graph_.roots_.reserve(tasks);
    }

    void rank() noexcept {
        std::uint32_t rank = 0;
        for (unsigned priority = 0; priority < kJobPriorities; ++priority) {
            for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
                if (static_cast<unsigned>(graph_.records_[task].priority) != priority) continue;
                by_rank_[rank] = task;
                ranks_[task] = rank++;
            }
        }
    }

    void count_edges() noexcept {
        for (detail::TaskNode& task : tasks_) {
            task.predecessor_count = 0;
            task.successor_count = 0;
        }
        for (const Edge& edge : graph_.edges_) {
            ++tasks_[edge.before].successor_count;
            ++tasks_[edge.after].predecessor_count;
        }
        for (detail::TaskNode& task : tasks_)
            task.awaited = task.predecessor_count;
    }

    // Those of one task with the lowest rank at the end, where it is found at once.
    void list_successors() noexcept {
        std::uint32_t next = 0;
        for (detail::TaskNode& task : tasks_) {
            task.first_successor = next;
            next += task.successor_count;
            task.successor_count = 0;
        }
        // The edges by what they lead to, from the highest rank down.
        next = 0;
        for (std::size_t rank = tasks_.size(); rank-- > 0;) {
            scratch_[by_rank_[rank]] = next;
            next += tasks_[by_rank_[rank]].predecessor_count;
        }
        for (const Edge& edge : graph_.edges_)
            edge_sources_[scratch_[edge.after]++] = edge.before;
        next = 0;
        for (std::size_t rank = tasks_.size(); rank-- > 0;) {
            const std::uint32_t after = by_rank_[rank];
            for (std::uint32_t i = 0; i < tasks_[after].predecessor_count; ++i) {
                detail::TaskNode& before = tasks_[edge_sources_[next++]];
                graph_.successors_[before.first_successor + before.successor_count++] = after;
            }
        }
    }

    void list_roots() noexcept {
        for (const std::uint32_t task : by_rank_) {
            // There is room.
            if (tasks_[task].predecessor_count == 0) (void)graph_.roots_.push_back(task);
        }
    }

    [[nodiscard]] std::span<const std::uint32_t> successors_of(std::uint32_t task) const noexcept {
        return std::span<const std::uint32_t>(graph_.successors_.span())
            .subspan(tasks_[task].first_successor, tasks_[task].successor_count);
    }

    // False when some tasks never come to their turn: these are still awaited then.
    [[nodiscard]] bool find_serial_order() noexcept {
        // A heap of the ranks of those that can begin.
        const auto heap = scratch_.begin();
        constexpr auto kLater = [](std::uint32_t one, std::uint32_t other) { return one > other; };
        std::ptrdiff_t heap_size = 0;
        const auto put = [&](std::uint32_t task) {
            heap[heap_size++] = ranks_[task];
            std::push_heap(heap, heap + heap_size, kLater);
        };
        for (const std::uint32_t task : graph_.roots_)
            put(task);
        std::size_t count = 0;
        while (heap_size != 0) {
            std::pop_heap(heap, heap + heap_size, kLater);
            const std::uint32_t task = by_rank_[heap[--heap_size]];
            graph_.serial_order_[count++] = task;
            for (const std::uint32_t successor : successors_of(task)) {
                if (--tasks_[successor].awaited == 0) put(successor);
            }
        }
        if (count != tasks_.size()) return false;
        for (detail::TaskNode& task : tasks_)
            task.awaited = task.predecessor_count;
        return true;
    }

    // Each task that is left waits for another one that is left: whoever goes back from one to the next comes
    // by a task again.
    [[nodiscard]] Status name_a_cycle() noexcept {
        std::uint32_t at = 0;
        for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
            if (tasks_[task].awaited == 0) continue;
            at = task;
            for (const std::uint32_t successor : successors_of(task))
                scratch_[successor] = task;
        }
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            at = scratch_[at];
        const std::uint32_t first = at;
        do {
            const auto added = graph_.cycle_.push_back(static_cast<TaskId>(at));
            if (!added) return added.status();
            at = scratch_[at];
        } while (at != first);
        std::ranges::reverse(graph_.cycle_);
        return Status::dependency_cycle;
    }

    TaskGraph& graph_;
    std::span<detail::TaskNode> tasks_;
    Numbers by_rank_;
    Numbers ranks_;
    Numbers scratch_;
    Numbers edge_sources_;
};

Expected<void> TaskGraph::prepare() noexcept {
    change();
    const Status status = Planner(*this).plan();
    is_prepared_ = status == Status::ok;
    return status;
}

}  // namespace ouro
