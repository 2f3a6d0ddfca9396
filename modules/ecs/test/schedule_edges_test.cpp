// Schedules in trouble: what fails is told with names, and the world goes on.
#include "ecs_rig.hpp"

#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <string>

namespace ouro {
namespace {

using namespace testing_support;

struct Clock {
    std::uint32_t ticks;
};
struct Huge {
    std::array<std::uint64_t, 1 << 17> words;
};

class ScheduleEdgesTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
        auto pool = JobPool::create({.workers = 2});
        ASSERT_TRUE(memory && pool);
        memory_.emplace(*std::move(memory));
        pool_.emplace(*std::move(pool));
        schedule_.emplace(*memory_);
    }
    ScheduleReport run() { return schedule_->run(world(), *pool_); }
    void expect_problem(const Schedule& schedule, const std::string& part) {
        const std::string text(schedule.problem());
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }

    std::optional<SystemAllocator> memory_;
    std::optional<JobPool> pool_;
    std::optional<Schedule> schedule_;
};

TEST_F(ScheduleEdgesTest, AFullTableOfEntitiesIsToldWithTheSystem) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 10, .max_archetypes = 4});
    ASSERT_TRUE(small.is_ready());
    int wanted = 25;
    schedule_->add("breed", [&](Commands commands) {
        for (int i = 0; i < wanted; ++i)
            commands.spawn(Health{i});
    });
    const Tick before = small.commit();
    const auto bytes = small.bytes();
    const ScheduleReport report = schedule_->run(small.world(), *pool_);
    EXPECT_EQ(report.status, Status::capacity_exhausted);
    EXPECT_EQ(report.commands.applied, 10U);
    EXPECT_EQ(report.commands.failed, 15U);
    expect_problem(*schedule_, "stage main: a command of breed, one of 15 that failed: ");
    // The tick is not whole. It never was, and another one is done instead.
    ASSERT_TRUE(small.ring().rollback(before));
    EXPECT_TRUE(small.bytes() == bytes);
    wanted = 4;
    ASSERT_TRUE(schedule_->run(small.world(), *pool_));
    EXPECT_EQ(schedule_->problem(), "");
    small.commit();

    EcsRig other(std::uint64_t{1} << 20, {.max_entities = 10, .max_archetypes = 4});
    other.commit();
    ASSERT_TRUE(schedule_->run(other.world(), *pool_));
    other.commit();
    EXPECT_TRUE(other.bytes() == small.bytes());
}

TEST_F(ScheduleEdgesTest, AFullTableOfArchetypesIsToldWithSystemAndEntity) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 10, .max_archetypes = 2});
    ASSERT_TRUE(small.is_ready());
    ASSERT_TRUE(small.world().spawn(Health{0}));
    const Entity ada = *small.world().spawn(Health{1});
    schedule_->add("dress", [&](Commands commands) {
        commands.add(ada, Position{1, 2});
        commands.add(ada, Velocity{});
    });
    const ScheduleReport report = schedule_->run(small.world(), *pool_);
    EXPECT_EQ(report.status, Status::capacity_exhausted);
    EXPECT_EQ(report.commands.failed_entity, ada);
    expect_problem(*schedule_, "a command of dress on entity 1:1, one of 1 that failed: ");
    EXPECT_TRUE(small.world().has<Position>(ada));
    EXPECT_FALSE(small.world().has<Velocity>(ada));
    small.commit();
}

TEST_F(ScheduleEdgesTest, WhatASystemNeedsAndCannotHaveIsToldWithItsName) {
    EcsRig small(std::uint64_t{512} << 10, {.max_entities = 10, .max_archetypes = 4});
    ASSERT_TRUE(small.is_ready());
    schedule_->add("modest", [](Res<Clock> clock) { ++clock->ticks; });
    schedule_->add("greedy", [](Res<Huge>) {});
    const Status status = schedule_->run(small.world(), *pool_).status;
    EXPECT_NE(status, Status::ok);
    expect_problem(*schedule_, "greedy needs what the world could not make: ");
    EXPECT_EQ(small.world().resource<Clock>()->ticks, 0U);
    small.commit();
    Schedule confused(*memory_);
    ASSERT_TRUE(small.world().spawn(Health{}));
    confused.add("confused", [](Res<Health>) {});
    EXPECT_EQ(confused.run(small.world(), *pool_).status, Status::wrong_layout);
    expect_problem(confused, "confused uses a type as a resource (Res<T>) that entities have");
}

