// Input that ticks see again: sampled once a tick into the image, so that a tick that is simulated again
// reads what it read the first time.
#include <ouro/ecs/input_block.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>

namespace {

constexpr unsigned kKeyRight = 79;

struct World {
    ouro::InputState input;
    float x;
    std::uint32_t unused;
};

void step(World& world) {
    if (world.input.is_down(kKeyRight)) world.x += 1;
    world.x += world.input.mouse.moved_x;
}

}  // namespace

int main() {
    alignas(ouro::kInputBlockAlignment) static std::array<std::byte, sizeof(ouro::InputBlock)> shared;
    auto writer = ouro::InputWriter::create({shared.data(), shared.size()});
    auto reader = ouro::InputReader::attach(shared);
    constexpr std::array kSegments = {ouro::SegmentOptions{.name = "world", .bytes = 64 << 10}};
    auto ring = ouro::StateRing::create({.segments = kSegments, .history_ticks = 16});
    if (!writer || !reader || !ring) return 1;
    World& world = *reinterpret_cast<World*>(ring->segment_block("world")->data);

    for (unsigned tick = 1; tick <= 8; ++tick) {
        writer->key(kKeyRight, tick < 5);  // a window's thread would do this when it likes
        writer->move_mouse(0.5F, 0);
        writer->publish();
        if (reader->sample(world.input) != ouro::Status::ok) world.input.forget_events();
        step(world);
        if (ring->mark(&world, sizeof(world)) != ouro::Status::ok || !ring->commit()) return 1;
    }
    const float first = world.x;

    std::array<World, 9> past;
    const std::uint64_t place = ring->segments()[0].offset;
    for (unsigned tick = 3; tick <= 8; ++tick)
        if (ring->view(tick)->read(place, std::as_writable_bytes(std::span(&past[tick], 1))) !=
            ouro::Status::ok)
            return 1;
    if (!ring->rollback(2)) return 1;
    for (unsigned tick = 3; tick <= 8; ++tick) {
        world.input = past[tick].input;  // instead of a sample: what the tick saw
        step(world);
        if (ring->mark(&world, sizeof(world)) != ouro::Status::ok || !ring->commit()) return 1;
    }
    std::printf("x = %.1f, and simulated again %.1f\n", static_cast<double>(first),
                static_cast<double>(world.x));
    return first == 7.5F && world.x == first ? 0 : 1;
}
