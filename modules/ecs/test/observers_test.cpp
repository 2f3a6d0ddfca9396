#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/prefabs.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class ObserversTest : public EcsTest {
protected:
    void watch_health() {
        auto* const seen = &seen_;
        ASSERT_EQ(on_add<Health>(world(), [seen](World&, Entity e) { seen->push_back(text('+', e)); }),
                  Status::ok);
        ASSERT_EQ(on_remove<Health>(world(),
                                    [seen](World&, Entity e, const Health& last) {
                                        seen->push_back(
                                            text('-', e).append("=").append(std::to_string(last.points)));
                                    }),
                  Status::ok);
    }
    static std::string text(char what, Entity entity) {
        return std::string(1, what).append(std::to_string(entity.index()));
    }
    std::vector<std::string> take() {
        std::vector<std::string> taken;
        taken.swap(seen_);
        return taken;
    }
    using Texts = std::vector<std::string>;

    Texts seen_;
};

TEST_F(ObserversTest, EventsComeAtBarriersInOrder) {
    watch_health();
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Position{});
    ASSERT_TRUE(world().add(bob, Health{2}));
    ASSERT_TRUE(world().add(bob, Health{3}));
    ASSERT_TRUE(world().remove<Position>(bob));
    EXPECT_EQ(take(), Texts{});
    ASSERT_EQ(world().deliver_events(), Status::ok);
    EXPECT_EQ(take(), (Texts{"+0", "+1"}));
    ASSERT_TRUE(world().remove<Health>(bob));
    ASSERT_EQ(world().destroy(ada), Status::ok);
    (void)world().spawn(Health{5});
    rig_.commit();
    EXPECT_EQ(take(), (Texts{"-1=3", "-0=1", "+0"}));
    rig_.commit();
    EXPECT_EQ(take(), Texts{});
}

TEST_F(ObserversTest, ManyAtOnceAreAllSeen) {
    watch_health();
    ASSERT_TRUE(world().spawn_copies(100, Health{7}));
    ASSERT_EQ(world().deliver_events(), Status::ok);
    EXPECT_EQ(take().size(), 100U);
    ASSERT_EQ(add_to_all(Query<With<Health>>(world()), Frozen{}), Status::ok);
    ASSERT_EQ(world().deliver_events(), Status::ok);
    EXPECT_EQ(take().size(), 0U);
    ASSERT_EQ(remove_from_all<Health>(Query<With<Frozen>>(world())), Status::ok);
    ASSERT_EQ(add_to_all(Query<With<Frozen>>(world()), Health{8}), Status::ok);
    ASSERT_EQ(world().deliver_events(), Status::ok);
    const Texts seen = take();
    ASSERT_EQ(seen.size(), 200U);
    EXPECT_EQ(seen[99], "-99=7");
    EXPECT_EQ(seen[100], "+0");
    const Entity copy = *clone(world(), Query<Entity, With<Health>>(world()).first());
    EXPECT_EQ(destroy_all(Query<With<Health>>(world())), 101U);
    rig_.commit();
    EXPECT_EQ(take().size(), 102U);
    EXPECT_FALSE(world().is_alive(copy));
}

TEST_F(ObserversTest, SparseComponentsAndTagsAreObserved) {
    auto* const seen = &seen_;
    ASSERT_EQ(on_add<Burning>(world(), [seen](World&, Entity) { seen->push_back("burns"); }), Status::ok);
    ASSERT_EQ(
        on_remove<Burning>(world(),
                           [seen](World&, Entity, const Burning& last) {
                               seen->push_back(std::string("burnt ").append(std::to_string(last.ticks)));
                           }),
        Status::ok);
    ASSERT_EQ(on_remove<Frozen>(world(), [seen](World&, Entity) { seen->push_back("thaws"); }), Status::ok);
    ASSERT_EQ(on_remove<Link<ChildOf>>(
                  world(), [seen](World&, Entity, const Link<ChildOf>&) { seen->push_back("orphan"); }),
              Status::ok);
    const Entity ada = *world().spawn(Position{}, Burning{3}, Frozen{});
    ASSERT_TRUE(world().remove<Burning>(ada));
    ASSERT_TRUE(world().add(ada, Burning{4}));
    const Entity home = *world().spawn(Health{});
    ASSERT_EQ(relate<ChildOf>(world(), ada, home), Status::ok);
    ASSERT_EQ(world().destroy(home), Status::ok);
    rig_.commit();
    EXPECT_EQ(take(), (Texts{"burns", "burnt 3", "burns", "thaws", "burnt 4", "orphan"}));
}

