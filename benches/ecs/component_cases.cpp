// A component comes to all entities of two components, one by one, and goes again.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

struct Manner {
    std::string name;
    Change change;
    Feature needs;
    Bar bar;
};

EcsWork changing(const EntityRows& rows, const Manner& manner, bool adds) {
    return {.needs = manner.needs,
            .capacity = rows.size(),
            .prepare =
                [&rows, change = manner.change](EcsWorld& world) {
                    world.populate(Population::pairs, rows);
                    if (change == Change::switched) world.prepare_switch();
                },
            .run =
                [change = manner.change, adds](EcsWorld& world, Round& round) {
                    if (adds)
                        round.time([&] { world.add(change); });
                    else
                        world.add(change);
                    const std::uint64_t with = world.count_with(change);
                    if (adds)
                        world.remove(change);
                    else
                        round.time([&] { world.remove(change); });
                    round.check(1000 * with + world.count_with(change) + world.checksum());
                }};
}

}  // namespace

void measure_component_changes(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(100'000, 2'000)));
    const std::string count = ", " + count_name(rows.size());
    // Where components are columns of archetypes, a new one moves the entity: EnTT, which has none, is no
    // peer there.
    for (const Manner& manner :
         {Manner{"a component", Change::moved, Feature::moved, ratio_at_most(0.6)},
          Manner{"a sparse component", Change::sparse, Feature::sparse, ratio_at_most(1.0)},
          Manner{"a switched component", Change::switched, Feature::switched, ratio_at_most(1.0)}})
        for (const bool adds : {true, false})
            ecs_case(session, (adds ? "add " : "remove ") + manner.name + count, changing(rows, manner, adds))
                .bar(manner.bar)
                .operations(rows.size())
                .run();
}

}  // namespace ouro::bench
