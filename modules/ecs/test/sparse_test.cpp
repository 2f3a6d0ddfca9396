#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace ouro::testing_support {

// Its cells lie over the ends of pages.
struct Poisoned {
    std::array<std::uint64_t, 3> doses;
};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Poisoned> = {.sparse =
                                                                                                        true};

namespace ouro {
namespace {

using namespace testing_support;

class SparseTest : public EcsTest {
protected:
    // Some that move, every third of them burning.
    std::vector<Entity> spawn_some(std::uint32_t count) {
        std::vector<Entity> entities;
        for (std::uint32_t i = 0; i < count; ++i) {
            entities.push_back(*world().spawn(Position{static_cast<float>(i), 0}));
            if (i % 3 != 0) continue;
            EXPECT_TRUE(world().add(entities[i], Burning{i}));
        }
        return entities;
    }
    template <class... Terms>
    std::vector<std::uint32_t> slots() {
        std::vector<std::uint32_t> seen;
        Query<Entity, Terms...>(world()).each(
            [&](Entity entity, auto&&...) { seen.push_back(static_cast<std::uint32_t>(entity.index())); });
        EXPECT_EQ(seen.size(), (Query<Entity, Terms...>(world()).count()));
        std::sort(seen.begin(), seen.end());
        return seen;
    }
};

// What a spawn remembers of an archetype must not outlive the registration of a sparse component.
TEST_F(SparseTest, SpawnsWithWhatWasRegisteredAgain) {
    (void)world().spawn(Position{1, 0});
    const Tick before = rig_.commit();
    ASSERT_TRUE(world().spawn(Position{2, 0}, Burning{7}));
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));
    ASSERT_TRUE(world().component<Stunned>());
    const auto ada = world().spawn(Position{3, 0}, Burning{9});
    ASSERT_TRUE(ada) << status_name(ada.status());
    EXPECT_EQ(world().get<Burning>(*ada)->ticks, 9U);
    EXPECT_EQ(world().get<Stunned>(*ada), nullptr);
    rig_.commit();
}

// Removes rows in an order in which the next one begins in the page before; each commit looks for writes that
// were not declared.
TEST_F(SparseTest, CellsOverTheEndOfAPageAreDeclared) {
    std::vector<Entity> entities;
    for (std::uint64_t i = 0; i < 2'000; ++i) {
        entities.push_back(*world().spawn(Position{0, 0}));
        ASSERT_TRUE(world().add(entities.back(), Poisoned{{i, i, i}}));
    }
    rig_.commit();
    rig_.commit();
    rig_.commit();
    for (std::size_t first = 1'000; first > 200; first -= 100) {
        for (std::size_t i = first; i > first - 90; --i)
            ASSERT_TRUE(world().remove<Poisoned>(entities[i]));
        rig_.commit();
    }
}

TEST_F(SparseTest, ComesAndGoesWithoutAMove) {
    const Entity ada = *world().spawn(Position{1, 2});
    const Position* const place = world().get<Position>(ada);
    EXPECT_EQ(world().get<Burning>(ada), nullptr);
    EXPECT_EQ(world().remove<Burning>(ada).status(), Status::not_found);
    ASSERT_TRUE(world().add(ada, Burning{7}));
    EXPECT_TRUE(world().has<Burning>(ada));
    EXPECT_EQ(world().get<Burning>(ada)->ticks, 7U);
    EXPECT_EQ(world().get<Position>(ada), place);
    rig_.commit();
    world().edit<Burning>(ada)->ticks = 6;
    rig_.commit();
    ASSERT_TRUE(world().add(ada, Burning{9}));
    EXPECT_EQ(world().get<Burning>(ada)->ticks, 9U);
    ASSERT_TRUE(world().remove<Burning>(ada));
    EXPECT_FALSE(world().has<Burning>(ada));
    EXPECT_EQ(world().edit<Burning>(ada), nullptr);
    EXPECT_EQ(world().stats().archetypes, 1U);
    rig_.commit();
}

TEST_F(SparseTest, SpawnsWithThem) {
    const Entity ada = *world().spawn(Position{1, 2}, Burning{3}, Frozen{}, Stunned{4, 0.5F});
    EXPECT_EQ(world().get<Burning>(ada)->ticks, 3U);
    EXPECT_EQ(world().get<Stunned>(ada)->strength, 0.5F);
    EXPECT_TRUE(world().has<Frozen>(ada));
    const Entity bob = *world().spawn(Burning{5});
    EXPECT_EQ(world().get<Burning>(bob)->ticks, 5U);
    rig_.commit();
}

