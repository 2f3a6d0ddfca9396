// At the ends of tables, and with what is no more.
#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/command_queue.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/prefabs.hpp>
#include <ouro/ecs/relations.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <string>
#include <utility>

namespace ouro {
namespace {

using namespace testing_support;

class LimitsTest : public EcsTest {};

template <std::size_t kNumber>
struct Numbered {
    std::uint32_t value;
};

// Registers so many types from a first on, as far as the world lets it; returns how many it knows.
template <std::size_t kFirst, std::size_t... kNumbers>
std::uint32_t register_types(World& world, std::index_sequence<kNumbers...>) {
    std::uint32_t known = 0;
    ((known += world.component<Numbered<kFirst + kNumbers>>() ? 1U : 0U), ...);
    return known;
}

TEST_F(LimitsTest, WhatHasNoEntityMakesNoTypeKnown) {
    EcsRig rig(std::uint64_t{4} << 20, {.max_entities = 2, .max_archetypes = 8});
    ASSERT_TRUE(rig.is_ready());
    World& world = rig.world();
    const Entity gone = *world.spawn(Health{1});
    ASSERT_EQ(world.destroy(gone), Status::ok);
    ASSERT_TRUE(world.spawn(Health{2}));
    const std::uint32_t known = world.stats().components;
    rig.commit();
    const std::vector<std::byte> before = rig.bytes();
    EXPECT_EQ(world.add(gone, Numbered<900>{1}).status(), Status::stale_handle);
    EXPECT_EQ(world.spawn_copies(2, Numbered<901>{1}).status(), Status::capacity_exhausted);
    EXPECT_EQ(rig.bytes(), before);
    ASSERT_TRUE(world.spawn(Health{3}));
    EXPECT_EQ(world.spawn(Numbered<902>{1}).status(), Status::capacity_exhausted);
    EXPECT_EQ(world.stats().components, known);
}

TEST_F(LimitsTest, TheTableOfComponentsEnds) {
    EcsRig rig(std::uint64_t{4} << 20, {.max_entities = 100, .max_archetypes = 8});
    ASSERT_TRUE(rig.is_ready());
    // Prefab is known from the beginning.
    const std::uint32_t before = rig.world().stats().components;
    // In two halves, since compilers bound how long a fold may be.
    const auto half = std::make_index_sequence<150>();
    const std::uint32_t first = register_types<0>(rig.world(), half);
    EXPECT_EQ(first + register_types<150>(rig.world(), half), kMaxComponents - before);
    EXPECT_EQ(rig.world().component<Numbered<299>>().status(), Status::capacity_exhausted);
    EXPECT_EQ(rig.world().spawn(Numbered<0>{1}, Numbered<299>{2}).status(), Status::capacity_exhausted);
    EXPECT_EQ(rig.world().edit_resource<Numbered<298>>(), nullptr);
    const auto one = rig.world().spawn(Numbered<0>{1}, Numbered<200>{2});
    ASSERT_TRUE(one);
    EXPECT_EQ(rig.world().add(*one, Numbered<299>{}).status(), Status::capacity_exhausted);
    EXPECT_EQ(rig.world().stats().entities, 1U);

    auto memory = SystemAllocator::create({.max_bytes = std::size_t{16} << 20});
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(memory && pool);
    Schedule schedule(*memory);
    schedule.add("looks", [](Query<const Numbered<0>&, Without<Numbered<299>>> query) {
        EXPECT_EQ(query.count(), 1U);
    });
    EXPECT_TRUE(schedule.run(rig.world(), *pool));
    schedule.add("late", [](Res<Numbered<299>>) {});
    EXPECT_EQ(schedule.run(rig.world(), *pool).status, Status::capacity_exhausted);
    EXPECT_EQ(schedule.problem().substr(0, 36), "late needs what the world could not ");
    rig.commit();
}

TEST_F(LimitsTest, TicksThatAreGoneAreTold) {
    const Entity ada = *world().spawn(Health{1});
    rig_.commit();
    while (rig_.ring().oldest() == 0 || rig_.ring().newest() < 60)
        rig_.commit();
    EXPECT_EQ(world().at(1).status(), Status::tick_gone);
    EXPECT_EQ(rig_.ring().rollback(1).status(), Status::tick_gone);
    EXPECT_EQ(world().at(rig_.ring().newest() + 1).status(), Status::out_of_range);
    const auto oldest = world().at(rig_.ring().oldest());
    ASSERT_TRUE(oldest);
    EXPECT_EQ(oldest->get<Health>(ada)->points, 1);
}

// Whatever is asked of an entity that is gone, or never was.
TEST_F(LimitsTest, StaleNamesAreRefusedEverywhere) {
    const Entity bob = *world().spawn(Health{2}, Alert{1}, Burning{1});
    const Entity ada = *world().spawn(Health{1}, Alert{1}, Burning{1});
    ASSERT_EQ(set_name(world(), ada, "ada"), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), ada, bob), Status::ok);
    rig_.commit();
    ASSERT_EQ(world().destroy(ada), Status::ok);
    rig_.commit();
    const auto bytes = rig_.bytes();
    const Entity never(1'000'000, 1);
    for (const Entity stale : {ada, Entity{}, never}) {
        EXPECT_FALSE(world().is_alive(stale));
        EXPECT_EQ(world().destroy(stale), Status::stale_handle);
        EXPECT_EQ(world().get<Health>(stale), nullptr);
        EXPECT_EQ(world().edit<Burning>(stale), nullptr);
        EXPECT_FALSE(world().has<Health>(stale));
        EXPECT_EQ(world().add(stale, Health{5}).status(), Status::stale_handle);
        EXPECT_EQ(world().add(stale, Burning{5}).status(), Status::stale_handle);
        EXPECT_EQ(world().remove<Health>(stale).status(), Status::stale_handle);
        EXPECT_EQ(world().remove<Burning>(stale).status(), Status::stale_handle);
        EXPECT_EQ(world().disable<Alert>(stale).status(), Status::stale_handle);
        EXPECT_FALSE(world().is_enabled<Alert>(stale));
        EXPECT_EQ(set_name(world(), stale, "ada"), Status::stale_handle);
        EXPECT_EQ(clear_name(world(), stale), Status::stale_handle);
        EXPECT_EQ(name_of(world(), stale), "");
        EXPECT_EQ(relate<ChildOf>(world(), bob, stale), Status::stale_handle);
        EXPECT_EQ(relate<ChildOf>(world(), stale, bob), Status::stale_handle);
        EXPECT_EQ(unrelate<ChildOf>(world(), stale), Status::stale_handle);
        EXPECT_TRUE(target<ChildOf>(world(), stale).is_null());
        EXPECT_EQ(count_sources<ChildOf>(world(), stale), 0U);
        EXPECT_EQ(clone(world(), stale).status(), Status::stale_handle);
        EXPECT_EQ(spawn_tree_from(world(), stale).status(), Status::stale_handle);
        EXPECT_FALSE((Query<Health&>(world()).visit(stale, [](Health&) {})));
        EXPECT_EQ(world().destroy(std::span(&stale, 1)), 0U);
        const auto past = world().at(rig_.ring().newest());
        ASSERT_TRUE(past);
        EXPECT_FALSE(past->get<Health>(stale));
    }
    EXPECT_TRUE(find_named(world(), "ada").is_null());
    EXPECT_TRUE(rig_.bytes() == bytes);
    // The slot's next entity is another one.
    const Entity next = *world().spawn(Health{3});
    EXPECT_EQ(next.index(), ada.index());
    EXPECT_EQ(world().get<Health>(ada), nullptr);
    rig_.commit();
}

