#include "ecs_rig.hpp"

#include <ouro/ecs/command_queue.hpp>
#include <ouro/jobs/job_pool.hpp>

namespace ouro {
namespace {

using namespace testing_support;

// A world in which loops on several threads spawn, change and destroy; its bytes after some ticks.
std::vector<std::byte> bytes_after_ticks(unsigned workers) {
    EcsRig rig;
    auto pool = JobPool::create({.workers = workers});
    auto queue = CommandQueue::create({.participants = workers + 1, .systems = 2});
    EXPECT_TRUE(rig.is_ready() && pool && queue);
    World& world = rig.world();
    EXPECT_TRUE(
        (world.spawn_many<Position, Health>(3000, [n = 0](Position& position, Health& health) mutable {
            position = {static_cast<float>(n), 0};
            health = {n++};
        })));
    EXPECT_TRUE(world.spawn_copies(700, Position{1, 2}, Health{5}, Alert{0}));
    for (int tick = 0; tick < 6; ++tick) {
        Query<Entity, Position&, Mut<Health>, Without<Frozen>> living(world);
        Commands first = queue->commands(1);
        first.spawn(Velocity{static_cast<float>(tick), 0, 0});
        living.parallel_each(*pool, first,
                             [](Commands& commands, Entity self, Position& position, Mut<Health> health) {
                                 position.x += 1;
                                 if (health->points % 3 == 0) health.edit().points += 1;
                                 if (health->points % 5 == 0) commands.destroy(self);
                                 if (health->points % 7 == 0) {
                                     const PendingEntity child =
                                         commands.spawn(Position{position.x, 1}, Health{health->points + 2});
                                     if (health->points % 2 == 0) commands.add(child, Velocity{1, 2, 3});
                                 }
                                 if (health->points % 11 == 0) commands.add<Frozen>(self);
                             });
        first.spawn(Velocity{static_cast<float>(tick), 1, 0});
        Commands second = queue->commands(0);
        Query<Entity, With<Frozen>>(world).parallel_each(
            *pool, second, [](Commands& commands, Entity self) { commands.remove<Frozen>(self); });
        const CommandReport report = queue->merge(world);
        EXPECT_EQ(report.status, Status::ok);
        EXPECT_GT(report.applied, 100U);
        rig.commit();
    }
    return rig.bytes();
}

TEST(CommandConcurrentTest, TheNumberOfThreadsChangesNothing) {
    const std::vector<std::byte> alone = bytes_after_ticks(0);
    for (const unsigned workers : {1U, 3U, 8U})
        EXPECT_EQ(bytes_after_ticks(workers), alone) << workers << " workers";
}

// A loop in a loop, both with commands.
std::vector<std::byte> bytes_after_nested_loops(unsigned workers) {
    EcsRig rig;
    auto pool = JobPool::create({.workers = workers});
    auto queue = CommandQueue::create({.participants = workers + 1});
    EXPECT_TRUE(rig.is_ready() && pool && queue);
    World& world = rig.world();
    EXPECT_TRUE((world.spawn_many<Health>(1'500, [n = 0](Health& health) mutable { health = {n++}; })));
    EXPECT_TRUE((world.spawn_many<Velocity>(
        600, [n = 0](Velocity& velocity) mutable { velocity = {static_cast<float>(n++), 0, 0}; })));
    for (int tick = 0; tick < 2; ++tick) {
        const Query<Entity, const Health&> outer(world);
        const Query<const Velocity&> inner(world);
        Commands commands = queue->commands();
        outer.parallel_each(*pool, commands, [&](Commands& own, Entity self, const Health& health) {
            if (health.points % 100 != 3) return;
            own.add(self, Position{1, 1});
            inner.parallel_each(*pool, own, [&](Commands& innermost, const Velocity& velocity) {
                if (static_cast<int>(velocity.x) % 150 == health.points / 100)
                    innermost.spawn(Alert{static_cast<std::uint32_t>(health.points)},
                                    Position{velocity.x, 0});
            });
            own.spawn(Alert{0});
        });
        commands.spawn(Genome{});
        const CommandReport report = queue->merge(world);
        EXPECT_EQ(report.status, Status::ok);
        EXPECT_GT(report.applied, 50U);
        rig.commit();
    }
    return rig.bytes();
}

TEST(CommandConcurrentTest, LoopsInLoopsHaveOneOrder) {
    const std::vector<std::byte> alone = bytes_after_nested_loops(0);
    for (const unsigned workers : {1U, 3U, 8U})
        EXPECT_EQ(bytes_after_nested_loops(workers), alone) << workers << " workers";
}

}  // namespace
}  // namespace ouro
