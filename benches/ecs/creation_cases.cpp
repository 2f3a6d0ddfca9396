// Entities are made in a new world each round. Ours and raw arrays stand on memory that is there; the others
// get theirs from the C library, which has kept much of it from the round before.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

constexpr unsigned kRounds = 7;

EcsWork creating(const EntityRows& rows, Feature needs, void (*create)(EcsWorld&, const EntityRows&)) {
    return {.needs = needs,
            .capacity = rows.size(),
            .run =
                [&rows, create](EcsWorld& world, Round& round) {
                    round.time([&] { create(world, rows); });
                    round.check(world.checksum());
                },
            .renews = true};
}

}  // namespace

void measure_creation(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    const std::string count = count_name(rows.size());
    const auto measure = [&](const std::string& name, const Bar& bar, const EcsWork& work) {
        ecs_case(session, name + count, work).bar(bar).operations(rows.size()).rounds_at_most(kRounds).run();
    };
    measure("create one by one, 2 components, ", ratio_at_most(0.2),
            creating(rows, Feature::basics,
                     [](EcsWorld& world, const EntityRows& from) { world.create_each(from); }));
    measure("create in bulk, 2 components, ", ratio_at_most(0.3),
            creating(rows, Feature::bulk_creation,
                     [](EcsWorld& world, const EntityRows& from) { world.create_bulk(from, false); }));
    measure("create in bulk, 4 components, ", ratio_at_most(0.3),
            creating(rows, Feature::bulk_creation,
                     [](EcsWorld& world, const EntityRows& from) { world.create_bulk(from, true); }));
}

}  // namespace ouro::bench
