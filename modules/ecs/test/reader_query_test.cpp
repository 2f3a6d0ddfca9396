#include "ecs_rig.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/reader_query.hpp>

#include <string>
#include <vector>

namespace ouro {
namespace {

// What another program has under the name of Health.
struct OtherHealth {
    std::int64_t points;
};

// Sparse there, a column here.
struct OtherBurning {
    std::uint32_t ticks;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<OtherHealth> = {.name = "Health"};
template <>
inline constexpr ComponentOptions kComponentOptions<OtherBurning> = {.name = "Burning"};

namespace {

using namespace testing_support;

class ReaderQueryTest : public EcsTest {
protected:
    WorldReader reader() {
        const MemoryBlock image = rig_.ring().image();
        return *WorldReader::open(std::span<const std::byte>(image.data, image.size));
    }
};

TEST_F(ReaderQueryTest, FindsWhatAQueryFinds) {
    std::vector<Entity> alerts;
    for (std::int32_t i = 0; i < 700; ++i) {
        ASSERT_TRUE(world().spawn(Health{i}, Position{static_cast<float>(i), 0}));
        if (i % 3 == 0) {
            ASSERT_TRUE(world().spawn(Health{i}, Frozen{}));
        }
        if (i % 5 == 0) alerts.push_back(*world().spawn(Alert{7}, Health{-i}));
    }
    ASSERT_TRUE(world().disable<Alert>(alerts[100]));
    const WorldReader bytes = reader();
    std::vector<std::pair<Entity, std::int32_t>> wanted;
    std::vector<std::pair<Entity, std::int32_t>> found;
    Query<const Health&, Entity, Optional<const Position&>>(world()).each(
        [&](const Health& health, Entity entity, const Position* position) {
            wanted.emplace_back(entity, health.points + (position != nullptr ? 1'000 : 0));
        });
    EXPECT_EQ((ReaderQuery<const Health&, Entity, Optional<const Position&>>(bytes).each(
                  [&](const Health& health, Entity entity, const Position* position) {
                      found.emplace_back(entity, health.points + (position != nullptr ? 1'000 : 0));
                  })),
              Status::ok);
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(*(ReaderQuery<const Health&, With<Frozen>>(bytes).count()), 234U);
    EXPECT_EQ(*(ReaderQuery<const Health&, Without<Frozen>>(bytes).count()), 840U);
    EXPECT_EQ(*(ReaderQuery<const Alert&>(bytes).count()), 139U);
    EXPECT_EQ(*(ReaderQuery<const Velocity&>(bytes).count()), 0U);
    EXPECT_EQ(*(ReaderQuery<Entity, Without<Velocity>>(bytes).count()), 1'074U);
    EXPECT_EQ((ReaderQuery<const OtherHealth&>(bytes).count().status()), Status::wrong_layout);
    EXPECT_FALSE(bytes.has_moved_on());
    rig_.commit();
    EXPECT_TRUE(bytes.has_moved_on());
}

TEST_F(ReaderQueryTest, PassesOverPrefabsUnlessTheyAreAskedFor) {
    ASSERT_TRUE(world().spawn(Health{1}));
    ASSERT_TRUE(world().spawn(Health{2}, Prefab{}));
    const WorldReader bytes = reader();
    EXPECT_EQ((Query<const Health&>(world()).count()), 1U);
    EXPECT_EQ(*(ReaderQuery<const Health&>(bytes).count()), 1U);
    EXPECT_EQ(*(ReaderQuery<const Health&, With<Prefab>>(bytes).count()), 1U);
    EXPECT_EQ(*(ReaderQuery<const Health&, Without<Prefab>>(bytes).count()), 1U);
    rig_.commit();
}

// Of a loop over the world and of one over its bytes: who came, in which order, with what.
using Seen = std::vector<std::pair<Entity, std::uint32_t>>;

class ReaderJoinTest : public ReaderQueryTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        std::vector<Entity> all;
        for (std::uint32_t i = 0; i < 1'500; ++i) {
            const Health health{static_cast<std::int32_t>(i)};
            all.push_back(
                *(i % 2 == 0 ? world().spawn(health, Alert{i}) : world().spawn(health, Position{})));
            if (i % 3 == 0) {
                ASSERT_TRUE(world().add(all[i], Burning{i}));
            }
            if (i % 7 == 0) {
                ASSERT_TRUE(world().add(all[i], Stunned{i, 0}));
            }
        }
        for (std::size_t i = 0; i < all.size(); i += 11)
            ASSERT_EQ(world().destroy(all[i]), Status::ok);
        ASSERT_TRUE(world().add(all[1], Prefab{}) && world().add(all[1], Burning{1}));
        ASSERT_TRUE(world().disable<Alert>(all[42]));
        rig_.commit();
    }

    template <class... Terms>
    void expect_same_count() {
        const WorldReader bytes = reader();
        const auto count = ReaderQuery<Terms...>(bytes).count();
        ASSERT_TRUE(count) << status_name(count.status());
        EXPECT_EQ(*count, Query<Terms...>(world()).count());
    }
};

// Two tables, of which the smaller one is walked, and a column that may be switched off.
TEST_F(ReaderJoinTest, WalksTheSmallestTable) {
    const WorldReader bytes = reader();
    Seen wanted;
    Seen found;
    const auto see = [](Seen& seen) {
        return [&seen](Entity entity, const Burning& burning, const Stunned& stunned, const Alert& alert) {
            seen.emplace_back(entity, burning.ticks * 7 + stunned.ticks * 3 + alert.level);
        };
    };
    Query<Entity, const Burning&, const Stunned&, const Alert&>(world()).each(see(wanted));
    EXPECT_EQ((ReaderQuery<Entity, const Burning&, const Stunned&, const Alert&>(bytes).each(see(found))),
              Status::ok);
    EXPECT_FALSE(wanted.empty());
    EXPECT_EQ(found, wanted);
    // Relations and names are sparse components, too.
    const Entity ada = *world().spawn(Health{1});
    ASSERT_EQ(set_name(world(), ada, "ada"), Status::ok);
    const WorldReader again = reader();
    std::string name;
    EXPECT_EQ((ReaderQuery<const Name&, With<Health>>(again).each(
                  [&](const Name& own) { name += own.text.view(); })),
              Status::ok);
    EXPECT_EQ(name, "ada");
}

TEST_F(ReaderJoinTest, LooksUpWhatIsNotRequired) {
    const WorldReader bytes = reader();
    Seen wanted;
    Seen found;
    const auto look = [](Seen& seen) {
        return [&seen](const Health& health, Entity entity, const Burning* burning) {
            seen.emplace_back(entity, static_cast<std::uint32_t>(health.points) +
                                          (burning != nullptr ? burning->ticks * 2 : 0));
        };
    };
    Query<const Health&, Entity, Optional<const Burning&>, Without<Stunned>>(world()).each(look(wanted));
    EXPECT_EQ((ReaderQuery<const Health&, Entity, Optional<const Burning&>, Without<Stunned>>(bytes).each(
                  look(found))),
              Status::ok);
    EXPECT_FALSE(wanted.empty());
    EXPECT_EQ(found, wanted);
}

TEST_F(ReaderJoinTest, CountsAsAQueryDoes) {
    expect_same_count<With<Burning>, With<Position>>();
    expect_same_count<const Burning&, Without<Position>, Without<Stunned>>();
    expect_same_count<const Burning&, With<Prefab>>();
    expect_same_count<const Alert&, Without<Burning>>();
    expect_same_count<Entity, Optional<const Stunned&>>();
    // What the world does not know.
    const WorldReader bytes = reader();
    EXPECT_EQ(*(ReaderQuery<const BurningGenome&>(bytes).count()), 0U);
    EXPECT_EQ(*(ReaderQuery<const Health&, Without<BurningGenome>>(bytes).count()),
              Query<const Health&>(world()).count());
    EXPECT_EQ((ReaderQuery<const OtherBurning&>(bytes).count().status()), Status::wrong_layout);
}

TEST_F(ReaderQueryTest, JoinsInAPastTick) {
    const Entity ada = *world().spawn(Health{1}, Burning{5});
    const Tick then = rig_.commit();
    ASSERT_TRUE(world().remove<Burning>(ada));
    rig_.commit();
    const auto view = rig_.ring().view(then);
    ASSERT_TRUE(view);
    const auto past = WorldReader::open(*view);
    ASSERT_TRUE(past);
    std::uint32_t ticks = 0;
    EXPECT_EQ((ReaderQuery<const Health&, const Burning&>(*past).each(
                  [&](const Health&, const Burning& burning) { ticks += burning.ticks; })),
              Status::ok);
    EXPECT_EQ(ticks, 5U);
    EXPECT_EQ(*(ReaderQuery<const Burning&>(reader()).count()), 0U);
}

}  // namespace
}  // namespace ouro
