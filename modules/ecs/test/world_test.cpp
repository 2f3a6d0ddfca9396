#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>

namespace ouro {
namespace {

using namespace testing_support;

class WorldTest : public EcsTest {};

TEST_F(WorldTest, SpawnsWhatItIsGiven) {
    const auto ada = world().spawn(Position{1, 2}, Velocity{3, 4, 5}, Frozen{});
    ASSERT_TRUE(ada) << status_name(ada.status());
    EXPECT_TRUE(world().is_alive(*ada));
    EXPECT_EQ(world().get<Position>(*ada)->y, 2);
    EXPECT_EQ(world().get<Velocity>(*ada)->z, 5);
    EXPECT_TRUE(world().has<Frozen>(*ada));
    EXPECT_FALSE(world().has<Health>(*ada));
    EXPECT_EQ(world().get<Health>(*ada), nullptr);
    EXPECT_EQ(world().check(), Status::ok);
}

TEST_F(WorldTest, StaleNamesAreNoticed) {
    const Entity first = *world().spawn(Position{1, 2});
    EXPECT_EQ(world().destroy(first), Status::ok);
    EXPECT_EQ(world().destroy(first), Status::stale_handle);
    const Entity second = *world().spawn(Position{3, 4});
    EXPECT_EQ(second.index(), first.index());
    EXPECT_FALSE(world().is_alive(first));
    EXPECT_EQ(world().get<Position>(first), nullptr);
    EXPECT_EQ(world().add(first, Health{1}).status(), Status::stale_handle);
    EXPECT_EQ(world().get<Position>(second)->x, 3);
}

TEST_F(WorldTest, ASlotWhoseGenerationsAreUsedUpIsNotUsedAgain) {
    const Entity first = *world().spawn(Health{1});
    Entity last = first;
    for (int i = 0; i < 65'534; ++i) {
        ASSERT_EQ(world().destroy(last), Status::ok);
        last = *world().spawn(Health{1});
        ASSERT_EQ(last.index(), first.index());
    }
    EXPECT_EQ(last.generation(), UINT16_MAX);
    ASSERT_EQ(world().destroy(last), Status::ok);
    const Entity other = *world().spawn(Health{2});
    EXPECT_NE(other.index(), first.index());
    EXPECT_EQ(world().stats().retired_slots, 1U);
    EXPECT_EQ(world().check(), Status::ok);
}

TEST_F(WorldTest, ComponentsComeAndGo) {
    const Entity ada = *world().spawn(Position{1, 2});
    const Entity bob = *world().spawn(Position{3, 4});
    ASSERT_TRUE(world().add(ada, Velocity{5, 6, 7}));
    ASSERT_TRUE(world().add<Frozen>(ada));
    EXPECT_EQ(world().get<Position>(ada)->x, 1);
    EXPECT_EQ(world().get<Velocity>(ada)->y, 6);
    EXPECT_EQ(world().get<Position>(bob)->x, 3);
    ASSERT_TRUE(world().add(ada, Position{9, 9}));
    EXPECT_EQ(world().get<Position>(ada)->x, 9);
    ASSERT_TRUE(world().remove<Position>(ada));
    EXPECT_EQ(world().get<Position>(ada), nullptr);
    EXPECT_EQ(world().get<Velocity>(ada)->z, 7);
    EXPECT_EQ(world().remove<Position>(ada).status(), Status::not_found);
    rig_.commit();
}

TEST_F(WorldTest, GrowsByBlocksAndMovesNothing) {
    std::vector<Entity> entities;
    for (std::uint32_t i = 0; i < 5'000; ++i)
        entities.push_back(*world().spawn(Health{static_cast<std::int32_t>(i)}, Position{0, 1}));
    const Health* const first = world().get<Health>(entities[0]);
    for (std::uint32_t i = 0; i < 5'000; ++i)
        entities.push_back(*world().spawn(Health{static_cast<std::int32_t>(5'000 + i)}, Position{0, 1}));
    EXPECT_EQ(world().get<Health>(entities[0]), first);
    for (std::size_t i = 0; i < entities.size(); ++i)
        ASSERT_EQ(world().get<Health>(entities[i])->points, static_cast<std::int32_t>(i));
    rig_.commit();
}

TEST_F(WorldTest, ManyAtOnceAreAllOrNone) {
    std::int32_t next = 0;
    ASSERT_TRUE(world().spawn_many<Health>(10'000, [&](Health& health) { health.points = next++; }));
    std::int32_t sum = 0;
    Query<const Health&>(world()).each([&](const Health& health) { sum += health.points; });
    EXPECT_EQ(sum, 9'999 * 10'000 / 2);
    EXPECT_EQ(world().spawn_copies(10'001, Health{1}).status(), Status::capacity_exhausted);
    EXPECT_EQ(world().stats().entities, 10'000U);
    ASSERT_TRUE(world().spawn_copies(10'000, Health{1}, Position{1, 1}));
    EXPECT_EQ(world().spawn(Health{1}).status(), Status::capacity_exhausted);
    rig_.commit();
}

TEST_F(WorldTest, AFullSegmentIsAStatusAndNothingIsLost) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 20'000, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    Status last = Status::ok;
    std::uint32_t count = 0;
    while ((last = small.world().spawn(Genome{}, Position{}).status()) == Status::ok)
        ++count;
    EXPECT_EQ(last, Status::capacity_exhausted);
    EXPECT_EQ(small.world().stats().entities, count);
    EXPECT_GT(count, 1000U);
    small.commit();
}

TEST_F(WorldTest, EverythingIsRolledBack) {
    const Entity ada = *world().spawn(Position{1, 2}, Health{5});
    const Tick before = rig_.commit();
    const auto bytes = rig_.bytes();
    const Entity bob = *world().spawn(Position{3, 4});
    ASSERT_EQ(world().destroy(ada), Status::ok);
    ASSERT_TRUE(world().add(bob, Velocity{1, 1, 1}));
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_TRUE(rig_.bytes() == bytes);
    EXPECT_TRUE(world().is_alive(ada));
    EXPECT_FALSE(world().is_alive(bob));
    // Other archetypes than the first time, under the same numbers.
    const Entity eve = *world().spawn(Velocity{7, 7, 7}, Frozen{});
    EXPECT_EQ(eve, bob);
    ASSERT_TRUE(world().add(eve, Health{3}));
    EXPECT_EQ(world().get<Velocity>(eve)->x, 7);
    EXPECT_EQ(world().get<Health>(eve)->points, 3);
    EXPECT_EQ(Query<const Velocity&>(world()).count(), 1U);
    EXPECT_EQ(Query<const Position&>(world()).count(), 1U);
    rig_.commit();
}

TEST_F(WorldTest, ComponentsAreSwitchedOffWithoutMoving) {
    std::vector<Entity> entities;
    for (std::uint32_t i = 0; i < 200; ++i)
        entities.push_back(*world().spawn(Alert{i}));
    for (std::uint32_t i = 0; i < 200; i += 2)
        ASSERT_TRUE(world().disable<Alert>(entities[i]));
    std::uint32_t odd = 0;
    Query<const Alert&>(world()).each([&](const Alert& alert) { odd += alert.level % 2; });
    EXPECT_EQ(odd, 100U);
    EXPECT_EQ(Query<const Alert&>(world()).count(), 100U);
    EXPECT_FALSE(world().is_enabled<Alert>(entities[0]));
    // The last one takes the first one's row, and stays as it was.
    ASSERT_EQ(world().destroy(entities[0]), Status::ok);
    EXPECT_TRUE(world().is_enabled<Alert>(entities[199]));
    ASSERT_TRUE(world().add(entities[2], Health{1}));
    EXPECT_FALSE(world().is_enabled<Alert>(entities[2]));
    ASSERT_TRUE(world().enable<Alert>(entities[2]));
    EXPECT_TRUE(world().is_enabled<Alert>(entities[2]));
    EXPECT_EQ(Query<const Alert&>(world()).count(), 101U);
    const Entity other = *world().spawn(Health{1});
    EXPECT_EQ(world().disable<Alert>(other).status(), Status::not_found);
    EXPECT_EQ(world().disable<Health>(other).status(), Status::bad_argument);
    rig_.commit();
}

TEST_F(WorldTest, CheckFindsDamage) {
    const Entity ada = *world().spawn(Position{1, 2});
    ASSERT_EQ(world().check(), Status::ok);
    auto& slot = const_cast<EntitySlot&>(
        *reinterpret_cast<const EntitySlot*>(world().core().at(world().core().header().entities)));
    const EntitySlot kept = slot;
    slot.row = 7;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    slot = kept;
    ++slot.generation;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    slot = kept;
    world().core().archetype(0).row_count = 3;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    world().core().archetype(0).row_count = 1;
    EXPECT_EQ(world().check(), Status::ok);
    EXPECT_TRUE(world().is_alive(ada));
}

}  // namespace
}  // namespace ouro
