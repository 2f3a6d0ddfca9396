// Looking at a world changes nothing in it: peers of which one looks more often have the same image.
#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <functional>
#include <utility>

namespace ouro {
namespace {

using namespace testing_support;

struct Score {
    std::uint32_t points;
};
struct Clock {
    std::uint32_t ticks;
};
struct Cool {
    std::uint32_t ticks;
};

class RegistryTest : public EcsTest {
protected:
    // What a peer sees that looks in this way, beside one that does not.
    void expect_same(const std::function<void(World&)>& look) {
        EcsRig looking;
        EcsRig other;
        ASSERT_TRUE(looking.is_ready() && other.is_ready());
        for (EcsRig* const rig : {&looking, &other})
            ASSERT_TRUE(rig->world().spawn(Position{1, 2}));
        look(looking.world());
        looking.commit();
        other.commit();
        EXPECT_TRUE(looking.bytes() == other.bytes());
        // The order of numbers is that of making things known.
        for (EcsRig* const rig : {&looking, &other}) {
            ASSERT_TRUE(rig->world().spawn(Velocity{1, 2, 3}, Health{1}, Frozen{}, Burning{2}));
            rig->world().edit_resource<Score>()->points = 3;
        }
        look(looking.world());
        looking.commit();
        other.commit();
        EXPECT_TRUE(looking.bytes() == other.bytes());
    }
};

TEST_F(RegistryTest, QueriesMakeNothingKnown) {
    expect_same([](World& world) {
        static_cast<void>(Query<const Health&>(world).count());
        static_cast<void>(Query<const Position&, Without<Frozen>>(world).count());
        static_cast<void>(Query<const Position&, Optional<const Velocity&>>(world).first());
        static_cast<void>(Query<Changed<Genome>>(world).count());
        static_cast<void>(Query<const Alert&>(world).count());
        static_cast<void>(Query<const Burning&, Without<Stunned>>(world).count());
        static_cast<void>(Query<const Position&, With<Stunned>>(world).count());
    });
}

TEST_F(RegistryTest, ResourcesThatAreReadAreNotMade) {
    expect_same([](World& world) {
        ASSERT_NE(world.resource<Clock>(), nullptr);
        EXPECT_EQ(world.resource<Clock>()->ticks, 0U);
        static_cast<void>(world.resource<Score>());
    });
    EXPECT_EQ(world().resource<Clock>()->ticks, 0U);
    world().edit_resource<Clock>()->ticks = 7;
    EXPECT_EQ(world().resource<Clock>()->ticks, 7U);
    ASSERT_TRUE(world().spawn(Health{1}));
    EXPECT_EQ(world().resource<Health>(), nullptr);
    EXPECT_EQ(world().component<Clock>().status(), Status::wrong_layout);
}

TEST_F(RegistryTest, ObserversAndRemovalsMakeNothingKnown) {
    static std::uint32_t added;
    added = 0;
    bool is_first = true;
    expect_same([&](World& world) {
        if (std::exchange(is_first, false)) {
            ASSERT_EQ(on_add<Health>(world, [](World&, Entity) { ++added; }), Status::ok);
        }
        const Entity all[] = {Query<Entity>(world).first()};
        EXPECT_EQ(remove_from<Cool>(world, all), Status::ok);
        EXPECT_EQ(remove_from_all<Cool>(Query<const Position&>(world)), Status::ok);
    });
    EXPECT_EQ(added, 1U);
}

TEST_F(RegistryTest, SystemsThatReadMakeNothingKnown) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{1} << 24});
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(memory && pool);
    Schedule schedule(*memory);
    std::uint32_t seen = 0;
    schedule.add("draw", [&](Query<const Health&, Without<Frozen>> query, Res<const Clock> clock,
                             Query<const Burning&> burning, Res<const Score> score) {
        EXPECT_EQ(clock->ticks, 0U);
        EXPECT_FALSE(clock.is_changed());
        seen += query.count() + burning.count() + score->points;
    });
    expect_same([&](World& world) { ASSERT_TRUE(schedule.run(world, *pool)); });
    EXPECT_EQ(seen, 4U);
}

TEST_F(RegistryTest, NobodyHasWhatIsNotKnown) {
    const Entity ada = *world().spawn(Position{1, 2});
    const Query<const Position&, Without<Frozen>, Without<Stunned>> plain(world());
    const Query<Entity, Health&> healthy(world());
    const Query<const Burning&> burning(world());
    const Query<const Position&, Optional<const Health&>, Optional<const Burning&>> any(world());
    const Query<const Position&, Without<Alert>> calm(world());
    EXPECT_EQ(plain.count(), 1U);
    EXPECT_TRUE(plain.has(ada));
    EXPECT_EQ(healthy.count(), 0U);
    EXPECT_FALSE(healthy.has(ada));
    EXPECT_EQ(burning.count(), 0U);
    EXPECT_FALSE(burning.has(ada));
    EXPECT_EQ(calm.count(), 1U);
    any.each([](const Position&, const Health* health, const Burning* fire) {
        EXPECT_TRUE(health == nullptr && fire == nullptr);
    });
    EXPECT_EQ(any.count(), 1U);
    // From its first use on it is found, also by queries that were there before.
    ASSERT_TRUE(world().add(ada, Health{3}) && world().add(ada, Burning{4}));
    EXPECT_EQ(healthy.count(), 1U);
    EXPECT_EQ(burning.count(), 1U);
    std::uint32_t seen = 0;
    any.each([&](const Position&, const Health* health, const Burning* fire) {
        if (health != nullptr && fire != nullptr) ++seen;
    });
    EXPECT_EQ(seen, 1U);
    ASSERT_TRUE(world().add(ada, Stunned{1, 1}));
    EXPECT_EQ(plain.count(), 0U);
    ASSERT_TRUE(world().remove<Stunned>(ada) && world().add(ada, Frozen{}));
    EXPECT_FALSE(plain.has(ada));
    EXPECT_EQ(plain.count(), 0U);
    ASSERT_TRUE(world().add(ada, Alert{1}));
    EXPECT_EQ(calm.count(), 0U);
    ASSERT_TRUE(world().disable<Alert>(ada));
    EXPECT_EQ(calm.count(), 1U);
    rig_.commit();
}

// A world that was attached has what this program has not named yet.
TEST_F(RegistryTest, QueriesFindWhatIsThereByName) {
    const Entity ada = *world().spawn(Health{3}, Burning{4});
    world().edit_resource<Score>()->points = 5;
    rig_.commit();
    ASSERT_EQ(rig_.attach(), Status::ok);
    EXPECT_EQ(world().resource<Score>()->points, 5U);
    EXPECT_EQ((Query<const Health&, const Burning&>(world()).count()), 1U);
    EXPECT_EQ(world().get<Health>(ada)->points, 3);
}

}  // namespace
}  // namespace ouro