TEST_F(ScheduleEdgesTest, DroppedCommandsAndEndlessObserversAreTold) {
    Schedule flooded(*memory_, {.command_bytes = 64 << 10});
    flooded.add("flood", [](Commands commands) {
        for (int i = 0; i < 10'000; ++i)
            commands.spawn(Genome{});
    });
    flooded.stage("late");
    EXPECT_EQ(flooded.run(world(), *pool_).status, Status::capacity_exhausted);
    expect_problem(flooded, "stage main: there was no memory for all commands, and 10000 were not done");

    ASSERT_EQ(on_add<Health>(world(), [](World& own, Entity) { (void)own.spawn(Health{1}); }), Status::ok);
    schedule_->stage("first");
    schedule_->add("begin", [](Commands commands) { commands.spawn(Health{1}); });
    EXPECT_EQ(run().status, Status::rate_limited);
    expect_problem(*schedule_, "stage first: observers cause ever more events");
}

TEST_F(ScheduleEdgesTest, ASystemMayRunAnotherScheduleButNotItsOwn) {
    ASSERT_TRUE(world().spawn_copies(500, Position{}, Health{3}));
    Schedule inner(*memory_);
    inner.add("move", [](JobPool& pool, Query<Position&> all) {
        all.parallel_each(pool, [](Position& position) { position.x += 1; });
    });
    inner.add("breed", [](Query<const Health&> all, Commands commands) {
        if (all.count() < 600) commands.spawn(Health{1});
    });
    Status own = Status::ok;
    schedule_->add("outer", [&](World& all, JobPool& pool) {
        for (int i = 0; i < 3; ++i)
            EXPECT_TRUE(inner.run(all, pool)) << inner.problem();
        own = schedule_->run(all, pool).status;
    });
    schedule_->add("count", [](Query<const Health&> all, Res<Clock> clock) { clock->ticks = all.count(); });
    ASSERT_TRUE(run()) << schedule_->problem();
    EXPECT_EQ(own, Status::busy);
    EXPECT_EQ(world().resource<Clock>()->ticks, 503U);
    EXPECT_EQ(world().get<Position>(Query<Entity, const Position&>(world()).first())->x, 3);
    // And again.
    ASSERT_TRUE(run());
    EXPECT_EQ(world().resource<Clock>()->ticks, 506U);
    rig_.commit();
}

TEST_F(ScheduleEdgesTest, SystemsOfAnotherScheduleAreNotInThisOne) {
    Schedule other(*memory_);
    other.add("a", [](Res<Clock>) {});
    const SystemRef second = other.add("b", [](Res<Clock>) {});
    schedule_->add("only", [](Res<Clock>) {}).after(second);
    EXPECT_EQ(run().status, Status::not_found);
    expect_problem(*schedule_, "only runs after a system of another schedule");
}

// A system that takes the world back in the middle: the rest of the schedule goes on with what is there then.
TEST_F(ScheduleEdgesTest, ASystemMayGoBack) {
    ASSERT_TRUE(world().spawn_copies(100, Health{1}));
    const Tick before = rig_.commit();
    const Entity late = *world().spawn(Health{2}, Frozen{});
    world().edit_resource<Clock>()->ticks = 7;
    rig_.commit();

    std::uint32_t seen = 0;
    std::uint32_t ticks = 99;
    bool goes_back = false;
    schedule_->add("record", [&](Commands commands) {
        commands.add(late, Alert{1});
        commands.spawn(Position{1, 2});
    });
    schedule_->add("rewind", [&](World& all) {
        EXPECT_TRUE(all.spawn(Genome{}));
        if (goes_back) {
            EXPECT_TRUE(all.ring().rollback(before));
        }
    });
    schedule_->add("count", [&](Query<const Health&> all, Res<Clock> clock) {
        seen = all.count();
        ticks = clock->ticks++;
    });
    schedule_->stage("late");
    schedule_->add("age", [](Query<Health&, Without<Position>> all) {
        all.each([](Health& health) { ++health.points; });
    });
    ASSERT_TRUE(run());
    EXPECT_EQ(seen, 101U);
    EXPECT_EQ(ticks, 7U);
    rig_.commit();

    goes_back = true;
    const ScheduleReport report = run();
    ASSERT_TRUE(report);
    EXPECT_EQ(seen, 100U);
    EXPECT_EQ(ticks, 0U);
    // It is not alive there.
    EXPECT_EQ(report.commands.skipped, 1U);
    EXPECT_EQ(report.commands.skipped_entity, late);
    EXPECT_EQ(schedule_->name_at(report.commands.skipped_system), "record");
    EXPECT_EQ(rig_.commit(), before + 1);
    EXPECT_EQ(Query<const Genome&>(world()).count(), 0U);
    EXPECT_EQ(world().get<Health>(Query<Entity, const Health&>(world()).first())->points, 2);
}

TEST_F(ScheduleEdgesTest, ObserversChangeTheStructureBetweenStages) {
    ASSERT_EQ(on_add<Burning>(world(), [](World& own, Entity entity) { (void)own.destroy(entity); }),
              Status::ok);
    // The entity is gone already, so that nothing can be added to it.
    ASSERT_EQ(on_remove<Burning>(world(),
                                 [](World& own, Entity entity, const Burning& last) {
                                     EXPECT_EQ(own.add<Frozen>(entity).status(), Status::stale_handle);
                                     (void)own.spawn(Genome{}, Health{static_cast<std::int32_t>(last.ticks)});
                                 }),
              Status::ok);
    ASSERT_TRUE(world().spawn_copies(50, Position{}));
    schedule_->add("ignite", [](Query<Entity, const Position&> all, Commands commands) {
        all.each([&](Entity self, const Position&) { commands.add(self, Burning{5}); });
    });
    schedule_->stage("late");
    std::uint32_t born = 0;
    schedule_->add("look", [&](Query<const Genome&, const Health&> all) {
        all.each([&](const Genome&, const Health& health) {
            EXPECT_EQ(health.points, 5);
            ++born;
        });
    });
    const Tick before = rig_.commit();
    ASSERT_TRUE(run());
    EXPECT_EQ(born, 50U);
    EXPECT_EQ(Query<const Position&>(world()).count(), 0U);
    rig_.commit();
    const auto bytes = rig_.bytes();
    ASSERT_TRUE(rig_.ring().rollback(before));
    ASSERT_TRUE(run());
    rig_.commit();
    EXPECT_TRUE(rig_.bytes() == bytes);
}

TEST_F(ScheduleEdgesTest, AnObserverThatLeavesTheTickEndsTheDelivery) {
    static Tick back;
    static int calls;
    static bool spawns_then;
    back = rig_.commit();
    const auto leave = [](World& own, Entity) {
        if (++calls != 2) return;
        EXPECT_EQ(own.commit().status(), Status::busy);
        EXPECT_TRUE(own.ring().rollback(back));
        if (spawns_then) (void)own.spawn(Health{9});
    };
    ASSERT_EQ(on_add<Health>(world(), leave), Status::ok);
    ASSERT_EQ(on_add<Health>(world(), [](World&, Entity) { ++calls; }), Status::ok);
    for (const bool spawns : {false, true}) {
        spawns_then = spawns;
        // The second event is told to the first observer alone.
        calls = -1;
        ASSERT_TRUE(world().spawn_copies(10, Health{1}));
        EXPECT_EQ(world().deliver_events(), Status::tick_gone);
        EXPECT_EQ(calls, 2);
        EXPECT_EQ(world().stats().entities, spawns ? 1U : 0U);
        // What belongs to the tick of now is told in its turn.
        calls = 10;
        EXPECT_EQ(world().deliver_events(), Status::ok);
        EXPECT_EQ(calls, spawns ? 12 : 10);
    }
    rig_.commit();
}

}  // namespace
}  // namespace ouro
