// A flock of which every tick is kept: it flies, goes back 300 ticks before your eyes, meets another wind,
// and the two futures are compared.
#include "flock.hpp"

#include <ouro/ecs/past_world.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/terminal.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace {

using namespace ouro;

constexpr std::uint32_t kBirds = 20'000;
constexpr Tick kBack = 300;

class Show {
public:
    Show(World& world, JobPool& pool, Schedule& schedule, std::uint32_t pause_ticks)
        : world_(world), pool_(pool), schedule_(schedule), line_every_(pause_ticks) {}

    void head() const {
        std::printf("%8s %12s %12s %14s %16s %18s\n", "tick", "step", "commit", "captured", "history",
                    "hash");
    }
    [[nodiscard]] bool simulate_to(Tick last) {
        while (world_.ring().newest() < last)
            if (!step()) return false;
        return true;
    }

private:
    bool step() {
        const std::uint64_t start = os::monotonic_ns();
        if (!schedule_.run(world_, pool_)) return false;
        const std::uint64_t stepped = os::monotonic_ns();
        const auto tick = world_.commit();
        if (!tick) return false;
        const std::uint64_t committed = os::monotonic_ns();
        if (*tick % line_every_ != 0) return true;
        const StateRingStats stats = world_.ring().stats();
        const double used = static_cast<double>(stats.slots - stats.free_slots) * kStatePageBytes / (1 << 20);
        std::printf("%8llu %9.2f ms %9.3f ms %10.2f MiB %12.1f MiB   %016llx\n",
                    static_cast<unsigned long long>(*tick), static_cast<double>(stepped - start) / 1e6,
                    static_cast<double>(committed - stepped) / 1e6,
                    static_cast<double>(stats.last_pages) * kStatePageBytes / (1 << 20), used,
                    static_cast<unsigned long long>(world_.ring().hash(*tick).value_or(0)));
        std::fflush(stdout);
        return true;
    }

    World& world_;
    JobPool& pool_;
    Schedule& schedule_;
    std::uint32_t line_every_;
};

// Over an edge where that is shorter.
double distance(float one, float other) {
    const double straight = std::abs(static_cast<double>(one) - static_cast<double>(other));
    return straight > flock::kWidth / 2 ? flock::kWidth - straight : straight;
}

// How far apart the same birds are in two futures.
void compare(const PastWorld& one, const PastWorld& other) {
    std::uint32_t moved = 0;
    double sum = 0;
    one.query<Entity, const flock::Position&>().each([&](Entity bird, const flock::Position& here) {
        const auto there = other.get<flock::Position>(bird);
        if (!there || (here.x == there->x && here.y == there->y)) return;
        ++moved;
        sum += std::hypot(distance(here.x, there->x), distance(here.y, there->y));
    });
    std::printf("of %u birds, %u are elsewhere in the other future, %.1f apart on average\n",
                one.entity_count(), moved, moved == 0 ? 0 : sum / moved);
}

int show(World& world, JobPool& pool, Schedule& schedule, Tick last) {
    StateRing& ring = world.ring();
    Show shown(world, pool, schedule, last >= 600 ? 60 : 30);
    std::printf("%u birds on %u threads; every tick is kept\n\n", kBirds, pool.participant_count());
    shown.head();
    if (!shown.simulate_to(last)) return 1;
    const std::uint64_t first_hash = ring.hash(last).value_or(0);

    const Tick back = last - kBack;
    const std::uint64_t start = os::monotonic_ns();
    const auto future = ring.branch(back);
    if (!future) return 1;
    std::printf("\nback to tick %llu in %.2f ms; the wind turns\n\n", static_cast<unsigned long long>(back),
                static_cast<double>(os::monotonic_ns() - start) / 1e6);
    flock::Wind* const wind = world.edit_resource<flock::Wind>();
    if (wind == nullptr) return 1;
    *wind = {0.03F, -0.02F};
    shown.head();
    if (!shown.simulate_to(last)) return 1;

    const auto then = world.at(*future, last);
    const auto now = world.at(last);
    if (!then || !now) return 1;
    std::printf("\n");
    compare(*now, *then);
    const bool differs = ring.hash(last).value_or(0) != first_hash;
    std::printf("both futures can be read: %s\n", differs ? "their hashes differ" : "they are the same");
    return differs ? 0 : 1;
}

}  // namespace

// With a number: how many ticks, at least 310. Shown by `./run`.
int main(int argc, char** argv) {
    const Tick last = argc > 1 ? static_cast<Tick>(std::strtoul(argv[1], nullptr, 10)) : 600;
    if (last < kBack + 10) {
        std::fprintf(stderr, "flock: give a number of ticks from %u on\n", static_cast<unsigned>(kBack + 10));
        return 2;
    }
    const SegmentOptions segment{.name = "world", .bytes = std::uint64_t{16} << 20};
    auto pool = JobPool::create();
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto ring = StateRing::create({.segments = {&segment, 1}, .history_bytes = std::uint64_t{768} << 20});
    if (!pool || !memory || !ring) return 1;
    auto world = World::create(*ring, {.max_entities = 2 * kBirds, .max_archetypes = 16});
    if (!world || flock::spawn_birds(*world, kBirds) != Status::ok || !world->commit()) return 1;
    flock::Cells cells;
    Schedule schedule(*memory);
    flock::add_systems(schedule, cells);
    return show(*world, *pool, schedule, last);
}
