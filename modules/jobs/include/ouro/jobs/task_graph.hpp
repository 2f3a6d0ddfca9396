#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/jobs/detail/task_node.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/jobs/job_priority.hpp>
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// A task's number in its graph: from 0, in the order in which they were added.
enum class TaskId : std::uint32_t {};

// Tasks of which some wait for others: built once, run as often as wanted.
//
//     TaskGraph tick(allocator);
//     const auto input = tick.add([&] { read_input(); });
//     const auto move = tick.add([&] { move_bodies(pool); });    // may share out loops inside
//     if (!input || !move || !tick.order(*input, *move) || !tick.prepare()) ...
//     for (;;) tick.run(pool);
//
// add, order and prepare take memory from the allocator; run takes none and waits for no lock. One thread at
// a time builds or runs it; it may be run on one pool after another.
class TaskGraph final {
public:
    explicit TaskGraph(Allocator allocator) noexcept
        : tasks_(allocator),
          records_(allocator),
          edges_(allocator),
          successors_(allocator),
          roots_(allocator),
          serial_order_(allocator),
          cycle_(allocator) {}
    // Requires: not running. The other is empty afterwards, and keeps its allocator.
    TaskGraph(TaskGraph&& other) noexcept;
    TaskGraph& operator=(TaskGraph&& other) noexcept;
    // Requires: not running (assert). Ends the functions.
    ~TaskGraph() { clear(); }

    // A task that calls fn() or fn(participant), as a body of parallel_for is; fn is moved into the graph and
    // may not throw. Small functions without a destructor lie in the graph itself, others in a block each.
    // The graph is to be prepared again. Fails as the allocator does, and changes nothing then.
    template <class Fn>
    [[nodiscard]] Expected<TaskId> add(Fn fn, JobPriority priority = JobPriority::normal) noexcept;

    // `after` begins when `before` has ended, and sees what it wrote. Saying it twice changes nothing. The
    // graph is to be prepared again. Fails with bad_argument (no such task) or as the allocator does.
    [[nodiscard]] Expected<void> order(TaskId before, TaskId after) noexcept;

    // To be called when everything was added, before run. Fails with dependency_cycle, where cycle() names
    // the tasks, or as the allocator does.
    [[nodiscard]] Expected<void> prepare() noexcept;
    [[nodiscard]] bool is_prepared() const noexcept { return is_prepared_; }
    // Tasks of which each waits for the one before it, and the first for the last; empty when prepare found
    // none.
    [[nodiscard]] std::span<const TaskId> cycle() const noexcept { return cycle_.span(); }

    // Runs each task once, on the caller and on whatever workers have time; returns when all have ended. What
    // the caller wrote before is visible in them, and what they wrote is visible afterwards. Among tasks that
    // can begin, a participant prefers those of higher priority and those added first, but it does not look
    // at what others have. On a pool without workers, and beyond kMaxGraphs at once, the order is exact:
    // serial_order().
    //
    // Tasks may call parallel_for, post and wait, and run other graphs. They may not wait for one another
    // but by order(). The caller takes up nothing else meanwhile but loops that tasks of this graph began.
    // Requires: prepared, and not running (asserts).
    void run(JobPool& pool) noexcept;

    // The order in which one thread alone runs the tasks: of those whose predecessors have ended always the
    // one of the highest priority, and of these the one that was added first. Requires: prepared.
    [[nodiscard]] std::span<const std::uint32_t> serial_order() const noexcept {
        return serial_order_.span();
    }
    [[nodiscard]] std::size_t task_count() const noexcept { return tasks_.size(); }
    [[nodiscard]] std::size_t edge_count() const noexcept { return edges_.size(); }

    // Takes all tasks out; memory stays for the next ones. Requires: not running (assert).
    void clear() noexcept;
    // Walks everything; corrupt_data when something does not fit together. Requires: not running.
    [[nodiscard]] Status check() const noexcept;

private:
    struct Edge {
        std::uint32_t before = 0;
        std::uint32_t after = 0;
    };
    // What is not needed to run a task.
    struct Record {
        // Ends a function in a block of its own.
        void (*destroy)(void* function, Allocator allocator) noexcept = nullptr;
        JobPriority priority = JobPriority::normal;
    };
    class Planner;

    template <class Fn>
    static constexpr bool kLiesInNode =
        std::is_trivially_copyable_v<Fn> && std::is_trivially_destructible_v<Fn> &&
        sizeof(Fn) <= detail::TaskNode::kFunctionBytes && alignof(Fn) <= detail::TaskNode::kFunctionAlignment;

    template <class Fn>
    static void call(Fn& fn, unsigned participant) noexcept {
        if constexpr (std::is_invocable_v<Fn&, unsigned>)
            fn(participant);
        else
            fn();
    }
    [[nodiscard]] Expected<TaskId> add_node(const detail::TaskNode& node, const Record& record) noexcept;
    void change() noexcept;

    PooledVector<detail::TaskNode> tasks_;
    PooledVector<Record> records_;
    PooledVector<Edge> edges_;
    PooledVector<std::uint32_t> successors_;
    PooledVector<std::uint32_t> roots_;
    PooledVector<std::uint32_t> serial_order_;
    PooledVector<TaskId> cycle_;
    bool is_prepared_ = false;
    std::atomic<bool> is_running_{false};
};

template <class Fn>
Expected<TaskId> TaskGraph::add(Fn fn, JobPriority priority) noexcept {
    static_assert(std::is_invocable_v<Fn&> || std::is_invocable_v<Fn&, unsigned>,
                  "a task is called as fn() or fn(participant)");
    detail::TaskNode node;
    if constexpr (kLiesInNode<Fn>) {
        node.entry = [](void* function, unsigned participant) noexcept {
            call(*static_cast<Fn*>(function), participant);
        };
        std::construct_at(reinterpret_cast<Fn*>(node.function.data()), std::move(fn));
        return add_node(node, {.destroy = nullptr, .priority = priority});
    } else {
        const auto held = tasks_.allocator().template make<Fn>(std::move(fn));
        if (!held) return held.status();
        Fn* const object = *held;
        std::memcpy(node.function.data(), &object, sizeof(object));
        node.entry = [](void* function, unsigned participant) noexcept {
            call(**static_cast<Fn**>(function), participant);
        };
        const auto destroy = [](void* function, Allocator allocator) noexcept {
            allocator.destroy(*static_cast<Fn**>(function));
        };
        const auto added = add_node(node, {.destroy = destroy, .priority = priority});
        if (!added) tasks_.allocator().destroy(object);
        return added;
    }
}

}  // namespace ouro
