#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <string>

namespace ouro {
namespace {

using namespace testing_support;

struct Totals {
    std::int64_t health;
    std::uint32_t visits;
    std::uint32_t spare;
};

void add_another(Schedule& schedule, std::uint32_t kind, std::string_view name, std::int32_t salt) {
    switch (kind) {
        case 4:
            schedule.add(name, [salt](Query<const Health&> living, Res<Totals> totals) {
                living.each([&](const Health& health) { totals->health += health.points * salt; });
                ++totals->visits;
            });
            return;
        case 5:
            schedule.add(name, [](Res<const Totals> totals, Query<Position&, With<Frozen>> frozen) {
                frozen.each([&](Position& position) { position.y += static_cast<float>(totals->visits); });
            });
            return;
        case 6:
            schedule.add(name, [salt](Exclusive<With<Frozen>> frozen) {
                static_cast<void>(frozen.destroy_if<const Health&>(
                    [&](const Health& health) { return (health.points + salt) % 17 == 0; }));
            });
            return;
        case 7:
            schedule.add(name, [](Query<Entity, const Health&> living, Commands commands) {
                living.each([&](Entity self, const Health& health) {
                    if (health.points % 4 == 1) commands.add(self, Burning{3});
                });
            });
            return;
        case 8:
            schedule.add(name, [](JobPool& pool, Query<Entity, Burning&, Mut<Position>> burning,
                                  Commands commands) {
                burning.parallel_each(pool, commands,
                                      [](Commands& own, Entity self, Burning& fire, Mut<Position> position) {
                                          if (--fire.ticks == 0) return own.remove<Burning>(self);
                                          if (fire.ticks == 1) position.edit().y = 0;
                                      });
            });
            return;
        default:
            schedule.add(name, [](World& world) {
                static_cast<void>(world.spawn(Health{static_cast<int>(world.stats().entities)}, Alert{1}));
            });
            return;
    }
}

// Systems of all kinds, that depend on the order in which they run. `salt` makes copies of them different.
void add_system(Schedule& schedule, std::uint32_t kind, std::string_view name, std::int32_t salt) {
    const auto factor = static_cast<float>(salt);
    switch (kind) {
        case 0:
            schedule.add(name, [factor](Query<Position&, const Velocity&> movers) {
                movers.each([&](Position& position, const Velocity& velocity) {
                    position.x = position.x * 0.5F + velocity.x * factor;
                });
            });
            return;
        case 1:
            schedule.add(name,
                         [factor](JobPool& pool, Query<Velocity&, const Position&, Without<Frozen>> movers) {
                             movers.parallel_each(pool, [&](Velocity& velocity, const Position& position) {
                                 velocity.x = velocity.x * 0.75F + position.x * 0.125F + factor;
                             });
                         });
            return;
        case 2:
            schedule.add(name, [salt](JobPool& pool, Query<Entity, Mut<Health>> living, Commands commands) {
                commands.spawn(Velocity{0, static_cast<float>(salt), 0});
                living.parallel_each(pool, commands, [&](Commands& own, Entity self, Mut<Health> health) {
                    if ((health->points + salt) % 3 == 0) health.edit().points += salt;
                    if (health->points % 13 == 0) own.destroy(self);
                    if (health->points % 11 == 0) {
                        const PendingEntity child = own.spawn(Health{health->points + 1}, Position{1, 1});
                        if (health->points % 2 == 0) own.add(child, Velocity{1, 1, 1});
                    }
                });
            });
            return;
        case 3:
            schedule.add(name, [](Query<Entity, const Health&, Changed<Health>> changed, Commands commands) {
                changed.each([&](Entity self, const Health& health) {
                    if (health.points % 5 == 0) commands.add<Frozen>(self);
                    if (health.points % 7 == 0) commands.remove<Frozen>(self);
                });
            });
            return;
        default:
            return add_another(schedule, kind, name, salt);
    }
}

std::vector<std::uint64_t> hashes_of(std::uint64_t seed, unsigned workers) {
    EcsRig rig;
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto pool = JobPool::create({.workers = workers});
    EXPECT_TRUE(rig.is_ready() && memory && pool);
    Random random(seed);
    Schedule schedule(*memory);
    const std::uint32_t systems = 6 + random.below(10);
    for (std::uint32_t i = 0; i < systems; ++i) {
        if (random.below(6) == 0) schedule.stage("next");
        add_system(schedule, random.below(10), std::to_string(i),
                   static_cast<std::int32_t>(1 + random.below(9)));
    }
    World& world = rig.world();
    EXPECT_TRUE((world.spawn_many<Position, Velocity, Health>(
        1500, [n = 0](Position& position, Velocity& velocity, Health& health) mutable {
            position = {static_cast<float>(n), 0};
            velocity = {1, static_cast<float>(n % 5), 0};
            health = {n++};
        })));
    std::vector<std::uint64_t> hashes;
    std::vector<Tick> ticks;
    const auto step = [&] {
        const ScheduleReport report = schedule.run(world, *pool);
        EXPECT_TRUE(report) << schedule.problem() << status_name(report.status);
        ticks.push_back(rig.commit());
        return rig.ring().hash(ticks.back()).value_or(0);
    };
    for (int tick = 0; tick < 6; ++tick)
        hashes.push_back(step());
    EXPECT_TRUE(rig.ring().rollback(ticks[2]));
    for (std::size_t tick = 3; tick < 6; ++tick)
        EXPECT_EQ(step(), hashes[tick]) << "after a rollback";
    return hashes;
}

TEST(ScheduleConcurrentTest, RandomSchedulesDoTheSameOnAnyNumberOfThreads) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const std::vector<std::uint64_t> alone = hashes_of(seed, 0);
        for (const unsigned workers : {1U, 3U, 8U})
            EXPECT_EQ(hashes_of(seed, workers), alone) << "seed " << seed << ", " << workers << " workers";
    }
}

