#include "ecs_rig.hpp"

#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>

#include <string>

namespace ouro {
namespace {

using namespace testing_support;

struct Clock {
    std::uint32_t ticks;
};
struct Log {
    std::uint32_t count;
    std::array<std::uint32_t, 15> entries;
};

void advance(Res<Clock> clock) {
    ++clock->ticks;
}
void drift(Query<Position&, const Velocity&> movers) {
    movers.each([](Position& position, const Velocity& velocity) { position.x += velocity.x; });
}
void age(Query<Entity, Mut<Health>> living, Commands commands) {
    living.each([&](Entity self, Mut<Health> health) {
        if (--health.edit().points == 0) commands.destroy(self);
    });
}
void breed(Query<const Health&> living, Commands commands) {
    living.each([&](const Health& health) {
        if (health.points % 4 == 0) commands.spawn(Health{health.points / 2}, Position{0, 1});
    });
}

std::string text_of(const Schedule& schedule, void (Schedule::*write)(const ByteSink&) const noexcept) {
    std::string text;
    const ByteSink sink{
        [](void* context, std::string_view bytes) { static_cast<std::string*>(context)->append(bytes); },
        &text};
    (schedule.*write)(sink);
    return text;
}
// "s0 s1 " when the second system waits for the first.
std::string edges_of(const Schedule& schedule) {
    const std::string dot = text_of(schedule, &Schedule::draw_dot);
    std::string edges;
    for (std::size_t at = dot.find(" -> s"); at != std::string::npos; at = dot.find(" -> s", at + 1))
        edges += dot.substr(at - 2, 2) + dot.substr(at + 3, 3) + " ";
    return edges;
}

class ScheduleTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
        ASSERT_TRUE(memory);
        memory_.emplace(*std::move(memory));
        auto pool = JobPool::create({.workers = 2});
        ASSERT_TRUE(pool);
        pool_.emplace(*std::move(pool));
        schedule_.emplace(*memory_);
    }
    // A system that notes its number when it runs.
    auto noting(std::uint32_t number) {
        return [number](Res<Log> log) { log->entries[log->count++] = number; };
    }
    std::vector<std::uint32_t> noted() {
        const Log& log = *world().resource<Log>();
        return {log.entries.begin(), log.entries.begin() + static_cast<std::ptrdiff_t>(log.count)};
    }
    ScheduleReport run() { return schedule_->run(world(), *pool_); }

    std::optional<SystemAllocator> memory_;
    std::optional<JobPool> pool_;
    std::optional<Schedule> schedule_;
};

TEST_F(ScheduleTest, RunsWhatWasAdded) {
    const Entity ada = *world().spawn(Position{1, 2}, Velocity{3, 0, 0}, Health{3});
    schedule_->add<advance>();
    schedule_->add<drift>();
    schedule_->add<age>();
    for (int tick = 0; tick < 3; ++tick) {
        const ScheduleReport report = run();
        ASSERT_TRUE(report) << schedule_->problem();
        EXPECT_EQ(report.commands.applied, tick == 2 ? 1U : 0U);
        if (tick < 2) {
            EXPECT_EQ(world().get<Position>(ada)->x, 1 + 3 * (tick + 1));
        }
        rig_.commit();
    }
    EXPECT_EQ(world().resource<Clock>()->ticks, 3U);
    EXPECT_FALSE(world().is_alive(ada));
}

TEST_F(ScheduleTest, ConflictsKeepTheOrderOfAddingUnlessItIsSaid) {
    schedule_->add("a", noting(1));
    const SystemRef b = schedule_->add("b", noting(2)).after("c");
    schedule_->add("c", noting(3));
    schedule_->add("d", noting(4)).before("a");
    schedule_->add("e", noting(5)).before(b);
    ASSERT_TRUE(run()) << schedule_->problem();
    EXPECT_EQ(noted(), (std::vector<std::uint32_t>{3, 4, 1, 5, 2}));
}

TEST_F(ScheduleTest, OrderByFunction) {
    schedule_->add<drift>().after(advance);
    schedule_->add(advance);
    ASSERT_TRUE(schedule_->prepare()) << schedule_->problem();
    EXPECT_EQ(schedule_->name_at(0), "system 1");
    EXPECT_EQ(schedule_->name_at(1), "drift");
}

TEST_F(ScheduleTest, StagesEndWithABarrier) {
    std::uint32_t seen = 99;
    schedule_->add("spawner", [](Commands commands) { commands.spawn(Health{1}); });
    schedule_->add("too early", [&](Query<const Health&> all) { seen = all.count(); });
    schedule_->stage("late");
    std::uint32_t seen_late = 99;
    schedule_->add("late enough", [&](Query<const Health&> all) { seen_late = all.count(); });
    ASSERT_TRUE(run());
    EXPECT_EQ(seen, 0U);
    EXPECT_EQ(seen_late, 1U);
}

