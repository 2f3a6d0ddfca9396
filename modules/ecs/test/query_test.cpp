#include "ecs_rig.hpp"

#include <ouro/ecs/resource.hpp>

#include <algorithm>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class QueryTest : public EcsTest {
protected:
    std::vector<float> changed() {
        std::vector<float> seen;
        Query<const Position&, Changed<Position>>(world()).each(
            [&](const Position& p) { seen.push_back(p.x); });
        std::sort(seen.begin(), seen.end());
        return seen;
    }
    std::vector<float> changed_now() {
        std::vector<float> seen;
        Query<const Position&, ChangedNow<Position>>(world()).each(
            [&](const Position& p) { seen.push_back(p.x); });
        std::sort(seen.begin(), seen.end());
        return seen;
    }
};

TEST_F(QueryTest, MatchesWithAndWithout) {
    (void)world().spawn(Position{1, 0}, Velocity{10, 0, 0});
    (void)world().spawn(Position{2, 0});
    (void)world().spawn(Position{3, 0}, Velocity{30, 0, 0}, Frozen{});
    std::vector<float> moving;
    Query<Position&, const Velocity&, Without<Frozen>>(world()).each([&](Position& p, const Velocity& v) {
        p.x += v.x;
        moving.push_back(p.x);
    });
    EXPECT_EQ(moving, std::vector<float>{11});
    EXPECT_EQ((Query<With<Frozen>>(world()).count()), 1U);
    std::vector<bool> has;
    Query<const Position&, Optional<const Velocity&>>(world()).each(
        [&](const Position&, const Velocity* v) { has.push_back(v != nullptr); });
    EXPECT_EQ(std::count(has.begin(), has.end(), true), 2);
    EXPECT_EQ(has.size(), 3U);
}

TEST_F(QueryTest, NewArchetypesAreFound) {
    Query<const Position&> query(world());
    EXPECT_EQ(query.count(), 0U);
    EXPECT_TRUE(query.first().is_null());
    const Entity ada = *world().spawn(Position{1, 0});
    EXPECT_EQ(query.count(), 1U);
    EXPECT_EQ(query.first(), ada);
    (void)world().spawn(Position{1, 0}, Health{1});
    EXPECT_EQ(query.count(), 2U);
}