TEST_F(ObserversTest, ChangesAreToldOnceATick) {
    std::vector<Entity> entities;
    for (int i = 0; i < 200; ++i)
        entities.push_back(*world().spawn(Position{}, Burning{}));
    rig_.commit();
    rig_.commit();
    auto* const seen = &seen_;
    ASSERT_EQ(on_change<Position>(world(),
                                  [seen](World& own, Entity e) {
                                      seen->push_back(text('p', e));
                                      // Of this tick as well, and no event.
                                      own.edit<Position>(e)->y += 1;
                                  }),
              Status::ok);
    ASSERT_EQ(on_change<Burning>(world(), [seen](World&, Entity e) { seen->push_back(text('b', e)); }),
              Status::ok);
    world().edit<Position>(entities[150])->x = 1;
    world().edit<Position>(entities[7])->x = 1;
    world().edit<Position>(entities[7])->x = 2;
    world().edit<Burning>(entities[9])->ticks = 2;
    ASSERT_EQ(world().deliver_events(), Status::ok);
    EXPECT_EQ(take(), Texts{});
    rig_.commit();
    EXPECT_EQ(take(), (Texts{"p7", "p150", "b9"}));
    EXPECT_EQ(world().get<Position>(entities[7])->y, 1);
    (void)world().spawn(Position{});
    rig_.commit();
    EXPECT_EQ(take(), Texts{"p200"});
}

TEST_F(ObserversTest, WhatObserversCauseComesInTheNextRound) {
    watch_health();
    ASSERT_EQ(on_add<Health>(world(),
                             [](World& own, Entity entity) {
                                 const Health* const health = own.get<Health>(entity);
                                 if (health == nullptr || health->points == 0) return;
                                 (void)own.spawn(Health{health->points - 1});
                             }),
              Status::ok);
    ASSERT_EQ(
        on_remove<Health>(world(), [](World& own, Entity,
                                      const Health&) { EXPECT_EQ(own.deliver_events(), Status::busy); }),
        Status::ok);
    (void)world().spawn(Health{2});
    const Entity other = *world().spawn(Health{0});
    ASSERT_EQ(world().destroy(other), Status::ok);
    EXPECT_EQ(world().commit().status(), Status::ok);
    EXPECT_EQ(take(), (Texts{"+0", "+1", "-1=0", "+1", "+2"}));
}

TEST_F(ObserversTest, EndlessRoundsAreAStatus) {
    ASSERT_EQ(on_add<Health>(world(), [](World& own, Entity) { (void)own.spawn(Health{1}); }), Status::ok);
    (void)world().spawn(Health{2});
    EXPECT_EQ(world().deliver_events(), Status::rate_limited);
    EXPECT_EQ(world().stats().entities, 65U);
    EXPECT_EQ(world().commit().status(), Status::rate_limited);
    EXPECT_EQ(world().stats().entities, 129U);
}

