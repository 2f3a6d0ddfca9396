// What loops, spawns and moves remember outside the image: it must never outlive what it was found in.
#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/command_queue.hpp>

#include <algorithm>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class RememberedPlacesTest : public EcsTest {
protected:
    std::vector<Entity> spawn(int count) {
        std::vector<Entity> made;
        for (int i = 0; i < count; ++i)
            made.push_back(*world().spawn(Position{static_cast<float>(i), 0}, Health{i}));
        return made;
    }
    void add_to_all(float amount) {
        Query<Position&>(world()).each([&](Position& p) { p.y += amount; });
    }
    [[nodiscard]] double sum() {
        double total = 0;
        Query<const Position&>(world()).each([&](const Position& p) { total += double{p.x} + double{p.y}; });
        return total;
    }
    std::vector<float> listed(const std::vector<Entity>& list) {
        std::vector<float> seen;
        const std::uint32_t count = Query<const Position&, const Health&>(world()).visit(
            list, [&](const Position& p, const Health&) { seen.push_back(p.x); });
        EXPECT_EQ(count, seen.size());
        return seen;
    }
};

TEST_F(RememberedPlacesTest, LoopsDeclareAgainAfterACommitThatEndsNoTick) {
    // One block, so that no other declares its page.
    (void)spawn(50);
    add_to_all(1);
    const auto first = rig_.ring().commit();
    ASSERT_TRUE(first);
    const double before = sum();
    // The columns say that all of them changed in this tick, but nothing is declared any more.
    add_to_all(1);
    ASSERT_TRUE(rig_.ring().commit());
    ASSERT_TRUE(rig_.ring().rollback(*first));
    EXPECT_EQ(sum(), before);
    add_to_all(1);
    rig_.commit();
}

TEST_F(RememberedPlacesTest, LoopsSeeRowsThatCameAndWent) {
    std::vector<Entity> entities = spawn(60);
    add_to_all(1);
    const Tick kept = rig_.commit();
    add_to_all(1);
    const std::vector<Entity> more = spawn(100);
    add_to_all(1);
    EXPECT_EQ(world().get<Position>(entities[5])->y, 3);
    EXPECT_EQ(world().get<Position>(more[99])->y, 1);
    for (int i = 0; i < 30; ++i)
        ASSERT_EQ(world().destroy(entities[static_cast<std::size_t>(i)]), Status::ok);
    add_to_all(1);
    EXPECT_EQ(Query<const Position&>(world()).count(), 130U);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    add_to_all(1);
    EXPECT_EQ(world().get<Position>(entities[5])->y, 2);
    rig_.commit();
}

TEST_F(RememberedPlacesTest, SpawnsGoOnWhereARollbackLeftOff) {
    (void)spawn(10);
    const Tick kept = rig_.commit();
    const std::vector<Entity> first = spawn(70);
    rig_.commit();
    const std::vector<std::byte> bytes = rig_.bytes();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    // Rows of another archetype take the places that the others had.
    for (int i = 0; i < 80; ++i)
        (void)world().spawn(Genome{}, Position{1, 1});
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    EXPECT_EQ(spawn(70), first);
    rig_.commit();
    EXPECT_EQ(rig_.bytes(), bytes);
}

TEST_F(RememberedPlacesTest, MovesFindArchetypesThatWereRolledBack) {
    const std::vector<Entity> entities = spawn(5);
    const Tick kept = rig_.commit();
    ASSERT_TRUE(world().add(entities[0], Velocity{1, 2, 3}));
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    // The next new archetype has the number that the other one had.
    ASSERT_TRUE(world().add(entities[1], Frozen{}));
    ASSERT_TRUE(world().add(entities[0], Velocity{4, 5, 6}));
    EXPECT_EQ(world().get<Velocity>(entities[0])->y, 5);
    EXPECT_EQ(world().get<Health>(entities[0])->points, 0);
    EXPECT_FALSE(world().has<Velocity>(entities[1]));
    ASSERT_TRUE(world().remove<Velocity>(entities[0]));
    EXPECT_EQ(world().get<Position>(entities[4])->x, 4);
    rig_.commit();
}

