#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <charconv>

namespace ouro {

using detail::SystemFunction;
using detail::SystemRecord;

Schedule::Schedule(Allocator allocator, const ScheduleOptions& options) noexcept
    : allocator_(allocator),
      options_(options),
      systems_(allocator),
      stages_(allocator),
      constraints_(allocator),
      order_(allocator),
      edges_(allocator) {}

Schedule::~Schedule() {
    for (SystemRecord* const system : systems_) {
        for (const SystemFunction& function : {system->function, system->condition})
            if (function.object != nullptr) function.destroy(function.object, allocator_);
        allocator_.destroy(system);
    }
}

SystemRecord* Schedule::add_record(const Expected<SystemFunction>& function, std::string_view name,
                                   const void* identity) noexcept {
    is_prepared_ = false;
    if (stages_.empty()) stage("main");
    if (!function || failure_ != Status::ok) {
        note(function.status());
        if (function) function->destroy(function->object, allocator_);
        return nullptr;
    }
    const auto record = allocator_.make<SystemRecord>();
    const auto kept = record ? systems_.push_back(*record) : Expected<SystemRecord**>(record.status());
    if (!kept) {
        note(kept.status());
        if (record) allocator_.destroy(*record);
        function->destroy(function->object, allocator_);
        return nullptr;
    }
    SystemRecord& system = **record;
    system.function = *function;
    system.identity = identity;
    system.stage = static_cast<std::uint32_t>(stages_.size() - 1);
    if (!name.empty()) {
        static_cast<void>(system.name.assign(name.substr(0, system.name.capacity())));
    } else {
        std::array<char, 10> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), systems_.size() - 1);
        system.name = "system ";
        static_cast<void>(
            system.name.append({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())}));
    }
    return &system;
}

void Schedule::set_condition(std::uint32_t system, const Expected<SystemFunction>& condition) noexcept {
    if (!condition || system >= systems_.size()) {
        note(condition.status());
        if (condition) condition->destroy(condition->object, allocator_);
        return;
    }
    SystemFunction& own = systems_[system]->condition;
    if (own.object != nullptr) own.destroy(own.object, allocator_);
    own = *condition;
}

void Schedule::constrain(const Constraint& constraint) noexcept {
    is_prepared_ = false;
    note(constraints_.push_back(constraint).status());
}

void Schedule::stage(std::string_view name) noexcept {
    is_prepared_ = false;
    const auto made = stages_.emplace_back(allocator_);
    if (!made) return note(made.status());
    static_cast<void>((*made)->name.assign(name.substr(0, (*made)->name.capacity())));
}

std::string_view Schedule::name_at(std::uint32_t place) const noexcept {
    return place < order_.size() ? at(place).name.view() : std::string_view();
}

Status Schedule::prepare_queue(const JobPool& pool) noexcept {
    const auto systems = static_cast<unsigned>(std::max<std::size_t>(systems_.size(), 1));
    if (queue_ && queue_->participant_count() >= pool.participant_count() &&
        queue_->system_count() == systems)
        return Status::ok;
    queue_.reset();
    auto queue = CommandQueue::create(
        {.participants = pool.participant_count(), .systems = systems, .max_bytes = options_.command_bytes});
    if (!queue) return tell(queue.status(), {"there is no memory for the queues of commands"});
    queue_.emplace(*std::move(queue));
    return Status::ok;
}

ScheduleReport Schedule::run(World& world, JobPool& pool) noexcept {
    ScheduleReport report;
    if (is_running_.exchange(true, std::memory_order_acquire)) {
        report.status = Status::busy;
        return report;
    }
    context_ = {&world, &pool, nullptr};
    report = run_stages();
    is_running_.store(false, std::memory_order_release);
    return report;
}

ScheduleReport Schedule::run_stages() noexcept {
    ScheduleReport report;
    problem_length_ = 0;
    if (!is_prepared_) report.status = prepare().status();
    if (report.status == Status::ok) report.status = prepare_queue(*context_.pool);
    for (Stage& stage : stages_)
        if (report.status == Status::ok) report.status = run_stage(stage, report.commands);
    return report;
}

