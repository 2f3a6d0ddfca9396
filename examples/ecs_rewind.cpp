// A small game in the state ring: entities move, one is frozen, and all of it is taken back.
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world.hpp>

#include <cstdio>

namespace {

struct Position {
    float x;
    float y;
};
struct Velocity {
    float x;
    float y;
};
struct Frozen {};

void move(ouro::World& world) {
    using ouro::Query;
    using ouro::Without;
    Query<Position&, const Velocity&, Without<Frozen>>(world).each(
        [](Position& position, const Velocity& velocity) {
            position.x += velocity.x;
            position.y += velocity.y;
        });
}

}  // namespace

int main() {
    const ouro::SegmentOptions segment{.name = "world", .bytes = 16 << 20};
    auto ring = ouro::StateRing::create({.segments = {&segment, 1}, .history_bytes = 64 << 20});
    if (!ring) return 1;
    auto world = ouro::World::create(*ring, {.segment = "world", .max_entities = 10'000});
    if (!world) return 1;

    const auto ada = world->spawn(Position{1, 2}, Velocity{0, 1});
    if (!ada || !world->spawn_copies(1'000, Position{0, 0}, Velocity{1, 0})) return 1;
    for (int tick = 0; tick < 10; ++tick) {
        move(*world);
        if (!world->commit()) return 1;
    }
    const ouro::Tick kept = ring->newest();
    const std::uint64_t hash = ring->hash(kept).value_or(0);

    if (!world->add<Frozen>(*ada)) return 1;
    for (int tick = 0; tick < 10; ++tick) {
        move(*world);
        if (!world->commit()) return 1;
    }
    std::printf("frozen since tick %u: ada is at y = %.0f\n", static_cast<unsigned>(kept),
                static_cast<double>(world->get<Position>(*ada)->y));

    if (!ring->rollback(kept)) return 1;
    for (int tick = 0; tick < 10; ++tick) {
        move(*world);
        if (!world->commit()) return 1;
    }
    const float y = world->get<Position>(*ada)->y;
    const auto past = world->at(kept);
    if (!past) return 1;
    const auto then = past->get<Position>(*ada);
    std::printf("rewound, and never frozen: y = %.0f; at tick %u it was %.0f\n", static_cast<double>(y),
                static_cast<unsigned>(kept), static_cast<double>(then->y));
    return y == 22 && then->y == 12 && ring->hash(kept).value_or(0) == hash ? 0 : 1;
}
