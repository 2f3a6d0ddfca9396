#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/relations.hpp>

#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class BatchesTest : public EcsTest {
protected:
    // Three archetypes; every fourth one burns.
    std::vector<Entity> spawn_some(std::int32_t count) {
        std::vector<Entity> made;
        for (std::int32_t i = 0; i < count; ++i) {
            const Position position{static_cast<float>(i), 0};
            if (i % 3 == 0)
                made.push_back(*world().spawn(position, Health{i}));
            else if (i % 3 == 1)
                made.push_back(*world().spawn(position, Health{i}, Alert{static_cast<std::uint32_t>(i)}));
            else
                made.push_back(*world().spawn(Health{i}));
            if (i % 4 != 0) continue;
            EXPECT_TRUE(world().add(made.back(), Burning{static_cast<std::uint32_t>(i)}));
        }
        return made;
    }
    void expect_values(std::span<const Entity> entities) {
        for (std::size_t i = 0; i < entities.size(); ++i) {
            if (!world().is_alive(entities[i])) continue;
            EXPECT_EQ(world().get<Health>(entities[i])->points, static_cast<std::int32_t>(i));
            if (i % 3 != 2) {
                EXPECT_EQ(world().get<Position>(entities[i])->x, static_cast<float>(i));
            }
            EXPECT_EQ(world().has<Alert>(entities[i]), i % 3 == 1);
            EXPECT_EQ(world().has<Burning>(entities[i]), i % 4 == 0);
        }
    }
};

TEST_F(BatchesTest, DestroysWholeArchetypes) {
    const std::vector<Entity> entities = spawn_some(900);
    rig_.commit();
    EXPECT_EQ((destroy_all(Query<With<Position>, Without<Alert>>(world()))), 300U);
    EXPECT_EQ(world().stats().entities, 600U);
    for (std::size_t i = 0; i < entities.size(); ++i)
        ASSERT_EQ(world().is_alive(entities[i]), i % 3 != 0);
    expect_values(entities);
    rig_.commit();
    EXPECT_EQ((destroy_all(Query<Entity>(world()))), 600U);
    EXPECT_EQ(Query<const Burning&>(world()).count(), 0U);
    rig_.commit();
}

TEST_F(BatchesTest, DestroysTheRowsThatPass) {
    const std::vector<Entity> entities = spawn_some(900);
    for (std::size_t i = 1; i < 900; i += 6)
        ASSERT_TRUE(world().disable<Alert>(entities[i]));
    rig_.commit();
    rig_.commit();
    // Rows that are switched off stay.
    EXPECT_EQ((destroy_all(Query<const Alert&>(world()))), 150U);
    for (std::size_t i = 1; i < 900; i += 3)
        ASSERT_EQ(world().is_alive(entities[i]), i % 6 == 1);
    for (std::size_t i = 0; i < 900; i += 30)
        world().edit<Health>(entities[i])->points += 0;
    EXPECT_EQ((destroy_all(Query<ChangedNow<Health>>(world()))), 30U);
    EXPECT_EQ((destroy_all(Query<const Burning&, With<Position>, Without<Alert>>(world()))), 60U);
    EXPECT_EQ((destroy_all(Query<Without<Burning>, Without<Position>>(world()))), 225U);
    expect_values(entities);
    for (std::size_t i = 0; i < 900; ++i) {
        const bool is_gone = (i % 3 == 1 && i % 6 != 1) || i % 30 == 0 || (i % 3 == 0 && i % 4 == 0) ||
                             (i % 3 == 2 && i % 4 != 0);
        ASSERT_EQ(world().is_alive(entities[i]), !is_gone) << i;
    }
    rig_.commit();
}

TEST_F(BatchesTest, ThoseThatFollowMayBeAnywhere) {
    const std::vector<Entity> entities = spawn_some(600);
    for (std::size_t i = 0; i + 7 < 600; ++i)
        ASSERT_EQ(relate<ChildOf>(world(), entities[i + 7], entities[i]), Status::ok);
    (void)destroy_all(Query<const Burning&, With<Alert>>(world()));
    // 4 is the first that burns and is alert; each class modulo 7 goes from its first such one on.
    for (std::size_t i = 0; i < 600; ++i) {
        bool is_gone = false;
        for (std::size_t k = i % 7; k <= i; k += 7)
            is_gone |= k % 4 == 0 && k % 3 == 1;
        ASSERT_EQ(world().is_alive(entities[i]), !is_gone) << i;
    }
    rig_.commit();
    (void)destroy_all(Query<With<Health>>(world()));
    EXPECT_EQ(world().stats().entities, 0U);
    rig_.commit();
}

