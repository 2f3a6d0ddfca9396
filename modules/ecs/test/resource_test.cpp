#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/command_queue.hpp>
#include <ouro/ecs/resource.hpp>

namespace ouro {
namespace {

using namespace testing_support;

struct Clock {
    std::uint64_t ticks;
    double seconds;
};
struct Score {
    std::int32_t points;
};

struct Weather {
    std::int32_t rain;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<Weather> = {.singleton = true};

namespace {

class ResourceTest : public EcsTest {};

TEST_F(ResourceTest, IsZeroAtFirstAndStays) {
    const Clock* const clock = world().resource<Clock>();
    ASSERT_NE(clock, nullptr);
    EXPECT_EQ(clock->ticks, 0U);
    world().edit_resource<Clock>()->ticks = 7;
    world().edit_resource<Score>()->points = -1;
    rig_.commit();
    EXPECT_EQ(world().resource<Clock>()->ticks, 7U);
    EXPECT_EQ(world().resource<Score>()->points, -1);
}

TEST_F(ResourceTest, IsRolledBack) {
    world().edit_resource<Score>()->points = 1;
    const Tick first = rig_.commit();
    world().edit_resource<Score>()->points = 2;
    world().edit_resource<Clock>()->ticks = 9;
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(first));
    EXPECT_EQ(world().resource<Score>()->points, 1);
    // It was made after that tick.
    EXPECT_EQ(world().resource<Clock>()->ticks, 0U);
}

TEST_F(ResourceTest, CountsAsChangedWhereItIsWritten) {
    ASSERT_EQ(detail::make_resource<Score>(world().core()), Status::ok);
    const Res<const Score> read(world().core());
    const Res<Score> write(world().core());
    EXPECT_FALSE(read.is_changed());
    EXPECT_EQ(write.get().points, 0);
    EXPECT_FALSE(read.is_changed());
    write->points = 3;
    EXPECT_TRUE(read.is_changed());
    rig_.commit();
    EXPECT_TRUE(read.is_changed());
    rig_.commit();
    EXPECT_FALSE(read.is_changed());
    EXPECT_EQ(read->points, 3);
}

TEST_F(ResourceTest, IsNoComponentOfEntities) {
    ASSERT_TRUE(world().component<Health>());
    EXPECT_EQ(world().resource<Health>(), nullptr);
    ASSERT_NE(world().edit_resource<Score>(), nullptr);
    EXPECT_EQ(world().spawn(Score{1}).status(), Status::wrong_layout);
    const Entity ada = *world().spawn(Health{1});
    EXPECT_EQ(world().add(ada, Score{1}).status(), Status::wrong_layout);
    EXPECT_EQ(world().check(), Status::ok);
}

// It belongs to the world: no entity gets one, whichever way.
TEST_F(ResourceTest, IsNoEntitys) {
    const auto ada = world().spawn(Position{1, 2});
    ASSERT_TRUE(ada);
    EXPECT_EQ(world().spawn(Weather{1}).status(), Status::bad_argument);
    EXPECT_EQ(world().add(*ada, Weather{1}).status(), Status::bad_argument);
    EXPECT_EQ(add_to_all(Query<const Position&>(world()), Weather{1}), Status::bad_argument);
    auto queue = CommandQueue::create({});
    ASSERT_TRUE(queue);
    queue->commands().add(*ada, Weather{1});
    EXPECT_NE(queue->merge(world()).status, Status::ok);
    EXPECT_FALSE(world().has<Weather>(*ada));
    world().edit_resource<Weather>()->rain = 3;
    EXPECT_EQ(world().add(*ada, Weather{1}).status(), Status::bad_argument);
    EXPECT_EQ(world().check(), Status::ok);
    rig_.commit();
    EXPECT_EQ(world().resource<Weather>()->rain, 3);
}

}  // namespace
}  // namespace ouro
