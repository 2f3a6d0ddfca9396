// The past is read on several threads, each with its own PastWorld, while the simulation goes on.
#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <optional>

namespace ouro {
namespace {

using namespace testing_support;

// What a tick has: everybody's position and fire is of that tick, and so many are there.
struct TickFacts {
    std::uint32_t number;
    std::uint32_t entities;
    std::uint32_t burning;
    std::uint32_t changed;
};

void make_tick(World& world, std::vector<Entity>& all, std::uint32_t number) {
    if (number % 3 == 0) all.push_back(*world.spawn(Position{}, Health{1}));
    if (number % 5 == 0) all.push_back(*world.spawn(Position{}, Velocity{1, 2, 3}, Burning{0}));
    if (number % 7 == 0) {
        EXPECT_EQ(world.destroy(all[number % all.size()]), Status::ok);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(number % all.size()));
    }
    Query<Position&>(world).each([&](Position& position) { position.x = static_cast<float>(number); });
    Query<Burning&>(world).each([&](Burning& fire) { fire.ticks = number; });
    *world.edit_resource<TickFacts>() = {.number = number,
                                         .entities = Query<const Position&>(world).count(),
                                         .burning = Query<const Burning&>(world).count(),
                                         .changed = Query<ChangedNow<Position>>(world).count()};
}

struct Readers {
    World* world = nullptr;
    std::atomic<Tick> first = 0;
    std::atomic<Tick> newest = 0;
    std::atomic<bool> is_over = false;
    std::atomic<std::uint32_t> seeds = 1;
    std::atomic<std::uint32_t> looks = 0;
    std::atomic<std::uint32_t> differences = 0;
};

// Whether all of it is of one tick. The query outlives what it is of, as it may.
bool is_of_one_tick(const PastWorld& past) {
    const auto facts = past.resource<TickFacts>();
    if (!facts) return false;
    bool is_right = past.entity_count() == facts->entities;
    const auto all = past.query<Entity, const Position&>();
    auto copy = all;
    std::uint32_t count = 0;
    copy.each([&](Entity entity, const Position& position) {
        is_right = is_right && position.x == static_cast<float>(facts->number) && past.is_alive(entity);
        ++count;
    });
    std::uint32_t burning = 0;
    past.query<const Burning&>().each([&](const Burning& fire) {
        is_right = is_right && fire.ticks == facts->number;
        ++burning;
    });
    const std::uint32_t changed = past.query<ChangedNow<Position>>().count();
    return is_right && count == facts->entities && burning == facts->burning && changed == facts->changed;
}

void read(Readers& readers) {
    Random random(readers.seeds.fetch_add(1));
    while (!readers.is_over.load()) {
        const Tick newest = readers.newest.load();
        const Tick tick =
            newest - random.below(static_cast<std::uint32_t>(newest - readers.first.load()) + 1);
        const auto past = readers.world->at(tick);
        // Others read too, and time goes on.
        if (!past) {
            const bool is_gone =
                past.status() == Status::tick_gone || past.status() == Status::budget_exceeded;
            if (!is_gone) readers.differences.fetch_add(1);
            continue;
        }
        if (!is_of_one_tick(*past)) readers.differences.fetch_add(1);
        readers.looks.fetch_add(1);
    }
}

TEST(PastConcurrentTest, ThreadsReadTicksOfTheirOwnWhileOthersAreMade) {
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    World& world = rig.world();
    std::vector<Entity> all;
    for (int i = 0; i < 300; ++i)
        all.push_back(*world.spawn(Position{}, Burning{0}));
    make_tick(world, all, 1);
    Readers readers;
    readers.world = &world;
    const auto first = world.commit();
    ASSERT_TRUE(first);
    readers.first = readers.newest = *first;

    std::array<std::optional<os::Thread>, 3> threads;
    for (auto& thread : threads) {
        auto started =
            os::Thread::start([](void* all_readers) { read(*static_cast<Readers*>(all_readers)); }, &readers);
        ASSERT_TRUE(started);
        thread.emplace(*std::move(started));
    }
    constexpr std::uint32_t kLeast = 400;
    for (std::uint32_t number = 2; number < kLeast || readers.looks.load() < kLeast; ++number) {
        make_tick(world, all, number);
        const auto tick = world.commit();
        // Readers hold pages: the tick goes on, and is ended when they have let go.
        if (!tick) continue;
        readers.newest = *tick;
    }
    readers.is_over = true;
    for (auto& thread : threads)
        thread->join();
    EXPECT_EQ(readers.differences.load(), 0U);
    EXPECT_EQ(world.check(), Status::ok);
}

}  // namespace
}  // namespace ouro
