#include "ecs_rig.hpp"

#include <ouro/ecs/past_world.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class PastWorldTest : public EcsTest {};

TEST_F(PastWorldTest, ReadsWhatWasThen) {
    const Entity ada = *world().spawn(Position{1, 2}, Health{5});
    const Tick first = rig_.commit();
    world().edit<Health>(ada)->points = 6;
    const Entity bob = *world().spawn(Position{3, 4}, Frozen{});
    const Tick second = rig_.commit();
    ASSERT_EQ(world().destroy(ada), Status::ok);
    rig_.commit();

    const auto past = world().at(first);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->get<Health>(ada)->points, 5);
    EXPECT_TRUE(past->is_alive(ada));
    EXPECT_EQ(past->get<Health>(bob).status(), Status::stale_handle);
    EXPECT_EQ(past->entity_count(), 1U);
    const auto later = world().at(second);
    ASSERT_TRUE(later);
    EXPECT_EQ(later->get<Health>(ada)->points, 6);
    EXPECT_EQ(later->get<Health>(bob).status(), Status::not_found);
    EXPECT_TRUE(later->has<Frozen>(bob));
    EXPECT_FALSE(later->has<Frozen>(ada));
    EXPECT_EQ((later->query<const Position&>().count()), 2U);
    EXPECT_EQ((later->query<const Position&, Without<Frozen>>().count()), 1U);
    EXPECT_EQ((later->query<With<Frozen>>().first()), bob);
    EXPECT_EQ(world().at(99).status(), Status::out_of_range);
    EXPECT_EQ(world().at(0).status(), Status::not_found);
}