TEST_F(RememberedPlacesTest, AListIsVisitedInItsOrder) {
    std::vector<Entity> entities = spawn(300);
    ASSERT_TRUE(world().remove<Health>(entities[100]));
    ASSERT_EQ(world().destroy(entities[200]), Status::ok);
    std::vector<float> expected;
    for (int i = 0; i < 300; ++i)
        if (i != 100 && i != 200) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(listed(entities), expected);
    std::reverse(entities.begin(), entities.end());
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(listed(entities), expected);
    EXPECT_EQ(listed({}), std::vector<float>{});
    EXPECT_EQ(listed({Entity{}, entities[7], entities[7]}), (std::vector<float>{292, 292}));
    EXPECT_EQ(listed({Entity::from_bits(UINT64_MAX)}), std::vector<float>{});
}

// Some are on their way while others are called with, and some lie in runs.
TEST_F(RememberedPlacesTest, AListOfRunsAndOthersIsVisitedInItsOrder) {
    const std::vector<Entity> entities = spawn(300);
    std::vector<Entity> list;
    std::vector<float> expected;
    const auto take = [&](std::size_t i) {
        list.push_back(entities[i]);
        expected.push_back(static_cast<float>(i));
    };
    for (std::size_t part = 0; part < 3; ++part) {
        for (std::size_t i = 0; i < 32; ++i)
            take((i * 37 + part) % 300);
        for (std::size_t i = 0; i < 8; ++i)
            take(100 * part + i);
    }
    for (std::size_t i = 0; i < 75; ++i)
        take(299 - 2 * i);
    EXPECT_EQ(listed(list), expected);
}

TEST_F(RememberedPlacesTest, AListFindsArchetypesThatWereRolledBack) {
    std::vector<Entity> entities;
    for (const Entity entity : spawn(100))
        entities.insert(entities.begin(), entity);
    const Tick kept = rig_.commit();
    const auto count = [&] {
        return Query<const Position&, Without<Frozen>>(world()).visit(entities, [](const Position&) {});
    };
    const auto change_half = [&](const auto& component) {
        for (std::size_t i = 0; i < entities.size(); i += 2)
            ASSERT_TRUE(world().add(entities[i], component));
    };
    change_half(Velocity{});
    EXPECT_EQ(count(), 100U);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    // The next new archetype has the number that the other one had, and is none of the query's.
    change_half(Frozen{});
    EXPECT_EQ(count(), 50U);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(kept));
    change_half(Genome{});
    EXPECT_EQ(count(), 100U);
    rig_.commit();
}

TEST_F(RememberedPlacesTest, AListCountsAsChangedWhereItIsWritten) {
    const std::vector<Entity> entities = spawn(200);
    rig_.commit();
    rig_.commit();
    std::vector<Entity> list(entities.begin() + 60, entities.begin() + 70);
    list.push_back(entities[150]);
    Query<Position&>(world()).visit(list, [](Position& p) { p.y = 9; });
    std::vector<float> changed;
    Query<const Position&, ChangedNow<Position>>(world()).each(
        [&](const Position& p) { changed.push_back(p.x); });
    EXPECT_EQ(changed, (std::vector<float>{60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 150}));
    rig_.commit();
}

TEST_F(RememberedPlacesTest, ChangedRowsAreFoundWhateverTheirPattern) {
    const std::vector<Entity> entities = spawn(1'000);
    rig_.commit();
    rig_.commit();
    Random random(3);
    for (const std::uint32_t density : {1U, 3U, 20U, 60U, 97U, 100U}) {
        std::vector<float> expected;
        for (std::size_t i = 0; i < entities.size(); ++i) {
            if (random.below(100) >= density) continue;
            world().edit<Position>(entities[i])->y = 1;
            expected.push_back(static_cast<float>(i));
        }
        std::vector<float> changed;
        Query<const Position&, ChangedNow<Position>>(world()).each(
            [&](const Position& p) { changed.push_back(p.x); });
        EXPECT_EQ(changed, expected) << density;
        EXPECT_EQ((Query<ChangedNow<Position>>(world()).count()), expected.size());
        rig_.commit();
    }
}

TEST_F(RememberedPlacesTest, AQueueTakesItsMemoryAtOnce) {
    auto queue = CommandQueue::create({.prewarm_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(queue);
    queue->commands().spawn(Position{1, 2});
    EXPECT_EQ(queue->merge(world()).applied, 1U);
    EXPECT_EQ(CommandQueue::create({.max_bytes = 65'536, .prewarm_bytes = std::size_t{1} << 20}).status(),
              Status::capacity_exhausted);
}

}  // namespace
}  // namespace ouro
