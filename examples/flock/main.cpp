// A flock of which every tick is kept: it flies, goes back 300 ticks before your eyes and flies the same way
// again, hash by hash; then it goes back once more, meets another wind, and the two futures are compared.
#include "flock.hpp"

#include <ouro/ecs/past_world.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace ouro;

constexpr std::uint32_t kBirds = 20'000;
constexpr Tick kBack = 300;

double milliseconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e6;
}

unsigned long long shown(std::uint64_t number) {
    return number;
}

// How long the last commits took.
class CommitTimes {
public:
    static constexpr std::size_t kKept = 60;

    void add(std::uint64_t ns) { kept_[count_++ % kKept] = ns; }
    // From the shortest to the longest.
    [[nodiscard]] std::vector<std::uint64_t> sorted() const {
        const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kKept));
        std::vector<std::uint64_t> all(kept_.begin(), end);
        std::ranges::sort(all);
        return all;
    }

private:
    std::array<std::uint64_t, kKept> kept_{};
    std::size_t count_ = 0;
};

class Show {
public:
    Show(World& world, JobPool& pool, Schedule& schedule, std::uint32_t line_every)
        : world_(world), pool_(pool), schedule_(schedule), line_every_(line_every) {}

    static void head() {
        std::printf("%5s  %8s  %9s  %9s  %9s  %9s  %16s\n", "tick", "step", "commit", "worst", "captured",
                    "history", "hash");
    }
    [[nodiscard]] bool simulate_to(Tick last, bool prints) {
        while (world_.ring().newest() < last)
            if (!step(prints)) return false;
        return true;
    }

private:
    bool step(bool prints) {
        const std::uint64_t start = os::monotonic_ns();
        if (!schedule_.run(world_, pool_)) return false;
        const std::uint64_t stepped = os::monotonic_ns();
        const auto tick = world_.commit();
        if (!tick) return false;
        times_.add(os::monotonic_ns() - stepped);
        if (prints && *tick % line_every_ == 0) print(*tick, stepped - start);
        return true;
    }
    void print(Tick tick, std::uint64_t step_ns) const {
        const StateRingStats stats = world_.ring().stats();
        const double used = static_cast<double>(stats.slots - stats.free_slots) * kStatePageBytes / (1 << 20);
        const std::vector<std::uint64_t> commits = times_.sorted();
        std::printf("%5llu  %5.2f ms  %6.3f ms  %6.3f ms  %5.2f MiB  %5.0f MiB  %016llx\n", shown(tick),
                    milliseconds(step_ns), milliseconds(commits[commits.size() / 2]),
                    milliseconds(commits.back()),
                    static_cast<double>(stats.last_pages) * kStatePageBytes / (1 << 20), used,
                    shown(world_.ring().hash(tick).value_or(0)));
        std::fflush(stdout);
    }

    World& world_;
    JobPool& pool_;
    Schedule& schedule_;
    std::uint32_t line_every_;
    CommitTimes times_;
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

std::vector<std::uint64_t> hashes_behind(const StateRing& ring, Tick tick) {
    std::vector<std::uint64_t> hashes;
    while (tick < ring.newest())
        hashes.push_back(ring.hash(++tick).value_or(0));
    return hashes;
}

// The same again: each tick has the hash that it had.
bool replay(StateRing& ring, Show& show, Tick back, const std::vector<std::uint64_t>& first) {
    const std::uint64_t start = os::monotonic_ns();
    if (!show.simulate_to(back + first.size(), false)) return false;
    const std::vector<std::uint64_t> second = hashes_behind(ring, back);
    const bool is_equal = second == first;
    std::printf("replayed to tick %llu in %.0f ms, hash %016llx: %s in all %zu ticks\n", shown(ring.newest()),
                milliseconds(os::monotonic_ns() - start), shown(second.back()),
                is_equal ? "equal" : "NOT equal", first.size());
    return is_equal;
}

// Goes back, another wind blows, and the flock flies on.
bool fly_otherwise(World& world, Show& show, Tick back, Tick last) {
    const std::uint64_t start = os::monotonic_ns();
    if (!world.ring().rollback(back)) return false;
    std::printf("back to tick %llu in %.2f ms, and the wind turns\n", shown(back),
                milliseconds(os::monotonic_ns() - start));
    flock::Wind* const wind = world.edit_resource<flock::Wind>();
    if (wind == nullptr) return false;
    *wind = {0.03F, -0.02F};
    return show.simulate_to(last, true);
}

int show_all(World& world, Show& show, Tick last) {
    StateRing& ring = world.ring();
    Show::head();
    if (!show.simulate_to(last, true)) return 1;
    const Tick back = last - kBack;
    const std::vector<std::uint64_t> first = hashes_behind(ring, back);

    const std::uint64_t start = os::monotonic_ns();
    const auto future = ring.branch(back);
    if (!future) return 1;
    std::printf("\nback to tick %llu in %.2f ms; what was behind it is kept\n", shown(back),
                milliseconds(os::monotonic_ns() - start));
    if (!replay(ring, show, back, first) || !fly_otherwise(world, show, back, last)) return 1;

    const auto then = world.at(*future, last);
    const auto now = world.at(last);
    if (!then || !now) return 1;
    compare(*now, *then);
    const std::uint64_t hash = ring.hash(last).value_or(0);
    if (hash == first.back()) return 1;
    std::printf("both futures can be read: hash %016llx, and %016llx with the other wind\n",
                shown(first.back()), shown(hash));
    return 0;
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
    // Without `prefaults`, the first use of each part of the history would be the worst commit.
    auto ring = StateRing::create(
        {.segments = {&segment, 1}, .history_bytes = std::uint64_t{448} << 20, .prefaults = true});
    if (!pool || !memory || !ring) return 1;
    auto world = World::create(*ring, {.max_entities = 2 * kBirds, .max_archetypes = 16});
    if (!world || flock::spawn_birds(*world, kBirds) != Status::ok || !world->commit()) return 1;
    flock::Cells cells;
    Schedule schedule(*memory);
    flock::add_systems(schedule, cells);
    std::printf("%u birds on %u threads; every tick is kept; commits: median and worst of the last 60\n",
                kBirds, pool->participant_count());
    Show show(*world, *pool, schedule, last >= 600 ? 60 : 30);
    return show_all(*world, show, last);
}
