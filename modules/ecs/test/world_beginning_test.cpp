// Going back to before a world was made: there is none then, and every call says so.
#include "ecs_rig.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/worlds.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace ouro {
namespace {

using namespace testing_support;

class WorldBeginningTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        const auto ada = world().spawn(Position{1, 2}, Frozen{});
        ASSERT_TRUE(ada);
        ada_ = *ada;
        ASSERT_TRUE(world().edit_resource<Health>());
        rig_.commit();
        EXPECT_EQ(Query<const Position&>(world()).count(), 1U);
        EXPECT_EQ((Query<const Position&, Without<Burning>>(world()).count()), 1U);
        rig_.commit();
        ASSERT_TRUE(rig_.ring().rollback(0));
    }

    Entity ada_;
};

TEST_F(WorldBeginningTest, WhatChangesAWorldIsNotFound) {
    EXPECT_EQ(world().spawn().status(), Status::not_found);
    EXPECT_EQ(world().spawn(Position{}).status(), Status::not_found);
    EXPECT_EQ(world().spawn(Frozen{}).status(), Status::not_found);
    EXPECT_EQ(world().spawn(Position{}, Burning{}).status(), Status::not_found);
    EXPECT_EQ(world().spawn_copies(3, Position{}).status(), Status::not_found);
    EXPECT_EQ(world().component<Velocity>().status(), Status::not_found);
    EXPECT_EQ(world().add<Velocity>(ada_).status(), Status::not_found);
    EXPECT_EQ(world().commit().status(), Status::not_found);
    EXPECT_EQ(world().check(), Status::not_found);
    EXPECT_EQ(world().at(0).status(), Status::not_found);
    EXPECT_EQ(sync_test(world(), 1, [](Tick) {}).status(), Status::not_found);
    EXPECT_EQ(world().edit_resource<Health>(), nullptr);
    EXPECT_NE(status_text(Status::not_found).find("rolled back"), std::string_view::npos);
}

TEST_F(WorldBeginningTest, NobodyIsAlive) {
    EXPECT_FALSE(world().is_alive(ada_));
    EXPECT_EQ(world().get<Position>(ada_), nullptr);
    EXPECT_EQ(world().destroy(ada_), Status::stale_handle);
    EXPECT_EQ(world().remove<Position>(ada_).status(), Status::stale_handle);
    EXPECT_EQ(set_name(world(), ada_, "ada"), Status::stale_handle);
    EXPECT_EQ(world().stats().entities, 0U);
}

// Those that were asked before, and those that never were.
template <class... Terms>
void expect_nothing(World& world, Entity entity) {
    const Query<Terms...> query(world);
    query.each([](auto&&...) { ADD_FAILURE() << "there is nobody"; });
    EXPECT_EQ(query.count(), 0U);
    EXPECT_TRUE(query.first().is_null());
    EXPECT_FALSE(query.has(entity));
    EXPECT_FALSE(query.visit(entity, [](auto&&...) {}));
    EXPECT_EQ(query.visit(std::span(&entity, 1), [](auto&&...) {}), 0U);
    query.drain([](Entity) { ADD_FAILURE() << "there is nobody"; });
    query.prepare();
    EXPECT_EQ(query.reserve_marks(), Status::not_found);
}

TEST_F(WorldBeginningTest, QueriesFindNobody) {
    const auto before = rig_.bytes();
    expect_nothing<const Position&>(world(), ada_);
    expect_nothing<Position&, With<Frozen>>(world(), ada_);
    expect_nothing<const Velocity&>(world(), ada_);
    expect_nothing<const Burning&>(world(), ada_);
    expect_nothing<Stunned&, const Position&>(world(), ada_);
    expect_nothing<const Position&, Without<Burning>>(world(), ada_);
    EXPECT_EQ(rig_.bytes(), before);
}

TEST_F(WorldBeginningTest, AnotherWorldInItsPlaceIsNotIt) {
    auto other = World::create(rig_.ring(), {.max_entities = 20'000, .max_archetypes = 32});
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->spawn(Position{1, 2}));
    EXPECT_EQ(world().commit().status(), Status::not_found);
    EXPECT_EQ(world().check(), Status::not_found);
    EXPECT_TRUE(other->commit());
    EXPECT_EQ(other->check(), Status::ok);
}

TEST(WorldRefusal, SaysWhatWasAskedForAndWhatThereIs) {
    const std::array segments = {
        SegmentOptions{.name = "world", .bytes = std::uint64_t{1} << 20},
        SegmentOptions{.name = "bound", .bytes = std::uint64_t{1} << 20, .kind = SegmentKind::process_bound}};
    auto ring = StateRing::create(
        {.segments = segments, .history_ticks = 4, .history_bytes = std::uint64_t{24} << 20});
    ASSERT_TRUE(ring);
    const auto told = [&](const WorldOptions& options) {
        WorldRefusal refusal;
        EXPECT_FALSE(World::create(*ring, options, &refusal));
        std::array<char, 200> text;
        return std::string(describe_refusal(refusal, text));
    };
    EXPECT_EQ(
        told({.max_entities = 1'000'000, .max_archetypes = 64}),
        "max_entities 1000000 and max_archetypes 64 need 8036992 bytes at least, and segment 'world' has "
        "1048576 (capacity_exhausted)");
    EXPECT_EQ(told({.max_entities = 0}),
              "max_entities 0 and max_archetypes 1024 are asked for: there are one at least, and 65535 "
              "archetypes at "
              "most (bad_argument)");
    EXPECT_EQ(told({.segment = "bound", .max_entities = 10}),
              "segment 'bound' cannot hold a world: it is not SegmentKind::portable with Tracking::declared "
              "(bad_argument)");
    EXPECT_EQ(told({.segment = "nowhere", .max_entities = 10}),
              "the ring has no segment 'nowhere' (not_found)");
    WorldRefusal none;
    ASSERT_TRUE(World::create(*ring, {.max_entities = 10}, &none));
    EXPECT_EQ(none.status, Status::ok);
    EXPECT_EQ(told({.max_entities = 10}),
              "segment 'world' has a world or a heap already: attach to it (address_in_use)");
}

TEST_F(WorldBeginningTest, AScheduleSaysSo) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{16} << 20});
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(memory && pool);
    Schedule schedule(*memory);
    schedule.add("fall", [](Query<Position&> all) { all.each([](Position& each) { each.y -= 1; }); });
    EXPECT_EQ(schedule.run(world(), *pool).status, Status::not_found);
}

TEST_F(WorldBeginningTest, NothingIsWrittenAndItCanBeMadeAgain) {
    static_cast<void>(world().spawn(Frozen{}));
    static_cast<void>(world().spawn());
    static_cast<void>(world().commit());
    const MemoryBlock segment = *rig_.ring().segment_block("world");
    EXPECT_TRUE(
        std::all_of(segment.begin(), segment.end(), [](std::byte each) { return each == std::byte{}; }));
    EXPECT_EQ(rig_.ring().newest(), 0U);
    auto again = World::create(rig_.ring(), {.max_entities = 20'000, .max_archetypes = 64});
    ASSERT_TRUE(again) << status_name(again.status());
    const auto bob = again->spawn(Position{3, 4});
    ASSERT_TRUE(bob && again->commit());
    EXPECT_EQ(again->check(), Status::ok);
    EXPECT_EQ(again->get<Position>(*bob)->y, 4);
}

}  // namespace
}  // namespace ouro
