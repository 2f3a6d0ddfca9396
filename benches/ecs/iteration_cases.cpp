// Loops by a lambda over all entities that have the components. The positions start at zero in each round.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

struct Loop {
    Population population = Population::pairs;
    unsigned times = 1;
    void (EcsWorld::*loop)(unsigned times) = nullptr;
};

EcsWork looping(const EntityRows& rows, const Loop& wanted) {
    return {.capacity = rows.size(),
            .prepare = [&rows, wanted](EcsWorld& world) { world.populate(wanted.population, rows); },
            .run =
                [wanted](EcsWorld& world, Round& round) {
                    world.rewind();
                    round.time([&] { (world.*wanted.loop)(wanted.times); });
                    round.check(world.checksum());
                }};
}

// Beside raw arrays alone, with a bar of its own.
void measure_beside_raw_arrays(Session& session, const std::string& name, const EntityRows& rows,
                               const Loop& wanted) {
    const EcsCandidate ours = our_ecs();
    if (ours.version.empty()) return;
    session.measure(name, kNanoseconds)
        .ours(work_on(ours, looping(rows, wanted)))
        .peer("raw arrays", "normal pages", work_on(raw_arrays(), looping(rows, wanted)))
        .bar(ratio_at_most(1.05))
        .operations(std::uint64_t{rows.size()} * wanted.times)
        .run();
}

}  // namespace

void measure_iteration(Session& session) {
    const EntityRows many(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    const EntityRows few(256 * 64);
    const std::string count = count_name(many.size());
    const unsigned times = session.is_quick() ? 1 : 4;
    const auto measure = [&](const std::string& name, const EntityRows& rows, const Loop& wanted,
                             const std::vector<EcsCandidate>& peers) {
        ecs_case(session, name, looping(rows, wanted), peers)
            .bar(ratio_at_most(1.0))
            .operations(std::uint64_t{rows.size()} * wanted.times)
            .run();
        measure_beside_raw_arrays(session, name, rows, wanted);
    };
    const std::vector<EcsCandidate> peers{entt_peer(), flecs_peer(), gaia_peer()};
    measure("pos += vel, " + count, many, {Population::pairs, times, &EcsWorld::integrate},
            {entt_peer(), entt_group_peer(), flecs_peer(), gaia_peer()});
    measure("3 components, 10 archetypes, " + count, many,
            {Population::ten_kinds, times, &EcsWorld::integrate_scaled}, peers);
    measure("pos += vel, 256 archetypes x 64", few,
            {Population::all_trait_sets, session.is_quick() ? 1U : 100U, &EcsWorld::integrate}, peers);
}

}  // namespace ouro::bench