// A run whose commands are a few too many, or just fit: what it said, and the bytes that it left.
struct TightRun {
    Status status = Status::ok;
    std::uint32_t applied = 0;
    std::uint32_t dropped = 0;
    std::string problem;
    std::vector<std::byte> bytes;

    bool operator==(const TightRun&) const = default;
};

TightRun run_tightly(unsigned workers, std::size_t command_bytes) {
    EcsRig rig;
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto pool = JobPool::create({.workers = workers});
    EXPECT_TRUE(rig.is_ready() && memory && pool);
    Schedule schedule(*memory, {.command_bytes = command_bytes});
    for (const std::string_view name : {"first", "second"})
        schedule.add(name, [](JobPool& own, Query<const Health&> living, Commands commands) {
            living.parallel_each(own, commands, [](Commands& each, const Health& health) {
                each.add(each.spawn(Genome{}), Health{-health.points});
            });
        });
    EXPECT_TRUE(rig.world().spawn_copies(2'000, Health{7}));
    const ScheduleReport report = schedule.run(rig.world(), *pool);
    rig.commit();
    return {report.status, report.commands.applied, report.commands.dropped, std::string(schedule.problem()),
            rig.bytes()};
}

TEST(ScheduleConcurrentTest, ARunThatHasNoRoomForItsCommandsFailsTheSameOnAnyNumberOfThreads) {
    constexpr std::size_t kNeeded = 2 * 2'000 * ((40 + 64) + (40 + 8));
    const TightRun fits = run_tightly(0, kNeeded);
    EXPECT_EQ(fits.status, Status::ok) << fits.problem;
    EXPECT_EQ(fits.applied, 8'000U);
    const TightRun fails = run_tightly(0, kNeeded - 1);
    EXPECT_EQ(fails.status, Status::capacity_exhausted);
    EXPECT_EQ(fails.dropped, 8'000U);
    for (const unsigned workers : {1U, 2U, 3U, 8U}) {
        EXPECT_TRUE(run_tightly(workers, kNeeded) == fits) << workers << " workers";
        EXPECT_TRUE(run_tightly(workers, kNeeded - 1) == fails) << workers << " workers";
    }
}

// Systems that run at once make the same query inside themselves, which nobody made before, while there are
// new archetypes in every tick.
TEST(ScheduleConcurrentTest, QueriesCanBeMadeInsideSystems) {
    EcsRig rig;
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto pool = JobPool::create({.workers = 4});
    ASSERT_TRUE(rig.is_ready() && memory && pool);
    World& world = rig.world();
    Schedule schedule(*memory);
    std::array<std::uint32_t, 8> counts{};
    std::array<std::uint32_t, 8> burning{};
    for (std::size_t i = 0; i < counts.size(); ++i)
        schedule.add(std::to_string(i), [&, i](Query<const Health&> living, Query<const Burning&> fire) {
            counts[i] = Query<Entity, const Health&, Without<Frozen>>(world).count();
            burning[i] = Query<Entity, const Burning&>(world).count();
            EXPECT_GE(living.count(), counts[i]);
            EXPECT_EQ(fire.count(), burning[i]);
        });
    ASSERT_TRUE(world.component<Frozen>());
    std::uint32_t total = 0;
    for (std::uint32_t tick = 0; tick < 8; ++tick) {
        const bool has_frozen = (tick & 1) != 0;
        Entity made = *world.spawn(Health{1});
        if (has_frozen) {
            ASSERT_TRUE(world.add(made, Frozen{}));
        }
        if ((tick & 2) != 0) {
            ASSERT_TRUE(world.add(made, Position{}));
        }
        if ((tick & 4) != 0) {
            ASSERT_TRUE(world.add(made, Velocity{}));
        }
        ASSERT_TRUE(world.add(made, Burning{1}));
        total += has_frozen ? 0 : 1;
        ASSERT_TRUE(schedule.run(world, *pool));
        for (std::size_t i = 0; i < counts.size(); ++i) {
            EXPECT_EQ(counts[i], total);
            EXPECT_EQ(burning[i], tick + 1);
        }
        rig.commit();
    }
}

}  // namespace
}  // namespace ouro
