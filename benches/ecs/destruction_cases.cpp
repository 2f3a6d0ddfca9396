// Entities with two components are destroyed, in the order of their making or all at once.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

constexpr unsigned kRounds = 7;

EcsWork destroying(const EntityRows& rows, Feature needs, void (EcsWorld::*destroy)()) {
    return {.needs = needs,
            .capacity = rows.size(),
            .run =
                [&rows, destroy](EcsWorld& world, Round& round) {
                    world.populate(Population::pairs, rows);
                    round.time([&] { (world.*destroy)(); });
                    round.check(world.checksum());
                },
            .renews = true};
}

}  // namespace

void measure_destruction(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    const std::string count = count_name(rows.size());
    ecs_case(session, "destroy one by one, " + count,
             destroying(rows, Feature::destruction, &EcsWorld::destroy_each))
        .bar(ratio_at_most(0.7))
        .operations(rows.size())
        .rounds_at_most(kRounds)
        .run();
    ecs_case(session, "destroy in bulk, " + count,
             destroying(rows, Feature::bulk_destruction, &EcsWorld::destroy_bulk))
        .bar(ratio_at_most(0.5))
        .operations(rows.size())
        .rounds_at_most(kRounds)
        .run();
}

}  // namespace ouro::bench