TEST_F(ScheduleTest, CirclesAreToldWithTheirNames) {
    schedule_->add("a", noting(1)).after("c");
    schedule_->add("b", noting(2)).after("a");
    schedule_->add("c", noting(3)).after("b");
    schedule_->add("d", noting(4)).after("c");
    EXPECT_EQ(run().status, Status::dependency_cycle);
    const std::string problem(schedule_->problem());
    EXPECT_NE(problem.find("c after b after a after c"), std::string::npos) << problem;
    EXPECT_EQ(problem.find(" d"), std::string::npos) << problem;
    EXPECT_EQ(world().resource<Log>()->count, 0U);
}

TEST_F(ScheduleTest, MistakesAreToldWithTheirNames) {
    schedule_->add("a", noting(1)).after("nobody");
    EXPECT_EQ(schedule_->prepare().status(), Status::not_found);
    EXPECT_EQ(schedule_->problem(), "a runs after nobody, which is not in the schedule");
    Schedule doubled(*memory_);
    doubled.add("a", noting(1));
    doubled.add("a", noting(2));
    EXPECT_EQ(doubled.prepare().status(), Status::bad_argument);
    Schedule staged(*memory_);
    staged.add("a", noting(1)).after("b");
    staged.stage("late");
    staged.add("b", noting(2));
    EXPECT_EQ(staged.prepare().status(), Status::dependency_cycle);
    EXPECT_NE(std::string(staged.problem()).find("a runs after b"), std::string::npos);
}

TEST_F(ScheduleTest, ConditionsAreAskedAtTheBeginningOfAStage) {
    schedule_->add<advance>();
    schedule_->stage("sometimes");
    schedule_->add("every third", noting(7)).run_if([](Res<const Clock> clock) {
        return clock->ticks % 3 == 0;
    });
    for (int tick = 0; tick < 7; ++tick)
        ASSERT_TRUE(run());
    EXPECT_EQ(noted(), (std::vector<std::uint32_t>{7, 7}));
}

TEST_F(ScheduleTest, AFailedBarrierEndsTheRun) {
    Schedule small(*memory_, {.command_bytes = 64 << 10});
    bool was_late_run = false;
    small.add("flood", [](Commands commands) {
        for (int i = 0; i < 10'000; ++i)
            commands.spawn(Genome{});
    });
    small.stage("late");
    small.add("late", [&](Res<Clock>) { was_late_run = true; });
    const ScheduleReport report = small.run(world(), *pool_);
    EXPECT_EQ(report.status, Status::capacity_exhausted);
    EXPECT_EQ(world().stats().entities, 0U);
    EXPECT_FALSE(was_late_run);
}

TEST_F(ScheduleTest, SkippedCommandsNameSystemAndEntity) {
    const Entity ada = *world().spawn(Health{1});
    schedule_->add("first", [&](Commands commands) { commands.destroy(ada); });
    schedule_->add("second", [&](Commands commands) { commands.destroy(ada); });
    const ScheduleReport report = run();
    ASSERT_TRUE(report);
    EXPECT_EQ(report.commands.skipped, 1U);
    EXPECT_EQ(schedule_->name_at(report.commands.skipped_system), "second");
    EXPECT_EQ(report.commands.skipped_entity, ada);
}

TEST_F(ScheduleTest, ExclusiveSystemsChangeTheStructureThemselves) {
    for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(i % 2 == 0 ? world().spawn(Health{i}, Frozen{}) : world().spawn(Health{i}));
    }
    const Entity other = *world().spawn(Health{0});
    std::uint32_t destroyed = 0;
    schedule_->add("thaw", [&](Exclusive<With<Frozen>> frozen) {
        destroyed =
            frozen.destroy_if<const Health&>([](const Health& health) { return health.points < 100; });
        EXPECT_EQ(frozen.destroy(other), Status::bad_argument);
        EXPECT_TRUE(frozen.spawn(Health{1000}, Frozen{}));
        EXPECT_TRUE(frozen.add(frozen.query<Entity>().first(), Position{1, 2}));
    });
    schedule_->add("grow", [](World& all) { EXPECT_TRUE(all.spawn(Genome{})); });
    ASSERT_TRUE(run());
    EXPECT_EQ(destroyed, 50U);
    EXPECT_EQ((Query<const Health&, With<Frozen>>(world()).count()), 101U);
    EXPECT_EQ((Query<const Health&, Without<Frozen>>(world()).count()), 151U);
    EXPECT_EQ((Query<const Genome&>(world()).count()), 1U);
    rig_.commit();
}