TEST_F(SparseTest, GoesWithItsEntity) {
    const Entity ada = *world().spawn(Position{1, 2}, Burning{3});
    ASSERT_EQ(world().destroy(ada), Status::ok);
    EXPECT_EQ(Query<const Burning&>(world()).count(), 0U);
    const Entity bob = *world().spawn(Position{1, 2});
    ASSERT_EQ(bob.index(), ada.index());
    EXPECT_FALSE(world().has<Burning>(bob));
    EXPECT_FALSE(world().has<Burning>(ada));
    EXPECT_EQ(world().add(ada, Burning{1}).status(), Status::stale_handle);
    rig_.commit();
}

TEST_F(SparseTest, JoinsInQueries) {
    const std::vector<Entity> entities = spawn_some(300);
    for (std::uint32_t i = 0; i < 300; i += 5)
        ASSERT_TRUE(world().add(entities[i], Stunned{i, 1}));
    for (std::uint32_t i = 0; i < 300; i += 2)
        ASSERT_TRUE(world().add<Frozen>(entities[i]));
    const auto expected = [](auto&& wanted) {
        std::vector<std::uint32_t> made;
        for (std::uint32_t i = 0; i < 300; ++i)
            if (wanted(i)) made.push_back(i);
        return made;
    };
    EXPECT_EQ((slots<const Burning&>()), expected([](auto i) { return i % 3 == 0; }));
    EXPECT_EQ((slots<const Position&, With<Burning>>()), expected([](auto i) { return i % 3 == 0; }));
    EXPECT_EQ((slots<Position&, const Burning&, Stunned&>()), expected([](auto i) { return i % 15 == 0; }));
    EXPECT_EQ((slots<Position&, Without<Burning>>()), expected([](auto i) { return i % 3 != 0; }));
    EXPECT_EQ((slots<Burning&, Without<Frozen>, Without<Stunned>>()),
              expected([](auto i) { return i % 3 == 0 && i % 2 != 0 && i % 5 != 0; }));
    EXPECT_EQ((slots<With<Frozen>, Optional<const Burning&>>()), expected([](auto i) { return i % 2 == 0; }));
    rig_.commit();
    std::uint32_t sum = 0;
    std::uint32_t without = 0;
    Query<Position&, Optional<Burning&>, const Stunned&>(world()).each(
        [&](Position& p, Burning* burning, const Stunned& stunned) {
            EXPECT_EQ(p.x, static_cast<float>(stunned.ticks));
            p.y = 5;
            if (burning == nullptr)
                ++without;
            else
                sum += burning->ticks++;
        });
    EXPECT_EQ(without, 40U);
    EXPECT_EQ(sum, 15U * 19 * 20 / 2);
    EXPECT_EQ(world().get<Burning>(entities[15])->ticks, 16U);
    EXPECT_EQ(world().get<Burning>(entities[3])->ticks, 3U);
    EXPECT_EQ(world().get<Position>(entities[15])->y, 5);
    rig_.commit();
    EXPECT_TRUE((Query<const Burning&, const Position&>(world()).has(entities[3])));
    EXPECT_FALSE((Query<const Burning&, const Position&>(world()).has(entities[4])));
    EXPECT_EQ((Query<const Burning&, Without<Frozen>>(world()).first()), entities[3]);
}

TEST_F(SparseTest, ChangesAreSeenInThisTickAndTheNext) {
    const std::vector<Entity> entities = spawn_some(600);
    EXPECT_EQ((slots<Changed<Burning>>().size()), 200U);
    rig_.commit();
    EXPECT_EQ((slots<Changed<Burning>>().size()), 200U);
    EXPECT_EQ((slots<ChangedNow<Burning>>().size()), 0U);
    rig_.commit();
    EXPECT_EQ((slots<Changed<Burning>>().size()), 0U);
    world().edit<Burning>(entities[300])->ticks = 0;
    Query<Mut<Burning>, const Position&>(world()).each([](Mut<Burning> burning, const Position&) {
        if (burning->ticks == 33) burning.edit().ticks = 34;
    });
    ASSERT_TRUE(world().add(entities[1], Burning{1}));
    EXPECT_EQ((slots<Changed<Burning>>()), (std::vector<std::uint32_t>{1, 33, 300}));
    // Another takes a row: its mark goes along.
    ASSERT_TRUE(world().remove<Burning>(entities[0]));
    EXPECT_EQ((slots<ChangedNow<Burning>>()), (std::vector<std::uint32_t>{1, 33, 300}));
    const Tick kept = rig_.commit();
    EXPECT_EQ((slots<Changed<Burning>>()), (std::vector<std::uint32_t>{1, 33, 300}));
    rig_.commit();
    EXPECT_EQ((slots<Changed<Burning>>().size()), 0U);
    ASSERT_TRUE(rig_.ring().rollback(kept));
    EXPECT_EQ((slots<Changed<Burning>>()), (std::vector<std::uint32_t>{1, 33, 300}));
}

