// A small game in the state ring: entities move, one is frozen, and all of it is taken back.
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world.hpp>

#include <cstdio>

using namespace ouro;

namespace {

// A component is a plain struct of fixed-width fields, an empty one is a tag.
struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
struct Frozen {};

bool simulate(World& world, int ticks) {
    for (int i = 0; i < ticks; ++i) {
        const Query<Position&, const Velocity&, Without<Frozen>> movers(world);
        movers.each([](Position& position, const Velocity& velocity) {
            position.x += velocity.x;
            position.y += velocity.y;
        });
        if (!world.commit()) return false;  // the tick ends, and is kept
    }
    return true;
}

}  // namespace

int main() {
    const SegmentOptions segment{.name = "world", .bytes = 16 << 20};
    auto ring = StateRing::create({.segments = {&segment, 1}, .history_bytes = 64 << 20});
    if (!ring) return 1;
    auto world = World::create(*ring, {.segment = "world", .max_entities = 10'000});
    if (!world) return 1;

    const auto ada = world->spawn(Position{1, 2}, Velocity{0, 1});
    if (!ada || !world->spawn_copies(1'000, Position{0, 0}, Velocity{1, 0})) return 1;
    if (!simulate(*world, 10)) return 1;
    const Tick kept = ring->newest();

    if (!world->add<Frozen>(*ada) || !simulate(*world, 10)) return 1;
    std::printf("frozen: ada is at y = %g\n", static_cast<double>(world->get<Position>(*ada)->y));

    // Nothing of it has happened. Any tick that is kept can be read.
    if (!ring->rollback(kept) || !simulate(*world, 10)) return 1;
    const auto past = world->at(kept);
    if (!past) return 1;
    const float now = world->get<Position>(*ada)->y, then = past->get<Position>(*ada)->y;
    std::printf("rewound, never frozen: y = %g; it was %g then\n", static_cast<double>(now),
                static_cast<double>(then));
    return now == 22 && then == 12 ? 0 : 1;
}
