// The loop on two threads: its time, and how much faster than on one it is.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

#include <ouro/os/clock.hpp>

#include <algorithm>

namespace ouro::bench {
namespace {

EcsWork moving(const EntityRows& rows, unsigned times) {
    return {.needs = Feature::two_threads,
            .capacity = rows.size(),
            .prepare = [&rows](EcsWorld& world) { world.populate(Population::pairs, rows); },
            .run =
                [times](EcsWorld& world, Round& round) {
                    world.rewind();
                    round.time([&] { world.integrate_on_two_threads(times); });
                    round.check(world.checksum());
                }};
}

// One thread and two take turns, the better of several of each: a ratio of two single times would be noise.
EcsWork speeding_up(const EntityRows& rows, unsigned times) {
    EcsWork work = moving(rows, times);
    work.run = [times](EcsWorld& world, Round& round) {
        double best[2] = {1e18, 1e18};
        for (unsigned turn = 0; turn < 6; ++turn) {
            const std::uint64_t begin = os::monotonic_ns();
            if (turn % 2 == 0)
                world.integrate(times);
            else
                world.integrate_on_two_threads(times);
            best[turn % 2] = std::min(best[turn % 2], static_cast<double>(os::monotonic_ns() - begin));
        }
        round.add_figure(best[0] / best[1]);
    };
    return work;
}

}  // namespace

void measure_two_threads(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    const unsigned times = session.is_quick() ? 1 : 4;
    const std::string name = "pos += vel, two threads, " + count_name(rows.size());
    ecs_case(session, name, moving(rows, times))
        .operations(std::uint64_t{rows.size()} * times)
        .on_any_core()
        .run();
    const EcsCandidate ours = our_ecs();
    if (ours.version.empty()) return;
    const EcsWork work = speeding_up(rows, times);
    Case gained = session.measure("speed-up by two threads, " + count_name(rows.size()), kTimes);
    gained.ours(work_on(ours, work))
        .peer("raw arrays", "normal pages", work_on(raw_arrays(), work), ratio_at_least(0.95));
    for (const EcsCandidate& peer : {entt_peer(), flecs_peer(), gaia_peer()})
        if (!peer.version.empty() && peer.has(Feature::two_threads))
            gained.peer(peer.name, peer.version, work_on(peer, work));
    gained.operations(1).median().on_any_core().run();
}

}  // namespace ouro::bench
