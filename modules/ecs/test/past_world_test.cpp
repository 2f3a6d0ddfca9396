#include "ecs_rig.hpp"

#include <ouro/ecs/past_world.hpp>

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

}  // namespace
}  // namespace ouro
