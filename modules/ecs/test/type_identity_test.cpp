#include "ecs_rig.hpp"

#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/relations.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <vector>

namespace ouro {
namespace {

// Types that have one name, as those of two libraries may.
struct Small {
    std::uint32_t value;
};
struct Large {
    std::array<std::uint64_t, 4> values;
};
struct OtherFields {
    float value;
};
struct Twin {
    std::uint32_t value;
};
struct Loose {
    std::uint32_t value;
};

namespace fire {
struct Cooldown {
    std::uint32_t ticks;
};
struct Active {};
struct Near {};
}  // namespace fire
namespace ice {
struct Cooldown {
    std::uint32_t ticks;
};
struct Active {};
struct Near {};
}  // namespace ice
template <class T>
struct Wrap {
    std::uint32_t value;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<Small> = {.name = "Shared"};
template <>
inline constexpr ComponentOptions kComponentOptions<Large> = {.name = "Shared"};
template <>
inline constexpr ComponentOptions kComponentOptions<OtherFields> = {.name = "Shared"};
template <>
inline constexpr ComponentOptions kComponentOptions<Twin> = {.name = "Shared"};
template <>
inline constexpr ComponentOptions kComponentOptions<Loose> = {.name = "Shared", .sparse = true};
template <>
inline constexpr RelationOptions kRelationOptions<fire::Near> = {};
template <>
inline constexpr RelationOptions kRelationOptions<ice::Near> = {};

namespace {

using namespace testing_support;

class TypeIdentityTest : public EcsTest {};

Status add_bytes(void* context, std::span<const std::byte> piece) noexcept {
    auto& all = *static_cast<std::vector<std::byte>*>(context);
    all.insert(all.end(), piece.begin(), piece.end());
    return Status::ok;
}

TEST_F(TypeIdentityTest, AnotherTypeOfTheNameIsRefused) {
    const Entity ada = *world().spawn(Small{7});
    EXPECT_EQ(world().component<Large>().status(), Status::wrong_layout);
    EXPECT_EQ(world().component<OtherFields>().status(), Status::wrong_layout);
    EXPECT_EQ(world().component<Loose>().status(), Status::wrong_layout);
    EXPECT_EQ(world().spawn(Large{}).status(), Status::wrong_layout);
    EXPECT_EQ(world().add(ada, OtherFields{1}).status(), Status::wrong_layout);
    EXPECT_EQ(world().get<Large>(ada), nullptr);
    EXPECT_EQ(world().get<Loose>(ada), nullptr);
    EXPECT_EQ(world().resource<OtherFields>(), nullptr);
    // Nor is one that differs in nothing but the type.
    EXPECT_EQ(world().component<Twin>().status(), Status::wrong_layout);
    EXPECT_EQ(world().get<Twin>(ada), nullptr);
    rig_.commit();
}

// Names have no namespaces.
TEST_F(TypeIdentityTest, TypesOfTwoNamespacesAreNotTakenForEachOther) {
    const Entity ada = *world().spawn(fire::Cooldown{5}, fire::Active{}, Wrap<fire::Cooldown>{7});
    const auto is_refused = [&](Status status, std::string_view known, std::string_view refused) {
        const TypeClash& clash = world().type_clash();
        return status == Status::wrong_layout && clash.known.find(known) != std::string_view::npos &&
               clash.refused.find(refused) != std::string_view::npos;
    };
    EXPECT_TRUE(is_refused(world().component<ice::Cooldown>().status(), "fire::Cooldown", "ice::Cooldown"));
    EXPECT_TRUE(is_refused(world().add(ada, ice::Active{}).status(), "fire::Active", "ice::Active"));
    EXPECT_TRUE(is_refused(world().spawn(Position{}, ice::Cooldown{1}).status(), "fire::", "ice::"));
    EXPECT_TRUE(
        is_refused(world().component<Wrap<ice::Cooldown>>().status(), "fire::Cooldown", "ice::Cooldown"));
    EXPECT_EQ(world().edit_resource<ice::Cooldown>(), nullptr);
    EXPECT_EQ(world().get<ice::Cooldown>(ada), nullptr);
    EXPECT_FALSE(world().has<ice::Active>(ada));
    EXPECT_EQ(world().remove<ice::Active>(ada).status(), Status::not_found);
    EXPECT_EQ(world().get<fire::Cooldown>(ada)->ticks, 5U);
    // A kind that is not its own is something else.
    EXPECT_EQ(world().resource<Position>(), nullptr);
    EXPECT_TRUE(world().type_clash().refused.empty());
    rig_.commit();
    // The name stays the first one's.
    EcsRig other;
    ASSERT_TRUE(other.world().spawn(ice::Cooldown{1}));
    EXPECT_EQ(other.world().component<fire::Cooldown>().status(), Status::wrong_layout);
}

TEST_F(TypeIdentityTest, RelationsOfTwoNamespacesAreNotTakenForEachOther) {
    const Entity ada = *world().spawn(Position{});
    const Entity bob = *world().spawn(Position{});
    ASSERT_EQ(relate<fire::Near>(world(), ada, bob), Status::ok);
    EXPECT_EQ(relate<ice::Near>(world(), bob, ada), Status::wrong_layout);
    EXPECT_TRUE(target<ice::Near>(world(), ada).is_null());
    EXPECT_EQ(unrelate<ice::Near>(world(), ada), Status::not_found);
    EXPECT_EQ(target<fire::Near>(world(), ada), bob);
}

TEST_F(TypeIdentityTest, SystemsThatUseTwoTypesOfOneNameDoNotRun) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{1} << 24});
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(memory && pool);
    ASSERT_TRUE(world().spawn(fire::Cooldown{5}));
    Schedule schedule(*memory);
    std::uint32_t runs = 0;
    schedule.add("burn", [&](Query<fire::Cooldown&>) { ++runs; });
    schedule.add("freeze", [&](Query<ice::Cooldown&>) { ++runs; });
    EXPECT_EQ(schedule.run(world(), *pool).status, Status::wrong_layout);
    EXPECT_EQ(runs, 0U);
    const std::string_view problem = schedule.problem();
    EXPECT_NE(problem.find("fire::Cooldown"), std::string_view::npos) << problem;
    EXPECT_NE(problem.find("ice::Cooldown"), std::string_view::npos) << problem;
}

// A query outlives the numbers of its components.
TEST_F(TypeIdentityTest, AQueryThatWasKeptFindsItsTypesAgain) {
    const Tick before = rig_.commit();
    ASSERT_TRUE(world().spawn(Position{1, 2}, Health{22}));
    const Query<const Health&> kept(world());
    const Query<Entity, Genome&> writing(world());
    const Query<const Burning&, const Health&> joined(world());
    const auto seen = [](const Query<const Health&>& query) {
        std::int32_t points = 0;
        query.each([&](const Health& health) { points += health.points; });
        return points;
    };
    EXPECT_EQ(seen(kept), 22);
    ASSERT_TRUE(world().spawn(Genome{{1, 2, 3}}));
    EXPECT_EQ(writing.count(), 1U);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_EQ(seen(kept), 0);
    // The numbers are others'.
    const Entity ada = *world().spawn(Health{33}, Position{1, 2});
    const Entity bob = *world().spawn(Velocity{}, Frozen{});
    EXPECT_TRUE(kept.has(ada));
    EXPECT_FALSE(kept.has(bob));
    EXPECT_EQ(kept.count(), 1U);
    EXPECT_EQ(seen(kept), 33);
    EXPECT_FALSE(writing.has(bob));
    writing.each([](Entity, Genome& genome) { genome.genes.fill(0xdead); });
    EXPECT_EQ(writing.count(), 0U);
    const std::array list = {ada, bob};
    EXPECT_EQ(kept.visit(list, [](const Health& health) { EXPECT_EQ(health.points, 33); }), 1U);
    EXPECT_EQ(joined.count(), 0U);
    ASSERT_TRUE(world().add(ada, Burning{1}));
    EXPECT_EQ(joined.count(), 1U);
    EXPECT_EQ(world().check(), Status::ok);
    rig_.commit();
}

TEST_F(TypeIdentityTest, AQueryThatWasKeptFindsItsTypesInWhatWasLoaded) {
    EcsRig other;
    ASSERT_TRUE(other.world().spawn(Health{5}, Position{}));
    std::vector<std::byte> file;
    const auto past = other.world().at(other.commit());
    ASSERT_TRUE(past && write_world(*past, {.write = &add_bytes, .context = &file}));
    ASSERT_TRUE(world().spawn(Position{1, 2}, Health{22}));
    const Query<const Health&> kept(world());
    EXPECT_EQ(kept.count(), 1U);
    rig_.commit();
    ASSERT_TRUE(read_world(world(), image_source(std::span<const std::byte>(file))));
    std::int32_t points = 0;
    kept.each([&](const Health& health) { points += health.points; });
    EXPECT_EQ(points, 5);
}

TEST_F(TypeIdentityTest, ASystemThatRollsBackKeepsItsQuery) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{1} << 24});
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(memory && pool);
    const Tick before = rig_.commit();
    Schedule schedule(*memory);
    std::vector<std::int32_t> seen;
    schedule.add("time machine", [&](World& own, Query<const Health&> query) {
        const auto look = [&] { query.each([&](const Health& health) { seen.push_back(health.points); }); };
        ASSERT_TRUE(own.spawn(Position{1, 2}, Health{11}));
        look();
        ASSERT_TRUE(own.ring().rollback(before));
        ASSERT_TRUE(own.spawn(Health{22}, Position{1, 2}));
        look();
    });
    ASSERT_TRUE(schedule.run(world(), *pool));
    EXPECT_EQ(seen, (std::vector<std::int32_t>{11, 22}));
}

