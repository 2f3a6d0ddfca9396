#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/command_queue.hpp>
#include <ouro/ecs/detail/system_record.hpp>
#include <ouro/ecs/system.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/observe/byte_sink.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ouro {

class Schedule;

struct ScheduleOptions {
    // Whether the times of systems and barriers are taken: two looks at the clock for each.
    bool measures = true;
    // For the commands of a stage, of all threads together: see CommandQueueOptions::max_bytes. Whether a run
    // fails for lack of it does not depend on threads.
    std::size_t command_bytes = std::size_t{16} << 20;
};

// What a run did.
struct ScheduleReport {
    // Ok; or why the run ended early: as Schedule::prepare, as what a system needs could not be made, or as
    // the barrier of a stage, which was the last one then. Roll the tick back: it is not whole.
    // Schedule::problem() says more. Busy, and nothing was done, when the schedule runs already: a system may
    // run another schedule, but not its own.
    Status status = Status::ok;
    // Of all stages. The systems in it are named by their places: see Schedule::name_at.
    CommandReport commands;

    explicit operator bool() const noexcept { return status == Status::ok; }
};

// A system of a schedule. Good as long as the schedule.
class SystemRef {
public:
    // It runs after, or before, another one of the same stage: named by its function, by its name, or by what
    // add returned. The other may be added later.
    template <class Other>
    SystemRef after(const Other& other) const noexcept {
        return order(other, true);
    }
    template <class Other>
    SystemRef before(const Other& other) const noexcept {
        return order(other, false);
    }

    // It runs only where the condition says so: a function that returns bool, with those parameters of a
    // system that only read: Res<const T>, and queries without T& and Mut<T>. It is called at the beginning
    // of the stage, while nothing else runs.
    template <class Fn>
    SystemRef run_if(Fn condition) const noexcept;

private:
    friend class Schedule;
    SystemRef(Schedule& schedule, std::uint32_t number) noexcept : schedule_(&schedule), number_(number) {}
    template <class Other>
    SystemRef order(const Other& other, bool is_after) const noexcept;

    Schedule* schedule_;
    std::uint32_t number_;
};

// Systems, and when they run. A system is a function or a lambda; the types of its parameters say what it
// reads and writes:
//
//     void move(Query<Position&, const Velocity&> movers, Res<const Time> time) { ... }
//     void shoot(Query<const Gun&> guns, Commands commands) { ... }
//
//     Schedule schedule(allocator);
//     schedule.add<move>();
//     schedule.add<shoot>().after(move);
//     schedule.stage("late");
//     schedule.add("report", [&](Res<const Score> score) { ... });
//     if (const auto report = schedule.run(world, pool); !report) ...
//
// Systems of one stage that do not conflict run at once. Those that do run one after the other, in the order
// in which they were added, unless after() and before() say something else. Two conflict when one writes what
// the other reads or writes, of entities that both may visit; `World&` conflicts with everything. A system
// that wants to use several threads itself takes `JobPool&`, for Query::parallel_each.
//
// Commands are applied where a stage ends, in the order of systems: that in which they would run one by one.
// The bytes of the world do not depend on the number of threads.
//
// Building it takes memory from the allocator. A run takes none once it has been run with a pool of that
// size.
class Schedule {
public:
    // Requires: the allocator lives as long.
    explicit Schedule(Allocator allocator, const ScheduleOptions& options = {}) noexcept;
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;
    ~Schedule();

    // A function, by its own name.
    template <auto kFn>
    SystemRef add() noexcept {
        return add_as(detail::function_name<kFn>(), kFn);
    }
    template <class Fn>
    SystemRef add(std::string_view name, Fn fn) noexcept {
        return add_as(name, std::move(fn));
    }
    // Called "system <number>".
    template <class Fn>
    SystemRef add(Fn fn) noexcept {
        return add_as({}, std::move(fn));
    }

    // What is added from now on runs when all that was added before has ended and its commands are applied.
    void stage(std::string_view name) noexcept;

    // Finds the conflicts and the order. run does it where something was added. Fails with dependency_cycle,
    // not_found (nothing of the name that something is ordered by), bad_argument (two systems of one name),
    // and as the allocator does, also for what add could not keep. problem() says more.
    [[nodiscard]] Expected<void> prepare() noexcept;
    // Why prepare or the last run failed, with the names of the systems and what they were about; empty when
    // they did not.
    [[nodiscard]] std::string_view problem() const noexcept { return {problem_.data(), problem_length_}; }

    // Runs everything once. Requires: nobody uses the world meanwhile.
    ScheduleReport run(World& world, JobPool& pool) noexcept;

    [[nodiscard]] std::size_t system_count() const noexcept { return systems_.size(); }
    // Of the system at a place in the order.
    [[nodiscard]] std::string_view name_at(std::uint32_t place) const noexcept;
    void set_measures(bool measures) noexcept { options_.measures = measures; }

