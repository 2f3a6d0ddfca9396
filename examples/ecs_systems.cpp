// A small battle: systems are plain functions, their parameters say what they use, and the schedule runs at
// once what can run at once. What they spawn and destroy happens between the stages.

#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <cstdio>

using namespace ouro;

namespace {

struct Position {
    float x;
};
struct Velocity {
    float x;
};
struct Gun {
    std::uint32_t wait_ticks;
};
struct Bullet {
    std::uint32_t ticks_left;
};
struct Score {
    std::uint32_t shots;
    std::uint32_t expired;
};

void move(JobPool& pool, Query<Position&, const Velocity&> movers) {
    movers.parallel_each(pool,
                         [](Position& position, const Velocity& velocity) { position.x += velocity.x; });
}

void shoot(Query<Gun&, const Position&> guns, Res<Score> score, Commands commands) {
    guns.each([&](Gun& gun, const Position& position) {
        gun.wait_ticks = (gun.wait_ticks + 1) % 4;
        if (gun.wait_ticks != 0) return;
        commands.spawn(Position{position.x}, Velocity{2}, Bullet{3});
        ++score->shots;
    });
}

void expire(Query<Entity, Bullet&> bullets, Res<Score> score, Commands commands) {
    bullets.each([&](Entity self, Bullet& bullet) {
        if (--bullet.ticks_left != 0) return;
        commands.destroy(self);
        ++score->expired;
    });
}

}  // namespace

int main() {
    const SegmentOptions segment{.name = "world", .bytes = std::uint64_t{8} << 20};
    auto ring = StateRing::create(
        {.segments = {&segment, 1}, .history_ticks = 20, .history_bytes = std::uint64_t{64} << 20});
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto pool = JobPool::create();
    if (!ring || !memory || !pool) return 1;
    auto world = World::create(*ring, {.max_entities = 10'000, .max_archetypes = 64});
    if (!world || !world->spawn_copies(100, Position{0}, Velocity{1}, Gun{0})) return 1;

    Schedule schedule(*memory);
    schedule.add<move>();
    schedule.add<shoot>();
    schedule.add<expire>().after(shoot);
    for (int tick = 0; tick < 12; ++tick)
        if (!schedule.run(*world, *pool) || !world->commit()) return 1;

    const auto to_stdout = [](void*, std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
    };
    schedule.print({to_stdout, nullptr});
    const Score score = *world->resource<Score>();
    std::printf("%u shots, %u bullets gone, %u in the air\n", score.shots, score.expired,
                Query<const Bullet&>(*world).count());
    return score.shots == 300 && score.expired == 200 && world->check() == Status::ok ? 0 : 1;
}