TEST_F(SparseTest, WorkersWriteThem) {
    auto pool = JobPool::create({.workers = 3});
    ASSERT_TRUE(pool);
    const std::vector<Entity> entities = spawn_some(9'000);
    rig_.commit();
    rig_.commit();
    Query<Position&, Burning&>(world()).parallel_each(*pool, [](Position& p, Burning& burning) {
        p.y = 1;
        burning.ticks = 1;
    });
    Query<Position&, Optional<const Burning&>>(world()).parallel_each(
        *pool, [](Position& p, const Burning* burning) { p.x = burning == nullptr ? 0 : 1; });
    float sum = 0;
    Query<const Position&, const Burning&>(world()).each([&](const Position& p, const Burning& burning) {
        sum += p.x + p.y + static_cast<float>(burning.ticks);
    });
    EXPECT_EQ(sum, 9'000);
    EXPECT_EQ((slots<ChangedNow<Burning>>().size()), 3'000U);
    rig_.commit();
}

TEST_F(SparseTest, AFullSegmentIsAStatusAndNothingIsLost) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 20'000, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    std::vector<Entity> entities;
    for (std::uint32_t i = 0; i < 10'000; ++i)
        entities.push_back(*small.world().spawn(Position{}));
    Status last = Status::ok;
    std::uint32_t count = 0;
    while (count < entities.size()) {
        last = small.world().add(entities[count], BurningGenome{}).status();
        if (last != Status::ok) break;
        ++count;
    }
    EXPECT_EQ(last, Status::capacity_exhausted);
    EXPECT_GT(count, 1'000U);
    EXPECT_FALSE(small.world().has<BurningGenome>(entities[count]));
    EXPECT_EQ(Query<const BurningGenome&>(small.world()).count(), count);
    EXPECT_EQ(small.world().spawn(Position{}, BurningGenome{}).status(), Status::capacity_exhausted);
    EXPECT_EQ(small.world().stats().entities, 10'000U);
    small.commit();
    ASSERT_TRUE(small.world().remove<BurningGenome>(entities[0]));
    EXPECT_TRUE(small.world().add(entities[count], BurningGenome{}));
    small.commit();
}

TEST_F(SparseTest, RandomOperationsMatchAMap) {
    const std::uint64_t seed = 17;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::map<std::uint64_t, std::uint32_t> model;
    std::vector<Entity> alive;
    Tick kept = rig_.commit();
    auto kept_bytes = rig_.bytes();
    auto kept_model = model;
    auto kept_alive = alive;
    for (std::uint32_t step = 0; step < 20'000; ++step) {
        const std::uint64_t dice = random.next() % 100;
        if (alive.empty() || dice < 20) {
            alive.push_back(*world().spawn(Health{0}));
        } else {
            const std::size_t at = random.next() % alive.size();
            const Entity entity = alive[at];
            if (dice < 32) {
                ASSERT_EQ(world().destroy(entity), Status::ok);
                model.erase(entity.bits());
                alive[at] = alive.back();
                alive.pop_back();
            } else if (dice < 65) {
                ASSERT_TRUE(world().add(entity, Burning{step}));
                model[entity.bits()] = step;
            } else {
                EXPECT_EQ(world().remove<Burning>(entity).has_value(), model.erase(entity.bits()) == 1);
            }
        }
        if (step % 1'000 != 999) continue;
        std::map<std::uint64_t, std::uint32_t> seen;
        Query<Entity, const Burning&>(world()).each(
            [&](Entity entity, const Burning& burning) { seen[entity.bits()] = burning.ticks; });
        ASSERT_TRUE(seen == model);
        const Tick tick = rig_.commit();
        if (step % 3'000 == 2'999) {
            ASSERT_TRUE(rig_.ring().rollback(kept));
            ASSERT_TRUE(rig_.bytes() == kept_bytes);
            model = kept_model;
            alive = kept_alive;
        } else {
            kept = tick;
            kept_bytes = rig_.bytes();
            kept_model = model;
            kept_alive = alive;
        }
    }
}

TEST_F(SparseTest, CheckFindsDamage) {
    const Entity ada = *world().spawn(Position{1, 2}, Burning{3});
    (void)world().spawn(Position{1, 2}, Burning{4});
    ASSERT_EQ(world().check(), Status::ok);
    SparseTable& table = world().core().sparse_table(world().core().id_of<Burning>());
    ++table.rows.row_count;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    --table.rows.row_count;
    auto* const pages = reinterpret_cast<std::uint32_t*>(world().core().at(table.pages));
    auto* const numbers = reinterpret_cast<std::uint32_t*>(world().core().at(pages[0]));
    numbers[ada.index()] = 2;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    numbers[ada.index()] = 1;
    numbers[9] = 1;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    numbers[9] = 0;
    EXPECT_EQ(world().check(), Status::ok);
}

}  // namespace
}  // namespace ouro
