// A program with a small world: saves three ticks as <folder>/<number>.image, says so, and goes on simulating
// until the end of its input.
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/ecs/world_file.hpp>

#include <cstdio>
#include <string>

namespace {

struct Place {
    float x;
    float y;
};
struct Speed {
    float x;
    float y;
};
struct Story {
    ouro::FixedString<63> text;
};
struct Asleep {};

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

void step(ouro::World& world) {
    ouro::Query<Place&, const Speed&, ouro::Without<Asleep>>(world).each(
        [](Place& place, const Speed& speed) {
            place.x += speed.x;
            place.y += speed.y;
        });
}

// What a program with other structures would have written.
bool save_foreign(ouro::World& world, const std::string& folder) {
    auto& header = const_cast<ouro::WorldHeader&>(world.core().header());
    world.heap().edit(header).structures_hash = 0x77;
    if (!world.commit() || !ouro::save_world(world, (folder + "/foreign.image").c_str())) return false;
    world.heap().edit(header).structures_hash = ouro::kStructuresHash;
    return true;
}

}  // namespace

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<Story> = {.heat = ouro::Heat::cold};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<Speed> = {.heat = ouro::Heat::warm};

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const ouro::SegmentOptions segment{.name = "town", .bytes = 8 * kMib};
    auto ring =
        ouro::StateRing::create({.segments = {&segment, 1}, .history_ticks = 8, .history_bytes = 48 * kMib});
    if (!ring) return 1;
    auto world =
        ouro::World::create(*ring, {.segment = "town", .max_entities = 20'000, .max_archetypes = 64});
    if (!world) return 1;
    const auto ada = world->spawn(Place{1, 2}, Speed{0.5F, 0}, Story{"Ada came first"});
    const auto bob = world->spawn(Place{7, 7}, Asleep{});
    if (!ada || !bob || !world->spawn_copies(3'000, Place{0, 0}, Speed{1, 1}) ||
        !world->spawn_copies(700, Story{"a story"}, Place{5, 5}))
        return 1;
    if (!save_foreign(*world, argv[1])) return 1;
    if (ouro::set_name(*world, *ada, "Ada L.") != ouro::Status::ok) return 1;
    for (int tick = 0; tick < 3; ++tick) {
        step(*world);
        if (tick == 2 && world->destroy(*bob) != ouro::Status::ok) return 1;
        const std::string path = std::string(argv[1]) + "/" + std::to_string(tick) + ".image";
        if (!world->commit() || !ouro::save_world(*world, path.c_str())) return 1;
    }
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
        step(*world);
        if (!world->commit()) return 1;
    }
    return 0;
}