TEST_F(ScheduleTest, IsPrintedAndDrawn) {
    schedule_->add<drift>();
    schedule_->add<age>();
    schedule_->add<breed>();
    schedule_->stage("l<a>te");
    schedule_->add("all", [](World&) {});
    EXPECT_EQ(text_of(*schedule_, &Schedule::print), "");
    ASSERT_TRUE(run());
    const std::string text = text_of(*schedule_, &Schedule::print);
    EXPECT_NE(text.find("stage main: 3 systems"), std::string::npos) << text;
    EXPECT_NE(text.find(" us"), std::string::npos) << text;
    EXPECT_NE(text.find("| after age\n"), std::string::npos) << text;
    EXPECT_NE(text.find("all (exclusive)"), std::string::npos) << text;
    const std::string dot = text_of(*schedule_, &Schedule::draw_dot);
    EXPECT_NE(dot.find("s1 -> s2 [style=dashed]"), std::string::npos) << dot;
    EXPECT_EQ(dot.find("s0 -> s"), std::string::npos) << dot;
    const std::string svg = text_of(*schedule_, &Schedule::draw_svg);
    EXPECT_EQ(svg.find("<a>"), std::string::npos) << svg;
    EXPECT_NE(svg.find(">breed</text>"), std::string::npos) << svg;
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

// What lies between two pieces of a text; empty when they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t begin = text.find(before);
    if (begin == std::string::npos) return {};
    const std::size_t from = begin + before.size();
    const std::size_t end = text.find(after, from);
    return end == std::string::npos ? std::string() : text.substr(from, end - from);
}

TEST_F(ScheduleTest, PicturesShowTheTimesThatAreInTheText) {
    schedule_->add("short", [](Query<const Position&>) {});
    schedule_->add("long", [](Query<Position&>) {
        const std::uint64_t begin = os::monotonic_ns();
        while (os::monotonic_ns() - begin < 300'000) {
        }
    });
    ASSERT_TRUE(schedule_->prepare());
    for (const auto draw : {&Schedule::print, &Schedule::draw_dot, &Schedule::draw_svg})
        EXPECT_EQ(text_of(*schedule_, draw).find(" us"), std::string::npos) << "nothing was run yet";
    ASSERT_TRUE(run());
    const std::string text = text_of(*schedule_, &Schedule::print);
    const std::string dot = text_of(*schedule_, &Schedule::draw_dot);
    const std::string svg = text_of(*schedule_, &Schedule::draw_svg);
    for (const std::string name : {"short", "long"}) {
        const std::string time = between(text, "  " + name + ": ", ", mean");
        ASSERT_TRUE(time.ends_with(" us")) << text;
        EXPECT_EQ(between(dot, name + "\\n", "\""), time) << dot;
        const std::string box = between(svg, ">" + name + "</text>", "</text>");
        EXPECT_TRUE(box.ends_with(">" + time)) << svg;
    }
    const std::string barrier = between(text, "barrier ", ",");
    ASSERT_TRUE(barrier.ends_with(" us")) << text;
    EXPECT_EQ(between(dot, "barrier\\n", "\""), barrier) << dot;
    EXPECT_EQ(between(svg, "barrier ", "<"), barrier) << svg;
}

TEST_F(ScheduleTest, WhatCannotMeetDoesNotConflict) {
    schedule_->add("a", [](Query<Position&, With<Frozen>>) {});
    schedule_->add("b", [](Query<Position&, Without<Frozen>>) {});
    schedule_->add("c", [](Query<const Position&, Without<Alert>>, Res<const Clock>) {});
    schedule_->add("d", [](Query<Changed<Velocity>>, Res<const Clock>) {});
    schedule_->add("e", [](Exclusive<With<Genome>>) {});
    schedule_->add("f", [](Res<Clock>, Commands) {});
    ASSERT_TRUE(run());
    EXPECT_EQ(edges_of(*schedule_), "s1 s2 s0 s2 s3 s4 s2 s4 s4 s5 ");
}

// Those that are on and those that are off lie in one archetype, side by side.
TEST_F(ScheduleTest, WhatIsSwitchedOffMeetsWhatIsOn) {
    schedule_->add("on", [](Query<Position&, With<Alert>>) {});
    schedule_->add("off", [](Query<Position&, Without<Alert>>) {});
    ASSERT_TRUE(run());
    EXPECT_EQ(edges_of(*schedule_), "s0 s1 ");
}

