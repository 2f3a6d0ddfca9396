#include "ecs_rig.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/prefabs.hpp>

namespace ouro {
namespace {

using namespace testing_support;

class PrefabsTest : public EcsTest {};

TEST_F(PrefabsTest, ACloneHasEverythingButTheName) {
    const Entity ada = *world().spawn(Position{1, 2}, Alert{3}, Frozen{}, Burning{4});
    const Entity home = *world().spawn(Health{1});
    ASSERT_TRUE(world().disable<Alert>(ada));
    ASSERT_EQ(set_name(world(), ada, "ada"), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), ada, home), Status::ok);
    rig_.commit();
    const auto copy = clone(world(), ada);
    ASSERT_TRUE(copy);
    EXPECT_NE(*copy, ada);
    EXPECT_EQ(world().get<Position>(*copy)->y, 2);
    EXPECT_EQ(world().get<Alert>(*copy)->level, 3U);
    EXPECT_FALSE(world().is_enabled<Alert>(*copy));
    EXPECT_TRUE(world().has<Frozen>(*copy));
    EXPECT_EQ(world().get<Burning>(*copy)->ticks, 4U);
    EXPECT_EQ(name_of(world(), *copy), "");
    EXPECT_EQ(target<ChildOf>(world(), *copy), home);
    EXPECT_EQ(count_sources<ChildOf>(world(), home), 2U);
    EXPECT_EQ(clone(world(), Entity()).status(), Status::stale_handle);
    rig_.commit();
    ASSERT_EQ(world().destroy(*copy), Status::ok);
    EXPECT_EQ(count_sources<ChildOf>(world(), home), 1U);
    rig_.commit();
}

TEST_F(PrefabsTest, QueriesPassOverPrefabs) {
    const Entity orc = *world().spawn(Position{1, 2}, Health{10}, Burning{2}, Prefab{});
    EXPECT_EQ(Query<const Position&>(world()).count(), 0U);
    EXPECT_EQ(Query<const Burning&>(world()).count(), 0U);
    EXPECT_EQ((Query<const Position&, With<Prefab>>(world()).count()), 1U);
    EXPECT_EQ((Query<const Burning&, With<Prefab>>(world()).count()), 1U);
    const Entity one = *spawn_from(world(), orc);
    EXPECT_FALSE(world().has<Prefab>(one));
    EXPECT_EQ(world().get<Health>(one)->points, 10);
    EXPECT_EQ(world().get<Burning>(one)->ticks, 2U);
    EXPECT_EQ(Query<const Position&>(world()).first(), one);
    EXPECT_EQ(Query<const Burning&>(world()).first(), one);
    const Tick tick = rig_.commit();
    const auto past = world().at(tick);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->query<const Position&>().count(), 1U);
    EXPECT_EQ((past->query<const Position&, With<Prefab>>().count()), 1U);
    // Without the tag it is as any other.
    ASSERT_TRUE(world().remove<Prefab>(orc));
    EXPECT_EQ(Query<const Position&>(world()).count(), 2U);
    rig_.commit();
}

TEST_F(PrefabsTest, TreesAreSpawnedAsWholes) {
    const Entity car = *world().spawn(Health{0}, Prefab{});
    std::vector<Entity> wheels;
    for (int i = 1; i <= 4; ++i) {
        wheels.push_back(*world().spawn(Health{i}, Prefab{}));
        ASSERT_EQ(relate<ChildOf>(world(), wheels.back(), car), Status::ok);
        for (int k = 0; k < 2; ++k) {
            const Entity bolt = *world().spawn(Health{10 * i + k}, Prefab{});
            ASSERT_EQ(relate<ChildOf>(world(), bolt, wheels.back()), Status::ok);
        }
    }
    rig_.commit();
    const auto copy = spawn_tree_from(world(), car);
    ASSERT_TRUE(copy);
    EXPECT_EQ(Query<const Health&>(world()).count(), 13U);
    EXPECT_EQ((Query<const Health&, With<Prefab>>(world()).count()), 13U);
    std::vector<std::int32_t> seen;
    each_source<ChildOf>(world(), *copy, [&](Entity wheel) {
        seen.push_back(world().get<Health>(wheel)->points);
        each_source<ChildOf>(world(), wheel,
                             [&](Entity bolt) { seen.push_back(world().get<Health>(bolt)->points); });
    });
    EXPECT_EQ(seen, (std::vector<std::int32_t>{1, 10, 11, 2, 20, 21, 3, 30, 31, 4, 40, 41}));
    EXPECT_EQ(count_sources<ChildOf>(world(), car), 4U);
    rig_.commit();
    ASSERT_EQ(world().destroy(*copy), Status::ok);
    EXPECT_EQ(world().stats().entities, 13U);
    rig_.commit();
}

TEST_F(PrefabsTest, AFullWorldIsAStatusAndNothingIsLost) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 40, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    const Entity car = *small.world().spawn(Health{0}, Burning{1}, Prefab{});
    for (int i = 1; i <= 9; ++i)
        ASSERT_EQ(relate<ChildOf>(small.world(), *small.world().spawn(Health{i}, Prefab{}), car), Status::ok);
    ASSERT_TRUE(spawn_tree_from(small.world(), car));
    ASSERT_TRUE(spawn_tree_from(small.world(), car));
    ASSERT_TRUE(small.world().spawn(Health{1}));
    EXPECT_EQ(spawn_tree_from(small.world(), car).status(), Status::capacity_exhausted);
    EXPECT_EQ(small.world().stats().entities, 31U);
    EXPECT_EQ(count_sources<ChildOf>(small.world(), car), 9U);
    small.commit();
}

TEST_F(PrefabsTest, ClonesAreRolledBack) {
    const Entity ada = *world().spawn(Position{1, 2}, Burning{4});
    const Tick before = rig_.commit();
    const auto bytes = rig_.bytes();
    const Entity first = *clone(world(), ada);
    rig_.commit();
    const auto after = rig_.bytes();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_TRUE(rig_.bytes() == bytes);
    EXPECT_EQ(*clone(world(), ada), first);
    rig_.commit();
    EXPECT_TRUE(rig_.bytes() == after);
}

}  // namespace
}  // namespace ouro