TEST_F(ObserversTest, LostEventsAreAStatus) {
    EcsRig small(std::uint64_t{4} << 20,
                 {.max_entities = 20'000, .max_archetypes = 16, .event_bytes = 16 * std::size_t{100}});
    ASSERT_TRUE(small.is_ready());
    static std::uint32_t calls;
    calls = 0;
    ASSERT_EQ(on_add<Health>(small.world(), [](World&, Entity) { ++calls; }), Status::ok);
    ASSERT_TRUE(small.world().spawn_copies(101, Health{1}));
    EXPECT_EQ(small.world().commit().status(), Status::capacity_exhausted);
    EXPECT_EQ(calls, 100U);
    small.commit();
    ASSERT_TRUE(small.world().spawn_copies(100, Health{1}));
    small.commit();
    EXPECT_EQ(calls, 200U);
}

TEST_F(ObserversTest, ARollbackDropsWhatWasNotDelivered) {
    watch_health();
    const Tick before = rig_.commit();
    (void)world().spawn(Health{1});
    ASSERT_TRUE(rig_.ring().rollback(before));
    ASSERT_EQ(world().deliver_events(), Status::ok);
    EXPECT_EQ(take(), Texts{});
    (void)world().spawn(Health{2});
    ASSERT_TRUE(rig_.ring().rollback(before));
    (void)world().spawn(Position{}, Health{3});
    rig_.commit();
    EXPECT_EQ(take(), Texts{"+0"});
}

TEST_F(ObserversTest, SimulatingAgainGivesTheSameBytes) {
    ASSERT_EQ(on_remove<Health>(world(),
                                [](World& own, Entity, const Health& last) {
                                    (void)own.spawn(Position{static_cast<float>(last.points), 0});
                                }),
              Status::ok);
    std::vector<Entity> entities;
    for (int i = 0; i < 100; ++i)
        entities.push_back(*world().spawn(Health{i}));
    const Tick before = rig_.commit();
    const auto simulate = [&] {
        for (std::size_t i = 0; i < 100; i += 7)
            EXPECT_EQ(world().destroy(entities[i]), Status::ok);
        rig_.commit();
        return rig_.bytes();
    };
    const auto first = simulate();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_TRUE(simulate() == first);
}

void burn_out(Query<Entity, const Burning&> burning, Commands commands) {
    burning.each([&](Entity entity, const Burning&) { commands.remove<Burning>(entity); });
}
TEST_F(ObserversTest, ASchedulesBarriersDeliver) {
    ASSERT_EQ(on_remove<Burning>(
                  world(), [](World& own, Entity entity, const Burning&) { (void)own.add<Frozen>(entity); }),
              Status::ok);
    (void)world().spawn(Burning{1});
    (void)world().spawn(Burning{1});
    auto pool = JobPool::create({.workers = 2});
    ASSERT_TRUE(pool);
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(memory);
    Schedule schedule{Allocator(*memory)};
    schedule.add<burn_out>();
    schedule.stage("late");
    std::uint32_t frozen = 0;
    schedule.add("count", [&](Query<With<Frozen>> all) { frozen = all.count(); });
    EXPECT_TRUE(schedule.run(world(), *pool));
    EXPECT_EQ(frozen, 2U);
    rig_.commit();
}

// What changes after a commit that failed is told by the one that does not.
TEST_F(ObserversTest, ChangesAfterACommitThatFailedAreTold) {
    struct Told {
        std::vector<Entity> entities;
        bool storms = true;
        int rounds = 0;
    } told;
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Health{1});
    rig_.commit();
    rig_.commit();
    const auto hear = [own = &told](World& there, Entity entity) {
        own->entities.push_back(entity);
        if (own->storms) static_cast<void>(there.add(entity, Frozen{}));
    };
    const auto storm = [own = &told](World& there, Entity entity) {
        if (!own->storms || ++own->rounds > 200) return;
        static_cast<void>(there.remove<Frozen>(entity));
        static_cast<void>(there.add(entity, Frozen{}));
    };
    ASSERT_EQ(on_change<Health>(world(), hear), Status::ok);
    ASSERT_EQ(on_add<Frozen>(world(), storm), Status::ok);
    world().edit<Health>(ada)->points = 2;
    EXPECT_EQ(world().commit().status(), Status::rate_limited);
    EXPECT_EQ(told.entities, std::vector<Entity>{ada});
    told.storms = false;
    world().edit<Health>(bob)->points = 3;
    rig_.commit();
    // The tick was not whole: what was told of it is told again.
    EXPECT_EQ(std::ranges::count(told.entities, bob), 1);
    EXPECT_EQ(std::ranges::count(told.entities, ada), 2);
    told.entities.clear();
    rig_.commit();
    EXPECT_TRUE(told.entities.empty());
}

}  // namespace
}  // namespace ouro
