// Looks into any tick that is kept, from within the program: all of a world as text, what has changed between
// two ticks, and files of past ticks, for `ouro dump`.
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world_diff.hpp>
#include <ouro/ecs/world_dump.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_text.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace ouro;

namespace {

struct Position {
    float x, y;
};

void print(void*, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

// What `ouro dump <file> --entity <name>` shows, of a tick of this program.
Status dump(World& world, Tick tick, Entity entity) {
    const auto view = world.ring().view(tick);
    if (!view) return view.status();  // tick_gone: it is not kept any more
    const auto reader = WorldReader::open(*view, world.segment());
    if (!reader) return reader.status();
    return write_world_text(*reader, {print, nullptr}, {.entity = entity, .columns = false});
}

}  // namespace

int main() {
    const SegmentOptions segment{.name = "world", .bytes = 4 << 20};
    auto ring = StateRing::create({.segments = {&segment, 1}, .history_bytes = 64 << 20});
    auto world = ring ? World::create(*ring, {.max_entities = 1'000}) : ring.status();
    if (!world) return 1;
    const auto ada = world->spawn(Position{1, 2});
    if (!ada || set_name(*world, *ada, "ada") != Status::ok) return 1;
    for (int tick = 0; tick < 100; ++tick) {
        Query<Position&>(*world).each([](Position& position) { position.y += 1; });
        if (!world->commit()) return 1;
    }
    if (dump(*world, 40, *ada) != Status::ok) return 1;

    const auto then = world->at(40);
    const auto now = world->at(100);
    if (!then || !now) return 1;
    bool is_seen = false;
    const Status status = diff_worlds(*then, *now, [&](const WorldChange& change) {
        std::array<char, 200> text;
        std::puts(describe_change(change, text).data());
        is_seen |= std::string_view(text.data()) == "0:1 Position.y 42 -> 102";
    });
    // For later, and for others: ouro dump later.image --against earlier.image
    const std::string folder = std::filesystem::temp_directory_path().string();
    const std::string earlier = folder + "/earlier.image", later = folder + "/later.image";
    const bool is_saved = save_world(*then, earlier.c_str()) && save_world(*now, later.c_str());
    std::remove(earlier.c_str());
    std::remove(later.c_str());
    return status == Status::ok && is_seen && is_saved ? 0 : 1;
}
