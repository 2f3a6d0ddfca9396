#include "ecs_rig.hpp"

#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/worlds.hpp>
#include <ouro/memory/system_allocator.hpp>

namespace ouro {
namespace {

using namespace testing_support;

// Types have other numbers in each.
TEST(TwoWorlds, OfTwoRingsKnowNothingOfEachOther) {
    EcsRig one;
    EcsRig other;
    ASSERT_TRUE(one.is_ready() && other.is_ready());
    ASSERT_TRUE(one.world().component<Position>() && one.world().component<Health>());
    ASSERT_TRUE(other.world().component<Burning>() && other.world().component<Health>());
    ASSERT_TRUE(other.world().component<Position>());
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(one.world().spawn(Position{1, 0}, Health{i}));
        ASSERT_TRUE(i % 2 == 0 ? other.world().spawn(Health{i}, Position{2, 0})
                               : other.world().spawn(Health{i}, Burning{1}));
    }
    const Tick before = one.commit();
    other.commit();
    const auto count = [](World& world) { return Query<const Position&, const Health&>(world).count(); };
    EXPECT_EQ(count(one.world()), 100U);
    EXPECT_EQ(count(other.world()), 50U);
    // Each of its own, in a loop over the other's.
    Query<const Position&>(one.world()).each([&](const Position&) { ASSERT_EQ(count(other.world()), 50U); });
    const Entity ada = *one.world().spawn(Health{1000});
    EXPECT_EQ(other.world().get<Health>(ada), nullptr);
    ASSERT_TRUE(one.ring().rollback(before));
    EXPECT_EQ(count(one.world()), 100U);
    EXPECT_EQ(count(other.world()), 50U);
    one.commit();
    other.commit();
}

TEST(TwoWorlds, OneScheduleRunsOnBoth) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto pool = JobPool::create({.workers = 1});
    ASSERT_TRUE(memory && pool);
    const auto add_systems = [](Schedule& schedule) {
        schedule.add("age", [](Query<Entity, Mut<Health>> all, Commands commands) {
            all.each([&](Entity self, Mut<Health> health) {
                if (--health.edit().points < 0) commands.destroy(self);
            });
        });
        schedule.add("breed", [](Query<const Health&> all, Commands commands) {
            if (all.count() % 3 != 0) commands.spawn(Health{7}, Position{1, 1});
        });
    };
    Schedule shared(*memory);
    add_systems(shared);
    std::array<EcsRig, 2> rigs;
    std::array<EcsRig, 2> alone;
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(rigs[i].is_ready() && alone[i].is_ready());
        for (int n = 0; n < 20; ++n)
            for (EcsRig* const rig : {&rigs[i], &alone[i]})
                ASSERT_TRUE(rig->world().spawn(Health{n + static_cast<int>(i)}));
        Schedule own(*memory);
        add_systems(own);
        for (int tick = 0; tick < 12; ++tick) {
            ASSERT_TRUE(own.run(alone[i].world(), *pool));
            alone[i].commit();
        }
    }
    for (int tick = 0; tick < 12; ++tick) {
        for (EcsRig& rig : rigs) {
            ASSERT_TRUE(shared.run(rig.world(), *pool));
            rig.commit();
        }
    }
    EXPECT_TRUE(rigs[0].bytes() == alone[0].bytes());
    EXPECT_TRUE(rigs[1].bytes() == alone[1].bytes());
}

// Two segments of one ring.
class OneRingTest : public testing::Test {
protected:
    void SetUp() override {
        const std::array segments = {SegmentOptions{.name = "sea", .bytes = std::uint64_t{2} << 20},
                                     SegmentOptions{.name = "land", .bytes = std::uint64_t{2} << 20}};
        auto ring = StateRing::create(
            {.segments = segments, .history_ticks = 20, .history_bytes = std::uint64_t{32} << 20});
        ASSERT_TRUE(ring);
        ring_.emplace(*std::move(ring));
        for (const char* const name : {"sea", "land"}) {
            auto world = World::create(*ring_, {.segment = name, .max_entities = 500, .max_archetypes = 16});
            ASSERT_TRUE(world);
            worlds_.push_back(*std::move(world));
        }
    }
    Expected<Tick> commit() {
        const std::array both = {&worlds_[0], &worlds_[1]};
        return commit_together(both);
    }

    std::optional<StateRing> ring_;
    std::vector<World> worlds_;
};

TEST_F(OneRingTest, TicksEndTogether) {
    World& sea = worlds_[0];
    World& land = worlds_[1];
    const Entity fish = *sea.spawn(Health{1});
    const Entity bird = *land.spawn(Position{}, Health{2});
    ASSERT_TRUE(commit());
    const Tick before = *commit();
    EXPECT_EQ(Query<ChangedNow<Health>>(land).count(), 0U);
    EXPECT_EQ(Query<Changed<Health>>(sea).count(), 0U);
    sea.edit<Health>(fish)->points = 10;
    land.edit<Health>(bird)->points = 20;
    EXPECT_EQ(*commit(), before + 1);
    // Of both worlds the tick before.
    EXPECT_EQ(Query<Changed<Health>>(sea).count(), 1U);
    EXPECT_EQ(Query<Changed<Health>>(land).count(), 1U);
    EXPECT_EQ(Query<ChangedNow<Health>>(land).count(), 0U);
    ASSERT_TRUE(ring_->rollback(before));
    EXPECT_EQ(sea.get<Health>(fish)->points, 1);
    EXPECT_EQ(land.get<Health>(bird)->points, 2);
    const auto past = land.at(before);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->query<const Health&>().count(), 1U);
    EXPECT_EQ(sea.check(), Status::ok);
    EXPECT_EQ(land.check(), Status::ok);
}