Status Schedule::tell_missing(Status status, std::string_view role, std::string_view system) noexcept {
    const TypeClash& clash = context_.world->type_clash();
    if (status != Status::wrong_layout)
        return tell(status, {role, system, " needs what the world could not make"});
    if (!clash.refused.empty())
        return tell(status, {role, system, " uses ", clash.refused, ", whose name in the world is that of ",
                             clash.known});
    return tell(status,
                {role, system,
                 " uses a type as a resource (Res<T>) that entities have, or as a component that is a "
                 "resource, or one with other fields than the world knows by that name"});
}

Status Schedule::prepare_systems(std::uint32_t first, std::uint32_t end) noexcept {
    for (std::uint32_t place = first; place < end; ++place)
        if (const Status status = at(place).function.prepare(*context_.world); status != Status::ok)
            return tell_missing(status, {}, at(place).name.view());
    return Status::ok;
}

namespace {

// What a condition may do is watched as it is of a system.
bool is_due(const SystemFunction& condition, std::string_view name,
            const detail::SystemContext& context) noexcept {
#if OURO_ASSERT_LEVEL >= 1
    detail::SystemAccess access;
    condition.declare(access);
    const detail::RunningSystem running{name, &access};
    const detail::SystemScope scope(&running);
#else
    static_cast<void>(name);
#endif
    return condition.call(condition.object, context);
}

}  // namespace

Status Schedule::ask_conditions(const Stage& stage) noexcept {
    for (std::uint32_t place = stage.first; place < stage.end; ++place) {
        SystemRecord& system = at(place);
        if (system.condition.object == nullptr) continue;
        if (const Status status = system.condition.prepare(*context_.world); status != Status::ok)
            return tell_missing(status, "the condition of ", system.name.view());
        system.is_due = is_due(system.condition, system.name.view(), context_);
    }
    return Status::ok;
}

namespace {

void add_up(CommandReport& total, const CommandReport& one) noexcept {
    if (total.skipped == 0) {
        total.skipped_system = one.skipped_system;
        total.skipped_entity = one.skipped_entity;
    }
    if (total.status == Status::ok) {
        total.status = one.status;
        total.failed_system = one.failed_system;
        total.failed_entity = one.failed_entity;
    }
    total.applied += one.applied;
    total.skipped += one.skipped;
    total.failed += one.failed;
    total.dropped += one.dropped;
}

}  // namespace

Status Schedule::run_stage(Stage& stage, CommandReport& total) noexcept {
    const std::uint64_t begin = options_.measures ? os::monotonic_ns() : 0;
    // Before threads look.
    context_.world->core().refresh_ids();
    if (const Status status = prepare_systems(stage.first, stage.end); status != Status::ok) return status;
    if (const Status status = ask_conditions(stage); status != Status::ok) return status;
    late_failure_ = Status::ok;
    stage.graph.run(*context_.pool);
    const std::uint64_t barrier = options_.measures ? os::monotonic_ns() : 0;
    stage.commands = queue_->merge(*context_.world);
    add_up(total, stage.commands);
    const Status delivered = context_.world->deliver_events();
    ++stage.runs;
    if (options_.measures) {
        const std::uint64_t end = os::monotonic_ns();
        stage.barrier_ns = end - barrier;
        stage.total_ns = end - begin;
    }
    if (const Status late = late_failure_.load(); late != Status::ok) return late;
    return tell_barrier(stage, delivered);
}

void Schedule::run_system(SystemRecord& system) noexcept {
    // What could not be prepared does not run.
    if (!system.is_due || late_failure_.load(std::memory_order_relaxed) != Status::ok) {
        system.last_ns = 0;
        return;
    }
    const std::uint64_t begin = options_.measures ? os::monotonic_ns() : 0;
    {
        const detail::RunningSystem running{system.name.view(), &system.access};
        const detail::SystemScope scope(&running);
        detail::SystemContext context = context_;
        if (system.access.records_commands)
            context.commands = &queue_->commands(system.place, context.pool->current_participant()).stream();
        system.function.call(system.function.object, context);
    }
    // There may be new archetypes and rows. All later ones but those that only record wait for this one.
    if (system.access.is_exclusive || system.access.changes_structure) {
        const Status status = prepare_systems(system.place + 1, stages_[system.stage].end);
        if (status != Status::ok) late_failure_ = status;
    }
    ++system.runs;
    if (!options_.measures) return;
    system.last_ns = os::monotonic_ns() - begin;
    system.total_ns += system.last_ns;
    system.longest_ns = std::max(system.longest_ns, system.last_ns);
}

}  // namespace ouro
