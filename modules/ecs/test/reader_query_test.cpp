#include "ecs_rig.hpp"

#include <ouro/ecs/reader_query.hpp>

#include <vector>

namespace ouro {
namespace {

// What another program has under the name of Health.
struct OtherHealth {
    std::int64_t points;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<OtherHealth> = {.name = "Health"};

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

}  // namespace
}  // namespace ouro
