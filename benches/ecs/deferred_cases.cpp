// Changes that are recorded for each entity and then all done, as a system that iterates must: recording and
// doing are timed together.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

EcsWork deferring(const EntityRows& rows, void (EcsWorld::*change)()) {
    return {.needs = Feature::deferred_changes,
            .capacity = rows.size(),
            .prepare = [&rows](EcsWorld& world) { world.populate(Population::pairs, rows); },
            .run =
                [change](EcsWorld& world, Round& round) {
                    round.time([&] { (world.*change)(); });
                    round.check(1000 * world.count_with(Change::moved) + world.checksum());
                },
            .renews = true};
}

EcsWork spawning(const EntityRows& rows) {
    return {.needs = Feature::deferred_spawns,
            .capacity = rows.size(),
            .run =
                [&rows](EcsWorld& world, Round& round) {
                    round.time([&] { world.spawn_deferred(rows); });
                    round.check(world.checksum());
                },
            .renews = true};
}

}  // namespace

void measure_deferred_changes(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(100'000, 2'000)));
    const std::string count = count_name(rows.size());
    const auto measure = [&](const std::string& name, const EcsWork& work) {
        ecs_case(session, name + count, work).bar(ratio_at_most(0.5)).operations(rows.size()).run();
    };
    measure("deferred add, ", deferring(rows, &EcsWorld::add_deferred));
    measure("deferred spawn, 2 components, ", spawning(rows));
    measure("deferred destroy, ", deferring(rows, &EcsWorld::destroy_deferred));
}

}  // namespace ouro::bench
