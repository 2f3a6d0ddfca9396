// Saves a small world as <path>, raw, and prints what is in it as one JSON object.
#include <ouro/ecs/world.hpp>
#include <ouro/ecs/world_file.hpp>

#include <cstdio>
#include <vector>

namespace {

struct Place {
    float x;
    float y;
};
struct Health {
    std::int32_t points;
};
struct Asleep {};

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const ouro::SegmentOptions segment{.name = "town", .bytes = 2 * kMib};
    auto ring =
        ouro::StateRing::create({.segments = {&segment, 1}, .history_ticks = 4, .history_bytes = 24 * kMib});
    if (!ring) return 1;
    auto world = ouro::World::create(*ring, {.segment = "town", .max_entities = 1'000, .max_archetypes = 16});
    if (!world) return 1;
    std::vector<ouro::Entity> entities;
    for (std::int32_t i = 0; i < 200; ++i) {
        const Place place{static_cast<float>(i) / 2, static_cast<float>(-i)};
        const auto entity =
            i % 3 == 0 ? world->spawn(place, Asleep{}) : world->spawn(place, Health{i * 1'000 - 70'000});
        if (!entity) return 1;
        entities.push_back(*entity);
    }
    for (const std::size_t gone : {5U, 90U})
        if (world->destroy(entities[gone]) != ouro::Status::ok) return 1;
    if (!world->spawn(Place{0.5F, 0.25F})) return 1;
    if (!world->commit() || !ouro::save_world(*world, argv[1], ouro::ImageCodec::raw)) return 1;
    std::printf("{\"entities\": [");
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const ouro::Entity entity = entities[i];
        const Place* const place = world->get<Place>(entity);
        const Health* const health = world->get<Health>(entity);
        if (i != 0) std::printf(", ");
        std::printf("{\"bits\": \"%llu\"", static_cast<unsigned long long>(entity.bits()));
        if (place != nullptr)
            std::printf(", \"x\": %g, \"y\": %g", static_cast<double>(place->x),
                        static_cast<double>(place->y));
        if (health != nullptr) std::printf(", \"points\": %d", health->points);
        std::printf(", \"asleep\": %s}", world->has<Asleep>(entity) ? "true" : "false");
    }
    std::printf("], \"live\": %u}\n", world->stats().entities);
    return 0;
}
