// Worlds and schedules beside and inside one another.
#include "ecs_rig.hpp"

#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>

namespace ouro {
namespace {

using namespace testing_support;

void add_inner_systems(Schedule& schedule) {
    schedule.add("move", [](JobPool& pool, Query<Position&, const Velocity&> all) {
        all.parallel_each(pool, [](Position& position, const Velocity& velocity) {
            position.x += velocity.x;
            position.y += velocity.y;
        });
    });
    schedule.add("age", [](JobPool& pool, Query<Entity, Health&> all, Commands commands) {
        all.parallel_each(pool, commands, [](Commands& own, Entity self, Health& health) {
            if (--health.points == 0) own.destroy(self);
            if (health.points % 64 == 63) own.spawn(Position{}, Health{health.points / 2}, Velocity{1, 2, 3});
        });
    });
}

std::vector<std::byte> simulate(JobPool& pool) {
    EcsRig rig;
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    EXPECT_TRUE(rig.is_ready() && memory);
    if (!rig.is_ready() || !memory) return {};
    World& world = rig.world();
    EXPECT_EQ(on_remove<Health>(world, [](World& own, Entity, const Health&) { (void)own.spawn(Genome{}); }),
              Status::ok);
    std::int32_t number = 0;
    EXPECT_TRUE((world.spawn_many<Position, Velocity, Health>(
        3'000, [&](Position& position, Velocity& velocity, Health& health) {
            position = {};
            velocity = {static_cast<float>(number % 3), 1, 0};
            health = {number++ % 200 + 1};
        })));
    Schedule inner(*memory);
    add_inner_systems(inner);
    Schedule outer(*memory);
    outer.add("twice", [&](World& all, JobPool& own) {
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(inner.run(all, own)) << inner.problem();
    });
    outer.add("drift", [](JobPool& own, Query<Position&, Without<Velocity>> all) {
        all.parallel_each(own, [](Position& position) { position.x -= 1; });
    });
    for (int tick = 0; tick < 6; ++tick) {
        EXPECT_TRUE(outer.run(world, pool)) << outer.problem();
        rig.commit();
    }
    return rig.bytes();
}

TEST(WorldsConcurrentTest, SchedulesInsideSystemsDoTheSameOnAnyNumberOfThreads) {
    auto none = JobPool::create({.workers = 0});
    ASSERT_TRUE(none);
    const std::vector<std::byte> alone = simulate(*none);
    for (const unsigned workers : {1U, 3U, 7U}) {
        auto pool = JobPool::create({.workers = workers});
        ASSERT_TRUE(pool);
        EXPECT_TRUE(simulate(*pool) == alone) << workers << " workers";
    }
}

struct Share {
    JobPool* pool = nullptr;
    std::vector<std::byte> bytes;
};

// Threads with a world each, which share the workers of one pool and meet types for the first time at once.
TEST(WorldsConcurrentTest, WorldsAtOnceAreAsAlone) {
    auto pool = JobPool::create({.workers = 2});
    ASSERT_TRUE(pool);
    std::array<Share, 3> shares;
    std::array<std::optional<os::Thread>, 3> threads;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i].pool = &*pool;
        auto thread = os::Thread::start(
            [](void* argument) {
                Share& own = *static_cast<Share*>(argument);
                own.bytes = simulate(*own.pool);
            },
            &shares[i]);
        ASSERT_TRUE(thread);
        threads[i].emplace(*std::move(thread));
    }
    for (auto& thread : threads)
        thread->join();
    const std::vector<std::byte> alone = simulate(*pool);
    for (const Share& share : shares)
        EXPECT_TRUE(share.bytes == alone);
}

}  // namespace
}  // namespace ouro