TEST_F(PastWorldTest, RowsOverManyPagesComeInOrder) {
    std::int32_t next = 0;
    ASSERT_TRUE((world().spawn_many<Health, Velocity>(5'000, [&](Health& health, Velocity& velocity) {
        health.points = next++;
        velocity = {static_cast<float>(health.points), 0, 0};
    })));
    const Tick tick = rig_.commit();
    Query<Health&>(world()).each([](Health& health) { health.points = -1; });
    rig_.commit();
    const auto past = world().at(tick);
    ASSERT_TRUE(past);
    std::int32_t expected = 0;
    past->query<const Velocity&, Entity, const Health&, Optional<const Position&>>().each(
        [&](const Velocity& velocity, Entity entity, const Health& health, const Position* none) {
            ASSERT_EQ(health.points, expected++);
            ASSERT_EQ(velocity.x, static_cast<float>(health.points));
            ASSERT_TRUE(world().is_alive(entity));
            ASSERT_EQ(none, nullptr);
        });
    EXPECT_EQ(expected, 5'000);
    std::size_t rows = 0;
    past->query<const Health&>().chunks([&](std::span<const Health> span) { rows += span.size(); });
    EXPECT_EQ(rows, 5'000U);
}

TEST_F(PastWorldTest, ChangesAndSwitchesAreThoseOfThatTick) {
    std::vector<Entity> entities;
    for (std::uint32_t i = 0; i < 300; ++i)
        entities.push_back(*world().spawn(Alert{i}));
    rig_.commit();
    rig_.commit();
    world().edit<Alert>(entities[100])->level = 1000;
    ASSERT_TRUE(world().disable<Alert>(entities[7]));
    const Tick tick = rig_.commit();
    world().edit<Alert>(entities[200])->level = 2000;
    const Tick next = rig_.commit();
    ASSERT_TRUE(world().enable<Alert>(entities[7]));
    rig_.commit();

    const auto changed = [&](Tick which, auto query) {
        std::vector<std::uint32_t> seen;
        query(*world().at(which)).each([&](const Alert& alert) { seen.push_back(alert.level); });
        return seen;
    };
    const auto now = [](const PastWorld& past) { return past.query<const Alert&, ChangedNow<Alert>>(); };
    const auto both = [](const PastWorld& past) { return past.query<const Alert&, Changed<Alert>>(); };
    EXPECT_EQ(changed(tick, now), std::vector<std::uint32_t>{1000});
    EXPECT_EQ(changed(next, now), std::vector<std::uint32_t>{2000});
    EXPECT_EQ(changed(next, both), (std::vector<std::uint32_t>{1000, 2000}));
    EXPECT_EQ((world().at(tick)->query<const Alert&>().count()), 299U);
    EXPECT_EQ((world().at(tick - 1)->query<const Alert&>().count()), 300U);
}

// `auto query = world.at(tick)->query<...>()`: what made the query is gone at the end of the line.
TEST_F(PastWorldTest, AQueryKeepsItsTickWhenThePastWorldIsGone) {
    for (std::int32_t i = 0; i < 300; ++i)
        ASSERT_TRUE(world().spawn(Health{i}));
    const Tick tick = rig_.commit();
    const auto count_of = [](const auto& query) {
        std::int32_t next = 0;
        query.each([&](const Health& health) { EXPECT_EQ(health.points, next++); });
        return next;
    };
    std::optional query(world().at(tick)->query<const Health&>());
    auto other = *query;
    // More than is kept.
    for (int i = 0; i < 60; ++i) {
        Query<Health&>(world()).each([](Health& health) { health.points = -1; });
        rig_.commit();
    }
    ASSERT_FALSE(world().at(tick));
    EXPECT_EQ(count_of(*query), 300);
    query.reset();
    EXPECT_EQ(count_of(other), 300);
    // The lease goes from one to the other: of two worlds, with copies and moves of both.
    auto first = world().at(rig_.ring().newest() - 1);
    auto second = world().at(rig_.ring().newest());
    ASSERT_TRUE(first && second);
    auto of_first = first->query<const Health&>();
    auto moved = std::move(first);
    EXPECT_EQ(of_first.count(), 300U);
    of_first = other;
    other = second->query<const Health&>();
    moved = std::move(second);
    EXPECT_EQ(count_of(of_first), 300);
    EXPECT_EQ(other.count(), 300U);
    const auto last = moved->query<With<Health>>();
    moved = Status::not_found;
    EXPECT_EQ(last.count(), 300U);
    EXPECT_EQ(other.count(), 300U);
}

TEST_F(PastWorldTest, ChangesSinceATickAreThoseThatTheWorldHadThen) {
    std::vector<Entity> entities;
    for (std::int32_t i = 0; i < 1'000; ++i)
        entities.push_back(*world().spawn(Health{i}, Position{}));
    struct Told {
        Tick tick;
        std::vector<std::uint32_t> counts;
    };
    std::vector<Told> told;
    const auto since = [&](std::uint32_t world_tick, std::uint32_t age) { return world_tick - age; };
    for (std::uint32_t i = 0; i < 12; ++i) {
        if (i % 3 == 1) world().edit<Health>(entities[i * 70])->points = -1;
        if (i == 5) {
            ASSERT_TRUE(world().add<Frozen>(entities[3]));
        }
        if (i == 8) {
            ASSERT_EQ(world().destroy(entities[10]), Status::ok);
        }
        Told now;
        for (std::uint32_t age = 0; age < 6; ++age)
            now.counts.push_back(
                Query<const Health&>(world()).count_changed_since<Health>(since(world().tick(), age)));
        now.tick = rig_.commit();
        told.push_back(now);
    }
    std::uint32_t differing = 0;
    for (const Told& then : told) {
        const auto past = world().at(then.tick);
        ASSERT_TRUE(past);
        const auto query = past->query<const Health&>();
        for (std::uint32_t age = 0; age < 6; ++age) {
            const std::uint32_t first = since(past->header().tick - 1, age);
            EXPECT_EQ(query.count_changed_since<Health>(first), then.counts[age]) << then.tick << ' ' << age;
            std::uint32_t visited = 0;
            query.each_changed_since<Health>(first, [&](const Health&) { ++visited; });
            EXPECT_EQ(visited, then.counts[age]);
            differing += then.counts[age] != 0 && then.counts[age] < 900 ? 1U : 0U;
        }
    }
    EXPECT_GT(differing, 10U);
}

// Some burn, some of them are stunned too, and every second one is frozen.
class SparsePastTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        for (std::uint32_t i = 0; i < 300; ++i) {
            const Position position{static_cast<float>(i), 0};
            all_.push_back(i % 2 == 0 ? *world().spawn(position, Frozen{}) : *world().spawn(position));
            if (i % 3 == 0) {
                ASSERT_TRUE(world().add(all_[i], Burning{i}));
            }
            if (i % 20 == 0) {
                ASSERT_TRUE(world().add(all_[i], Stunned{i, 1}));
            }
        }
        ASSERT_TRUE(world().add(*world().spawn(Position{}, Prefab{}), Burning{5'000}));
        world().edit_resource<Health>()->points = 4;
        ASSERT_TRUE(world().remove<Burning>(all_[30]));
        rig_.commit();
        rig_.commit();
        world().edit<Burning>(all_[60])->ticks = 1'060;
        tick_ = rig_.commit();
    }
    // All of it is gone again.
    void put_out() {
        for (const Entity entity : all_)
            static_cast<void>(world().remove<Burning>(entity));
        ASSERT_EQ(world().destroy(all_[3]), Status::ok);
        world().edit_resource<Health>()->points = 5;
        rig_.commit();
    }

    std::vector<Entity> all_;
    Tick tick_ = 0;
};

// All that is asked of the past is asked of the present first.
TEST_F(SparsePastTest, QueriesFindWhatTheyFoundThen) {
    const auto seen = [](auto query) {
        std::vector<std::pair<Entity, std::uint32_t>> rows;
        query.each([&](Entity entity, const Burning& fire, const Stunned* stunned, const Position& position) {
            rows.emplace_back(entity, fire.ticks + (stunned != nullptr ? 10'000U + stunned->ticks : 0) +
                                          static_cast<std::uint32_t>(position.x));
        });
        return rows;
    };
    const auto order = [](auto query) {
        std::vector<Entity> rows;
        query.each([&](Entity entity, const Stunned&) { rows.push_back(entity); });
        return rows;
    };
    using Present = Query<Entity, const Burning&, Optional<const Stunned&>, const Position&, Without<Frozen>>;
    const auto wanted = seen(Present(world()));
    const auto stunned_too = order(Query<Entity, const Stunned&, With<Burning>>(world()));
    const std::uint32_t not_burning = Query<const Position&, Without<Burning>>(world()).count();
    const std::uint32_t prefabs = Query<const Burning&, With<Prefab>>(world()).count();
    put_out();
    const auto past = world().at(tick_);
    ASSERT_TRUE(past);
    EXPECT_GT(wanted.size(), 40U);
    EXPECT_EQ(seen(past->query<Entity, const Burning&, Optional<const Stunned&>, const Position&,
                               Without<Frozen>>()),
              wanted);
    EXPECT_EQ(order(past->query<Entity, const Stunned&, With<Burning>>()), stunned_too);
    EXPECT_EQ((past->query<const Position&, Without<Burning>>().count()), not_burning);
    EXPECT_EQ((past->query<const Burning&, With<Prefab>>().count()), prefabs);
    EXPECT_EQ((past->query<const Burning&, ChangedNow<Burning>>().first()), all_[60]);
    EXPECT_EQ((past->query<const Burning&, ChangedNow<Burning>>().count()), 1U);
    EXPECT_EQ((past->query<const BurningGenome&>().count()), 0U);
    EXPECT_EQ((past->query<const Position&, Without<BurningGenome>>().count()), 300U);
}

TEST_F(SparsePastTest, EntitiesAndResourcesAreRead) {
    put_out();
    const auto past = world().at(tick_);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->get<Burning>(all_[3])->ticks, 3U);
    EXPECT_EQ(past->get<Burning>(all_[60])->ticks, 1'060U);
    EXPECT_EQ(past->get<Burning>(all_[30]).status(), Status::not_found);
    EXPECT_EQ(past->get<BurningGenome>(all_[30]).status(), Status::not_found);
    EXPECT_TRUE(past->has<Burning>(all_[3]));
    EXPECT_FALSE(past->has<Burning>(all_[4]));
    EXPECT_TRUE((past->query<const Burning&, const Position&>().has(all_[3])));
    EXPECT_FALSE((past->query<const Burning&, With<Frozen>>().has(all_[3])));
    std::uint32_t ticks = 0;
    EXPECT_TRUE(
        (past->query<const Burning&, Entity>().visit(all_[3], [&](const Burning& fire, Entity entity) {
            ticks = fire.ticks + (entity == all_[3] ? 1 : 0);
        })));
    EXPECT_EQ(ticks, 4U);
    EXPECT_EQ(past->resource<Health>()->points, 4);
    EXPECT_EQ(past->resource<Velocity>().status(), Status::not_found);
}

// To the world, the tick that the ring ends goes on: what was written in it counts as changed there.
TEST_F(PastWorldTest, WhatATickOfTheRingAloneChangedIsFound) {
    std::vector<Entity> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(*world().spawn(Position{}, Burning{1}));
    rig_.commit();
    rig_.commit();
    rig_.commit();
    const std::uint32_t now = world().tick();
    world().edit<Position>(all[3])->x = 1;
    world().edit<Burning>(all[1])->ticks = 2;
    const auto tick = rig_.ring().commit();
    ASSERT_TRUE(tick);
    const Entity came = *world().spawn(Position{});
    const auto second = rig_.ring().commit();
    ASSERT_TRUE(second);
    rig_.commit();

    const auto past = world().at(*tick);
    ASSERT_TRUE(past);
    EXPECT_EQ((past->query<Changed<Position>>().first()), all[3]);
    EXPECT_EQ((past->query<Changed<Position>>().count()), 1U);
    EXPECT_EQ((past->query<ChangedNow<Position>>().count()), 1U);
    EXPECT_EQ((past->query<ChangedNow<Burning>>().first()), all[1]);
    for (std::uint32_t age = 0; age < 5; ++age)
        EXPECT_GE((past->query<const Position&>().count_changed_since<Position>(now - age)), 1U) << age;
    EXPECT_EQ((past->query<const Position&>().count_changed_since<Position>(now)), 1U);

    const auto later = world().at(*second);
    ASSERT_TRUE(later);
    EXPECT_TRUE((later->query<ChangedNow<Position>>().has(came)));
    EXPECT_TRUE((later->query<ChangedNow<Position>>().has(all[3])));
    EXPECT_EQ((later->query<ChangedNow<Position>>().count()), 2U);
    for (std::uint32_t age = 0; age < 5; ++age)
        EXPECT_GE((later->query<const Position&>().count_changed_since<Position>(now - age)), 2U) << age;
}

TEST_F(PastWorldTest, SwitchesAreReadByEntity) {
    const Entity ada = *world().spawn(Alert{1});
    const Entity bob = *world().spawn(Alert{2});
    ASSERT_TRUE(world().disable<Alert>(bob));
    const Tick tick = rig_.commit();
    ASSERT_TRUE(world().disable<Alert>(ada));
    ASSERT_TRUE(world().enable<Alert>(bob));
    rig_.commit();
    const auto past = world().at(tick);
    ASSERT_TRUE(past);
    EXPECT_TRUE(past->is_enabled<Alert>(ada));
    EXPECT_FALSE(past->is_enabled<Alert>(bob));
    EXPECT_FALSE(past->is_enabled<Position>(ada));
    EXPECT_TRUE((past->query<const Alert&>().has(ada)));
    EXPECT_FALSE((past->query<const Alert&>().has(bob)));
    EXPECT_FALSE((past->query<With<Alert>>().has(bob)));
    EXPECT_TRUE((past->query<Optional<const Alert&>>().has(bob)));
    EXPECT_EQ(past->get<Alert>(bob)->level, 2U);
}

}  // namespace
}  // namespace ouro