TEST_F(QueryTest, ChunksCoverEveryRowOnce) {
    ASSERT_TRUE(world().spawn_copies(1'000, Position{1, 0}, Velocity{2, 0, 0}));
    std::size_t rows = 0;
    Query<Entity, Position&, const Velocity&>(world()).chunks(
        [&](std::span<const Entity> names, std::span<Position> p, std::span<const Velocity> v) {
            ASSERT_EQ(p.size(), v.size());
            ASSERT_EQ(p.size(), names.size());
            rows += p.size();
        });
    EXPECT_EQ(rows, 1'000U);
}

TEST_F(QueryTest, ChangesAreSeenInThisTickAndTheNext) {
    std::vector<Entity> entities;
    for (int i = 0; i < 300; ++i)
        entities.push_back(*world().spawn(Position{static_cast<float>(i), 0}));
    EXPECT_EQ(changed().size(), 300U);
    rig_.commit();
    EXPECT_EQ(changed().size(), 300U);
    EXPECT_EQ(changed_now().size(), 0U);
    rig_.commit();
    EXPECT_EQ(changed().size(), 0U);
    world().edit<Position>(entities[70])->y = 1;
    world().edit<Position>(entities[200])->y = 1;
    EXPECT_EQ(changed_now(), (std::vector<float>{70, 200}));
    const Tick kept = rig_.commit();
    world().edit<Position>(entities[3])->y = 1;
    EXPECT_EQ(changed_now(), std::vector<float>{3});
    EXPECT_EQ(changed(), (std::vector<float>{3, 70, 200}));
    rig_.commit();
    EXPECT_EQ(changed(), std::vector<float>{3});
    rig_.commit();
    EXPECT_EQ(changed(), std::vector<float>{});
    ASSERT_TRUE(rig_.ring().rollback(kept));
    EXPECT_EQ(changed(), (std::vector<float>{70, 200}));
}

TEST_F(QueryTest, MutCountsOnlyWhatWasWritten) {
    for (int i = 0; i < 200; ++i)
        (void)world().spawn(Position{static_cast<float>(i), 0});
    rig_.commit();
    rig_.commit();
    Query<Mut<Position>>(world()).each([](Mut<Position> p) {
        if (p->x == 50 || p->x == 130) p.edit().y = 2;
    });
    EXPECT_EQ(changed_now(), (std::vector<float>{50, 130}));
    rig_.commit();
    Query<Position&>(world()).each([](Position& p) { p.y = 3; });
    EXPECT_EQ(changed_now().size(), 200U);
    rig_.commit();
}

TEST_F(QueryTest, AChangeGoesWithItsRow) {
    std::vector<Entity> entities;
    for (int i = 0; i < 200; ++i)
        entities.push_back(*world().spawn(Position{static_cast<float>(i), 0}));
    rig_.commit();
    rig_.commit();
    world().edit<Position>(entities[199])->y = 1;
    ASSERT_EQ(world().destroy(entities[0]), Status::ok);
    EXPECT_EQ(changed_now(), std::vector<float>{199});
    ASSERT_EQ(world().destroy(entities[199]), Status::ok);
    EXPECT_EQ(changed_now(), std::vector<float>{});
    (void)world().spawn(Position{500, 0});
    ASSERT_EQ(world().destroy(entities[1]), Status::ok);
    EXPECT_EQ(changed_now(), std::vector<float>{500});
    rig_.commit();
    EXPECT_EQ(changed(), std::vector<float>{500});
    rig_.commit();
    EXPECT_EQ(changed(), std::vector<float>{});
}

TEST_F(QueryTest, OneEntityIsVisited) {
    const Entity ada = *world().spawn(Position{1, 0}, Health{1});
    const Entity bob = *world().spawn(Position{1, 0});
    rig_.commit();
    rig_.commit();
    Query<Position&, const Health&> query(world());
    EXPECT_TRUE(query.visit(
        ada, [](Position& p, const Health& health) { p.x += static_cast<float>(health.points); }));
    EXPECT_EQ(world().get<Position>(ada)->x, 2);
    EXPECT_EQ(changed_now(), std::vector<float>{2});
    EXPECT_FALSE(query.has(bob));
    EXPECT_TRUE(query.has(ada));
    rig_.commit();
}

TEST_F(QueryTest, WorkersWriteEveryRow) {
    auto pool = JobPool::create({.workers = 3});
    ASSERT_TRUE(pool);
    ASSERT_TRUE(world().spawn_copies(10'000, Position{1, 0}, Velocity{2, 0, 0}));
    rig_.commit();
    rig_.commit();
    Query<Position&, const Velocity&>(world()).parallel_each(
        *pool, [](Position& p, const Velocity& v) { p.x += v.x; });
    Query<Mut<Velocity>>(world()).parallel_each(*pool, [](Mut<Velocity> v) { v.edit().y = 1; });
    float sum = 0;
    Query<const Position&, const Velocity&>(world()).each(
        [&](const Position& p, const Velocity& v) { sum += p.x + v.y; });
    EXPECT_EQ(sum, 40'000);
    EXPECT_EQ(changed_now().size(), 10'000U);
    rig_.commit();
}

// As if so many ticks had passed; the world itself sweeps at each multiple of kAgingTicks.
TEST_F(QueryTest, WhatWasLeftAloneForAllTicksThereAreIsNotChanged) {
    const Entity ada = *world().spawn(Position{1, 0}, Burning{1});
    ASSERT_TRUE(world().spawn(Velocity{}));
    world().edit_resource<Health>()->points = 1;
    world().edit<Position>(ada)->x = 2;
    world().edit<Burning>(ada)->ticks = 2;
    rig_.commit();
    world().edit<Position>(ada)->x = 3;
    world().edit<Burning>(ada)->ticks = 3;
    world().edit_resource<Health>()->points = 2;
    const std::uint32_t written = world().core().now();
    rig_.commit();
    const auto jump = [&](std::uint32_t tick) {
        auto& header = const_cast<WorldHeader&>(world().core().header());
        world().core().declare(&header, sizeof(header));
        header.tick = tick - 1;
        rig_.commit();
    };
    const auto count = [&] {
        return Query<Changed<Position>>(world()).count() + Query<Changed<Burning>>(world()).count() +
               Query<Changed<Velocity>>(world()).count() +
               (Res<const Health>(world().core()).is_changed() ? 1U : 0U);
    };
    EXPECT_EQ(count(), 3U);
    for (std::uint32_t round = 1; round <= 4; ++round) {
        jump(round * detail::WorldCore::kAgingTicks);
        EXPECT_EQ(count(), 0U) << round;
    }
    // The number that it was written in once more.
    for (const std::uint32_t tick : {written - 1, written, written + 1}) {
        jump(tick);
        EXPECT_EQ(count(), 0U) << tick;
    }
    world().edit<Position>(ada)->x = 4;
    EXPECT_EQ(count(), 1U);
    rig_.commit();
}

}  // namespace
}  // namespace ouro