TEST_F(ScheduleTest, ARunAllocatesNothingOnceItIsWarm) {
    ASSERT_TRUE(world().spawn_copies(500, Position{1, 2}, Health{64}, Velocity{1, 0, 0}));
    schedule_->add<drift>();
    schedule_->add<age>();
    schedule_->add<breed>();
    for (int tick = 0; tick < 3; ++tick)
        ASSERT_TRUE(run());
    const NoAllocationScope quiet("a tick");
    for (int tick = 0; tick < 3; ++tick)
        EXPECT_TRUE(run());
}

// Nor do systems that record, from loops too, on whatever thread they run; and nor does applying it.
TEST_F(ScheduleTest, RecordingCommandsAllocatesNothingOnceItIsWarm) {
    ASSERT_TRUE(world().spawn_copies(500, Position{1, 2}, Health{1}));
    schedule_->add("churn", [](JobPool& pool, Query<Entity, Health&> all, Commands commands) {
        const NoAllocationScope quiet("a system");
        all.parallel_each(pool, commands, [](Commands& own, Entity self, Health& health) {
            const NoAllocationScope inner("a part of its loop");
            if (++health.points % 2 == 0) {
                own.add(self, Frozen{});
            } else {
                own.remove<Frozen>(self);
                own.destroy(self);
                own.spawn(Position{3, 4}, Health{health.points});
            }
        });
    });
    for (int tick = 0; tick < 6; ++tick)
        ASSERT_TRUE(run());
    const NoAllocationScope quiet("a tick with commands");
    for (int tick = 0; tick < 6; ++tick)
        EXPECT_TRUE(run());
    EXPECT_EQ(world().stats().entities, 500U);
}

TEST_F(ScheduleTest, LookingUpASingleEntityMarksItAlone) {
    const Entity ada = *world().spawn(Position{1, 2});
    ASSERT_TRUE(world().spawn_copies(200, Position{}));
    rig_.commit();
    rig_.commit();
    schedule_->add("one", [&](Query<Position&> all) {
        EXPECT_TRUE(all.visit(ada, [](Position& position) { position.x = 9; }));
    });
    ASSERT_TRUE(run());
    EXPECT_EQ((Query<ChangedNow<Position>>(world()).count()), 1U);
    rig_.commit();
}

// A new type changes the numbers by which resources are found.
TEST_F(ScheduleTest, WhatUsesResourcesWaitsForExclusiveSystems) {
    ASSERT_TRUE(world().spawn(Frozen{}));
    schedule_->add("register", [](Exclusive<With<Frozen>> frozen) {
        EXPECT_TRUE(frozen.add(frozen.query<Entity>().first(), Genome{}));
    });
    schedule_->add("count", [](Res<Clock> clock) {
        for (int i = 0; i < 1'000; ++i)
            ++clock->ticks;
    });
    schedule_->add("record", [](Commands) {});
    ASSERT_TRUE(run());
    EXPECT_EQ(world().resource<Clock>()->ticks, 1'000U);
    const std::string dot = text_of(*schedule_, &Schedule::draw_dot);
    EXPECT_NE(dot.find("s0 -> s1"), std::string::npos) << dot;
    EXPECT_EQ(dot.find(" -> s2"), std::string::npos) << dot;
}

template <class Fn>
constexpr bool kCanBeCondition = detail::SystemSignature<Fn>::kOnlyReads;

TEST_F(ScheduleTest, ConditionsOnlyRead) {
    static_assert(kCanBeCondition<bool (*)(Res<const Clock>, Query<const Health&, Changed<Position>>)>);
    static_assert(
        kCanBeCondition<bool (*)(Query<Entity, Optional<const Health&>, Without<Frozen>>, JobPool&)>);
    static_assert(!kCanBeCondition<bool (*)(Res<Clock>)>);
    static_assert(!kCanBeCondition<bool (*)(Query<Health&>)>);
    static_assert(!kCanBeCondition<bool (*)(Query<const Position&, Mut<Health>>)>);
    static_assert(!kCanBeCondition<bool (*)(Query<Optional<Health&>>)>);
    static_assert(!kCanBeCondition<bool (*)(Commands)>);
    static_assert(!kCanBeCondition<bool (*)(World&)>);
    static_assert(!kCanBeCondition<bool (*)(Exclusive<With<Frozen>>)>);
    schedule_->add("when frozen", noting(1)).run_if([](Query<With<Frozen>> frozen) {
        return frozen.count() != 0;
    });
    ASSERT_TRUE(run());
    EXPECT_EQ(noted(), std::vector<std::uint32_t>{});
    ASSERT_TRUE(world().spawn(Frozen{}));
    ASSERT_TRUE(run());
    EXPECT_EQ(noted(), std::vector<std::uint32_t>{1});
}

}  // namespace
}  // namespace ouro