// The name belonged to another type in a time that was rolled back.
TEST_F(TypeIdentityTest, TheNameIsAnotherTypesAfterARollback) {
    const Tick before = rig_.commit();
    const Entity small = *world().spawn(Small{7});
    EXPECT_EQ((Query<const Small&>(world()).count()), 1U);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));

    const Entity large = *world().spawn(Large{{1, 2, 3, 4}});
    EXPECT_EQ(small, large);
    EXPECT_EQ(world().get<Small>(large), nullptr);
    EXPECT_EQ(world().edit<Small>(large), nullptr);
    EXPECT_FALSE(world().has<Small>(large));
    EXPECT_EQ(world().component<Small>().status(), Status::wrong_layout);
    EXPECT_EQ(world().spawn(Small{9}).status(), Status::wrong_layout);
    EXPECT_EQ(world().add(large, Small{9}).status(), Status::wrong_layout);
    EXPECT_EQ(world().get<Large>(large)->values[3], 4U);
    const Tick tick = rig_.commit();
    const auto past = world().at(tick);
    ASSERT_TRUE(past);
    EXPECT_EQ(past->get<Small>(large).status(), Status::wrong_layout);
    EXPECT_EQ(past->get<Large>(large)->values[0], 1U);
    EXPECT_EQ((past->query<const Small&>().count()), 0U);

    ASSERT_TRUE(rig_.ring().rollback(before));
    const Entity loose = *world().spawn(Position{}, Loose{5});
    EXPECT_EQ(world().get<Large>(loose), nullptr);
    EXPECT_EQ(world().get<Loose>(loose)->value, 5U);
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_EQ(world().get<Loose>(*world().spawn(Small{7})), nullptr);
    EXPECT_EQ((Query<const Small&>(world()).count()), 1U);
    rig_.commit();
}