    // What was prepared, with the times of the last run: as text, as a graph for `dot`, as a picture.
    void print(const ByteSink& sink) const noexcept;
    void draw_dot(const ByteSink& sink) const noexcept;
    void draw_svg(const ByteSink& sink) const noexcept;

private:
    friend class SystemRef;
    class Planner;
    class Drawing;

    struct Stage {
        explicit Stage(Allocator allocator) noexcept : graph(allocator) {}
        FixedString<47> name;
        TaskGraph graph;
        // Its systems, among those in order.
        std::uint32_t first = 0;
        std::uint32_t end = 0;
        std::uint64_t barrier_ns = 0;
        std::uint64_t total_ns = 0;
        std::uint32_t runs = 0;
        CommandReport commands;
    };
    // One waits for another, which is named in one of three ways.
    struct Constraint {
        std::uint32_t system = 0;
        std::uint32_t other = 0;
        const void* identity = nullptr;
        FixedString<47> name = {};
        bool is_after = true;
    };
    // By places; because of their parameters or because it was said.
    struct Edge {
        std::uint32_t before = 0;
        std::uint32_t after = 0;
        bool is_conflict = false;
    };

    template <class Fn>
    SystemRef add_as(std::string_view name, Fn fn) noexcept {
        const void* identity = nullptr;
        if constexpr (std::is_pointer_v<Fn>) identity = reinterpret_cast<const void*>(fn);
        const auto function = detail::make_system_function(allocator_, std::move(fn));
        detail::SystemRecord* const record = add_record(function, name, identity);
        if (record != nullptr) detail::SystemSignature<Fn>::declare(record->access);
        return {*this, static_cast<std::uint32_t>(systems_.size() - 1)};
    }
    detail::SystemRecord* add_record(const Expected<detail::SystemFunction>& function, std::string_view name,
                                     const void* identity) noexcept;
    void set_condition(std::uint32_t system, const Expected<detail::SystemFunction>& condition) noexcept;
    void constrain(const Constraint& constraint) noexcept;
    void note(Status status) noexcept {
        if (failure_ == Status::ok) failure_ = status;
    }
    // Keeps what problem() says, and returns the status.
    Status tell(Status status, std::initializer_list<std::string_view> parts) noexcept;
    Status tell_missing(Status status, std::string_view role, std::string_view system) noexcept;
    Status tell_barrier(const Stage& stage, Status delivered) noexcept;
    [[nodiscard]] ScheduleReport run_stages() noexcept;
    [[nodiscard]] Status prepare_queue(const JobPool& pool) noexcept;
    [[nodiscard]] Status ask_conditions(const Stage& stage) noexcept;
    // Whatever systems need of the world is there before they run, made in their order.
    [[nodiscard]] Status prepare_systems(std::uint32_t first, std::uint32_t end) noexcept;
    [[nodiscard]] Status run_stage(Stage& stage, CommandReport& total) noexcept;
    void run_system(detail::SystemRecord& system) noexcept;
    [[nodiscard]] detail::SystemRecord& at(std::uint32_t place) const noexcept {
        return *systems_[order_[place]];
    }

    Allocator allocator_;
    ScheduleOptions options_;
    PooledVector<detail::SystemRecord*> systems_;
    PooledVector<Stage> stages_;
    PooledVector<Constraint> constraints_;
    // Numbers of systems, by places.
    PooledVector<std::uint32_t> order_;
    PooledVector<Edge> edges_;
    std::optional<CommandQueue> queue_;
    detail::SystemContext context_;
    Status failure_ = Status::ok;
    // Of what could not be prepared in the middle of a stage.
    std::atomic<Status> late_failure_ = Status::ok;
    bool is_prepared_ = false;
    std::atomic<bool> is_running_ = false;
    std::array<char, 256> problem_{};
    std::size_t problem_length_ = 0;
};

template <class Other>
SystemRef SystemRef::order(const Other& other, bool is_after) const noexcept {
    Schedule::Constraint constraint{.system = number_, .other = UINT32_MAX, .is_after = is_after};
    if constexpr (std::is_same_v<Other, SystemRef>) {
        // Numbers mean something in one schedule only: of another one it is a name that nobody has.
        if (other.schedule_ == schedule_)
            constraint.other = other.number_;
        else
            constraint.name = "a system of another schedule";
    } else if constexpr (std::is_function_v<Other>) {
        constraint.identity = reinterpret_cast<const void*>(&other);
    } else {
        schedule_->note(constraint.name.assign(std::string_view(other)));
    }
    schedule_->constrain(constraint);
    return *this;
}

template <class Fn>
SystemRef SystemRef::run_if(Fn condition) const noexcept {
    static_assert(detail::SystemSignature<Fn>::kOnlyReads,
                  "a condition changes nothing: take Res<const T>, and queries of const T&");
    schedule_->set_condition(number_,
                             detail::make_system_function(schedule_->allocator_, std::move(condition)));
    return *this;
}

}  // namespace ouro