TEST_F(LimitsTest, NamesCollide) {
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Health{2});
    ASSERT_EQ(set_name(world(), ada, "hero"), Status::ok);
    const Tick before = rig_.commit();
    EXPECT_EQ(set_name(world(), bob, "hero"), Status::address_in_use);
    EXPECT_EQ(set_name(world(), ada, "hero"), Status::ok);
    // A copy has no name, and so does not collide.
    const Entity copy = *clone(world(), ada);
    EXPECT_EQ(name_of(world(), copy), "");
    ASSERT_EQ(set_name(world(), ada, "old hero"), Status::ok);
    ASSERT_EQ(set_name(world(), bob, "hero"), Status::ok);
    EXPECT_EQ(find_named(world(), "hero"), bob);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_EQ(find_named(world(), "hero"), ada);
    EXPECT_TRUE(find_named(world(), "old hero").is_null());
    // In one barrier, whoever comes first in the order has it.
    auto queue = CommandQueue::create({.systems = 2});
    ASSERT_TRUE(queue);
    ASSERT_EQ(clear_name(world(), ada), Status::ok);
    queue->commands(1).call([ada](World& own) { return set_name(own, ada, "hero"); });
    queue->commands(0).call([bob](World& own) { return set_name(own, bob, "hero"); });
    const CommandReport report = queue->merge(world());
    EXPECT_EQ(report.failed, 1U);
    EXPECT_EQ(report.failed_system, 1U);
    EXPECT_EQ(find_named(world(), "hero"), bob);
    rig_.commit();
}