TEST_F(BatchesTest, MovesWholeArchetypes) {
    const std::vector<Entity> entities = spawn_some(3'000);
    for (std::size_t i = 1; i < 3'000; i += 6)
        ASSERT_TRUE(world().disable<Alert>(entities[i]));
    rig_.commit();
    rig_.commit();
    ASSERT_EQ(add_to_all(Query<With<Position>>(world()), Velocity{1, 2, 3}), Status::ok);
    EXPECT_EQ((Query<const Velocity&, const Position&>(world()).count()), 2'000U);
    EXPECT_EQ(world().get<Velocity>(entities[1])->z, 3);
    EXPECT_FALSE(world().has<Velocity>(entities[2]));
    expect_values(entities);
    for (std::size_t i = 1; i < 3'000; i += 3)
        ASSERT_EQ(world().is_enabled<Alert>(entities[i]), i % 6 != 1);
    // What moves counts as changed, as with one entity.
    EXPECT_EQ((Query<const Position&, ChangedNow<Position>>(world()).count()), 2'000U);
    rig_.commit();
    ASSERT_EQ(add_to_all(Query<With<Health>>(world()), Frozen{}), Status::ok);
    EXPECT_EQ(Query<With<Frozen>>(world()).count(), 3'000U);
    // Into what is there already.
    (void)world().spawn(Health{3'000});
    ASSERT_EQ(remove_from_all<Velocity>(Query<With<Velocity>>(world())), Status::ok);
    ASSERT_EQ(remove_from_all<Frozen>(Query<Entity>(world())), Status::ok);
    EXPECT_EQ(Query<With<Frozen>>(world()).count(), 0U);
    EXPECT_EQ(Query<With<Velocity>>(world()).count(), 0U);
    expect_values(entities);
    rig_.commit();
}

TEST_F(BatchesTest, MovesTheRowsThatPass) {
    const std::vector<Entity> entities = spawn_some(900);
    for (std::size_t i = 1; i < 900; i += 6)
        ASSERT_TRUE(world().disable<Alert>(entities[i]));
    ASSERT_EQ(add_to_all(Query<const Alert&>(world()), Frozen{}), Status::ok);
    EXPECT_EQ(Query<With<Frozen>>(world()).count(), 150U);
    ASSERT_EQ(add_to_all(Query<const Burning&>(world()), Velocity{1, 1, 1}), Status::ok);
    EXPECT_EQ((Query<With<Velocity>, const Burning&>(world()).count()), 225U);
    ASSERT_EQ(remove_from_all<Velocity>(Query<const Burning&, Without<Position>>(world())), Status::ok);
    EXPECT_EQ(Query<With<Velocity>>(world()).count(), 150U);
    expect_values(entities);
    rig_.commit();
    // Sparse ones of whole archetypes, and their own query.
    ASSERT_EQ(add_to_all(Query<With<Position>>(world()), Stunned{1, 2}), Status::ok);
    EXPECT_EQ(Query<const Stunned&>(world()).count(), 600U);
    ASSERT_EQ(remove_from_all<Stunned>(Query<const Stunned&, Without<Burning>>(world())), Status::ok);
    EXPECT_EQ(Query<const Stunned&>(world()).count(), 150U);
    rig_.commit();
}

TEST_F(BatchesTest, TakesLists) {
    std::vector<Entity> entities = spawn_some(900);
    ASSERT_EQ(world().destroy(entities[5]), Status::ok);
    ASSERT_EQ(add_to(world(), entities, Velocity{1, 2, 3}), Status::ok);
    ASSERT_EQ(add_to(world(), std::span(entities).first(100), Stunned{1, 2}), Status::ok);
    EXPECT_EQ(Query<With<Velocity>>(world()).count(), 899U);
    EXPECT_EQ(Query<const Stunned&>(world()).count(), 99U);
    rig_.commit();
    ASSERT_EQ(remove_from<Velocity>(world(), std::span(entities).subspan(50)), Status::ok);
    ASSERT_EQ(remove_from<Stunned>(world(), entities), Status::ok);
    EXPECT_EQ(Query<With<Velocity>>(world()).count(), 49U);
    EXPECT_EQ(Query<With<Stunned>>(world()).count(), 0U);
    expect_values(entities);
    EXPECT_EQ(world().destroy(entities), 899U);
    rig_.commit();
}

TEST_F(BatchesTest, AFullSegmentIsAStatusAndNothingHasChanged) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 20'000, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    World& world = small.world();
    ASSERT_TRUE(world.spawn_copies(12'000, Health{1}));
    ASSERT_TRUE(world.spawn_copies(500, Health{2}, Frozen{}));
    small.commit();
    EXPECT_EQ(add_to_all(Query<With<Health>>(world), Genome{}), Status::capacity_exhausted);
    EXPECT_EQ(Query<With<Genome>>(world).count(), 0U);
    std::vector<Entity> all;
    Query<Entity>(world).each([&](Entity entity) { all.push_back(entity); });
    EXPECT_EQ(add_to(world, all, Genome{}), Status::capacity_exhausted);
    EXPECT_EQ(add_to(world, all, BurningGenome{}), Status::capacity_exhausted);
    EXPECT_EQ(Query<With<Genome>>(world).count(), 0U);
    EXPECT_EQ(Query<With<BurningGenome>>(world).count(), 0U);
    EXPECT_EQ(Query<With<Health>>(world).count(), 12'500U);
    small.commit();
}

TEST_F(BatchesTest, AreRolledBack) {
    const std::vector<Entity> entities = spawn_some(900);
    const Tick before = rig_.commit();
    const auto bytes = rig_.bytes();
    const auto change = [&] {
        EXPECT_EQ(add_to_all(Query<With<Position>>(world()), Velocity{1, 2, 3}), Status::ok);
        (void)destroy_all(Query<With<Alert>>(world()));
        EXPECT_EQ(add_to(world(), entities, Stunned{1, 2}), Status::ok);
        rig_.commit();
        return rig_.bytes();
    };
    const auto after = change();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_TRUE(rig_.bytes() == bytes);
    EXPECT_TRUE(change() == after);
}

}  // namespace
}  // namespace ouro