// Observers watch types: numbers of components may be others' after a rollback.
TEST_F(TypeIdentityTest, ObserversFindTheirTypeAgain) {
    const Tick before = rig_.commit();
    static std::vector<std::int32_t> removed;
    static std::uint32_t added;
    static std::uint32_t changed;
    removed.clear();
    added = changed = 0;
    ASSERT_EQ(on_add<Health>(world(), [](World&, Entity) { ++added; }), Status::ok);
    ASSERT_EQ(on_change<Health>(world(), [](World&, Entity) { ++changed; }), Status::ok);
    ASSERT_EQ(on_remove<Health>(world(),
                                [](World&, Entity, const Health& last) { removed.push_back(last.points); }),
              Status::ok);
    ASSERT_EQ(on_remove<Burning>(world(), [](World&, Entity, const Burning&) { removed.push_back(-1); }),
              Status::ok);
    ASSERT_TRUE(rig_.ring().rollback(before));

    // The number of Health is now that of another, which is larger, and that of Burning a column's.
    const Entity bob = *world().spawn(Genome{{1}}, Position{});
    const Entity eve = *world().spawn(Position{});
    ASSERT_EQ(world().destroy(bob), Status::ok);
    ASSERT_EQ(world().destroy(eve), Status::ok);
    rig_.commit();
    EXPECT_EQ(added, 0U);
    EXPECT_EQ(changed, 0U);
    EXPECT_EQ(removed, std::vector<std::int32_t>{});

    const Entity ada = *world().spawn(Position{}, Health{5}, Burning{1});
    rig_.commit();
    EXPECT_EQ(added, 1U);
    EXPECT_EQ(changed, 1U);
    ASSERT_EQ(world().destroy(ada), Status::ok);
    rig_.commit();
    EXPECT_EQ(removed, (std::vector<std::int32_t>{5, -1}));
}

// In the file, components have other numbers than here.
TEST_F(TypeIdentityTest, ObserversSeeWhatWasLoaded) {
    EcsRig other;
    ASSERT_TRUE(other.world().component<Position>() && other.world().component<Genome>());
    const Entity ada = *other.world().spawn(Health{5}, Position{});
    const Entity bob = *other.world().spawn(Position{}, Genome{});
    std::vector<std::byte> file;
    const auto past = other.world().at(other.commit());
    ASSERT_TRUE(past && write_world(*past, {.write = &add_bytes, .context = &file}));

    static std::vector<std::int32_t> removed;
    removed.clear();
    ASSERT_EQ(on_remove<Frozen>(world(), [](World&, Entity) { removed.push_back(-1); }), Status::ok);
    ASSERT_EQ(on_remove<Health>(world(),
                                [](World&, Entity, const Health& last) { removed.push_back(last.points); }),
              Status::ok);
    ASSERT_TRUE(read_world(world(), image_source(std::span<const std::byte>(file))));
    ASSERT_EQ(world().destroy(ada), Status::ok);
    rig_.commit();
    EXPECT_EQ(removed, std::vector<std::int32_t>{5});
    ASSERT_TRUE(world().add(bob, Frozen{}));
    ASSERT_EQ(world().destroy(bob), Status::ok);
    rig_.commit();
    EXPECT_EQ(removed, (std::vector<std::int32_t>{5, -1}));
}

}  // namespace
}  // namespace ouro
