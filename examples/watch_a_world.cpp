// A second process looks at the world of the first while that simulates: its image is mapped read-only there.
// Without arguments this is the first process, which starts itself again as the second.
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/reader_query.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/image_mapping.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Position {
    float x;
    float y;
};
struct Asleep {};

constexpr int kSteps = 50;
constexpr std::uint32_t kWalkers = 1'000;

// How far the walkers are, as soon as they have gone far enough.
int watch(std::uint32_t process, int descriptor) {
    const auto image = ouro::ImageMapping::attach_process(process, descriptor);
    if (!image) return 1;
    const std::span<const std::byte> bytes(image->base().start(), image->base().size());
    for (;;) {
        const auto reader = ouro::WorldReader::open(bytes, "world");
        if (!reader) return 1;
        std::uint32_t walkers = 0;
        float least = kSteps;
        const ouro::ReaderQuery<const Position&, ouro::Without<Asleep>> awake(*reader);
        const ouro::Status status = awake.each([&](const Position& position) {
            ++walkers;
            least = position.x < least ? position.x : least;
        });
        if (status != ouro::Status::ok || reader->has_moved_on() || least < kSteps) continue;
        std::printf("seen from outside: %u walkers, all of them at %.0f or further\n", walkers,
                    static_cast<double>(least));
        return walkers == kWalkers ? 0 : 1;
    }
}

struct Simulation {
    ouro::World world;
    std::atomic<bool> is_over = false;
};

void simulate(void* argument) {
    auto& simulation = *static_cast<Simulation*>(argument);
    while (!simulation.is_over.load()) {
        ouro::Query<Position&, ouro::Without<Asleep>>(simulation.world).each([](Position& position) {
            position.x += 1;
        });
        if (!simulation.world.commit()) return;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3) return watch(static_cast<std::uint32_t>(std::atoi(argv[1])), std::atoi(argv[2]));
    const ouro::SegmentOptions segment{.name = "world", .bytes = 4 << 20};
    auto ring =
        ouro::StateRing::create({.segments = {&segment, 1}, .history_ticks = 16, .history_bytes = 32 << 20});
    if (!ring) return 1;
    auto world = ouro::World::create(*ring, {.segment = "world", .max_entities = 10'000});
    if (!world || !world->spawn_copies(kWalkers, Position{0, 0})) return 1;
    if (!world->spawn(Position{0, 0}, Asleep{}) || !world->commit()) return 1;
    Simulation simulation{*std::move(world)};
    auto thread = ouro::os::Thread::start(simulate, &simulation);
    if (!thread) return 1;
    const std::string command = std::string("\"") + argv[0] + "\" " + std::to_string(ouro::os::process_id()) +
                                " " + std::to_string(ring->image_descriptor());
    const int result = std::system(command.c_str());
    simulation.is_over.store(true);
    thread->join();
    return result == 0 ? 0 : 1;
}