// A prefab with parts that are made from another prefab, which has parts itself.
TEST_F(LimitsTest, PrefabsOfPrefabs) {
    const Entity wheel = *world().spawn(Health{1}, Prefab{});
    const Entity bolt = *world().spawn(Health{2}, Burning{2}, Prefab{});
    ASSERT_EQ(relate<ChildOf>(world(), bolt, wheel), Status::ok);
    const Entity car = *world().spawn(Health{3}, Prefab{});
    for (int i = 0; i < 2; ++i) {
        // Parts of a prefab may be prefabs or not.
        const Entity part = i == 0 ? *spawn_tree_from(world(), wheel) : *clone(world(), wheel);
        ASSERT_EQ(relate<ChildOf>(world(), part, car), Status::ok);
    }
    ASSERT_TRUE(world().add<Prefab>(*clone(world(), car)));
    rig_.commit();
    const auto fleet = world().spawn(Health{4}, Prefab{});
    ASSERT_TRUE(fleet);
    ASSERT_EQ(relate<ChildOf>(world(), car, *fleet), Status::ok);
    const std::uint32_t prefabs = Query<With<Prefab>>(world()).count();
    const std::uint32_t others = Query<const Health&>(world()).count();
    const auto made = spawn_tree_from(world(), *fleet);
    ASSERT_TRUE(made);
    // fleet, car, two wheels, one of them with a bolt.
    EXPECT_EQ(Query<const Health&>(world()).count(), others + 5);
    EXPECT_EQ(Query<With<Prefab>>(world()).count(), prefabs);
    std::string shape;
    const auto walk = [&](const auto& self, Entity at) -> void {
        shape += std::to_string(world().get<Health>(at)->points);
        EXPECT_FALSE(world().has<Prefab>(at));
        each_source<ChildOf>(world(), at, [&](Entity child) { self(self, child); });
        shape += ".";
    };
    walk(walk, *made);
    EXPECT_EQ(shape, "4312..1...");
    // Into a part of itself: no circle, as the copy is another one.
    EXPECT_EQ(relate<ChildOf>(world(), *fleet, bolt), Status::ok);
    EXPECT_EQ(relate<ChildOf>(world(), wheel, *fleet), Status::bad_argument);
    rig_.commit();
    ASSERT_EQ(world().destroy(*made), Status::ok);
    EXPECT_EQ(Query<const Health&>(world()).count(), others);
    rig_.commit();
}

TEST_F(LimitsTest, CommandsOnWhatTheyDestroyed) {
    auto queue = CommandQueue::create();
    ASSERT_TRUE(queue);
    const Entity car = *world().spawn(Health{1});
    const Entity wheel = *world().spawn(Health{2});
    ASSERT_EQ(relate<ChildOf>(world(), wheel, car), Status::ok);
    Commands commands = queue->commands();
    const PendingEntity bolt = commands.spawn(Health{3}, Burning{1});
    commands.call([bolt, wheel](World& own) { return relate<ChildOf>(own, bolt.entity(), wheel); });
    // All three go.
    commands.destroy(car);
    commands.add(wheel, Position{1, 2});
    commands.remove<Burning>(bolt);
    commands.destroy(bolt);
    commands.disable<Alert>(wheel);
    const CommandReport report = queue->merge(world());
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(report.applied, 3U);
    EXPECT_EQ(report.skipped, 4U);
    EXPECT_EQ(report.skipped_entity, wheel);
    EXPECT_EQ(world().stats().entities, 0U);
    rig_.commit();
}

}  // namespace
}  // namespace ouro