TEST_F(OneRingTest, EventsGoFromOneToTheOther) {
    World* const sea = &worlds_[0];
    World* const land = &worlds_[1];
    ASSERT_TRUE(commit());
    // What dies in the sea is born on land, and goes back into the sea once.
    ASSERT_EQ(
        on_remove<Health>(*sea, [land](World&, Entity, const Health&) { (void)land->spawn(Position{}); }),
        Status::ok);
    ASSERT_EQ(on_add<Position>(*land, [sea](World&, Entity) { (void)sea->spawn(Velocity{}); }), Status::ok);
    ASSERT_EQ(on_change<Velocity>(*sea, [land](World&, Entity) { (void)land->spawn(Genome{}); }), Status::ok);
    const Entity fish = *sea->spawn(Health{1});
    ASSERT_TRUE(commit());
    ASSERT_EQ(sea->destroy(fish), Status::ok);
    ASSERT_TRUE(commit());
    EXPECT_EQ(Query<const Position&>(*land).count(), 1U);
    EXPECT_EQ(Query<const Velocity&>(*sea).count(), 1U);
    EXPECT_EQ(Query<const Genome&>(*land).count(), 1U);
    // Endlessly.
    ASSERT_EQ(on_add<Velocity>(*sea, [land](World&, Entity) { (void)land->spawn(Position{}); }), Status::ok);
    ASSERT_TRUE(land->spawn(Position{}));
    EXPECT_EQ(commit().status(), Status::rate_limited);
}

TEST_F(OneRingTest, WhatIsNotOneRingsIsRefused) {
    EcsRig other;
    ASSERT_TRUE(other.is_ready());
    const std::array twice = {&worlds_[0], &worlds_[0]};
    const std::array mixed = {&worlds_[0], &other.world()};
    EXPECT_EQ(commit_together(twice).status(), Status::bad_argument);
    EXPECT_EQ(commit_together(mixed).status(), Status::bad_argument);
    EXPECT_EQ(commit_together({}).status(), Status::bad_argument);
    EXPECT_EQ(ring_->newest(), 0U);
}

TEST_F(OneRingTest, SimulatesTheSameAgain) {
    World& sea = worlds_[0];
    World& land = worlds_[1];
    const std::array both = {&sea, &land};
    ASSERT_EQ(on_change<Health>(sea, [other = &land](World&, Entity) { (void)other->spawn(Position{}); }),
              Status::ok);
    const Entity fish = *sea.spawn(Health{1});
    const auto step = [&](Tick tick) { sea.edit<Health>(fish)->points += static_cast<std::int32_t>(tick); };
    for (Tick tick = 1; tick < 10; ++tick) {
        step(tick);
        ASSERT_TRUE(commit());
        const auto outcome = sync_test(both, 3, step);
        ASSERT_TRUE(outcome) << status_name(outcome.status());
        EXPECT_FALSE(outcome->differs) << tick;
        EXPECT_EQ(outcome->ticks, tick < 4 ? 0U : 3U);
    }
    EXPECT_EQ(Query<const Position&>(land).count(), 9U);
    // What is counted outside the worlds is not taken back.
    std::int32_t calls = 0;
    const auto bad_step = [&](Tick) { sea.edit<Health>(fish)->points = ++calls; };
    bad_step(0);
    ASSERT_TRUE(commit());
    const auto outcome = sync_test(both, 1, bad_step);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->differs);
    const auto alone = sync_test(both, 0, step);
    EXPECT_EQ(alone.status(), Status::bad_argument);
}

TEST(WorldSyncTest, OfOneWorld) {
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    const Entity ada = *rig.world().spawn(Health{1});
    rig.commit();
    const auto step = [&](Tick) { ++rig.world().edit<Health>(ada)->points; };
    for (int tick = 0; tick < 5; ++tick) {
        step(0);
        rig.commit();
        const auto outcome = sync_test(rig.world(), 2, step);
        ASSERT_TRUE(outcome);
        EXPECT_FALSE(outcome->differs);
        EXPECT_EQ((Query<Changed<Health>>(rig.world()).count()), 1U);
    }
    EXPECT_EQ(rig.world().get<Health>(ada)->points, 6);
}

// As a function does that makes both and returns them.
struct Game {
    StateRing ring;
    World world;
};
Expected<Game> make_game() {
    const SegmentOptions segment{.name = "world", .bytes = 4 << 20};
    auto ring = StateRing::create({.segments = {&segment, 1}, .history_bytes = 32 << 20});
    if (!ring) return ring.status();
    auto world = World::create(*ring, {.max_entities = 100, .max_archetypes = 8});
    if (!world) return world.status();
    return Game{*std::move(ring), *std::move(world)};
}

TEST(MovedRing, AWorldFindsItsRing) {
    auto made = make_game();
    ASSERT_TRUE(made);
    const Entity ada = *made->world.spawn(Position{1, 2});
    const auto first = made->world.commit();
    ASSERT_TRUE(first);
    Game game{StateRing(), std::move(made->world)};
    game.ring = std::move(made->ring);
    game.world.edit<Position>(ada)->x = 5;
    ASSERT_TRUE(game.world.commit());
    const auto past = game.world.at(*first);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->get<Position>(ada)->x, 1);
    ASSERT_TRUE(game.ring.rollback(*first));
    EXPECT_EQ(game.world.get<Position>(ada)->x, 1);
}

}  // namespace
}  // namespace ouro
