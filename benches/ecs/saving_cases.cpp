// A world of four components is kept, spoilt, and brought back. flecs has nothing for it: its columns are
// copied by hand, and a world is made of them. Raw arrays are restored from a copy that is some ticks old.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

namespace ouro::bench {
namespace {

EcsWork saving(const EntityRows& rows, bool restores) {
    return {.needs = restores ? Feature::restore : Feature::save,
            .capacity = rows.size(),
            .prepare =
                [&rows](EcsWorld& world) {
                    world.populate(Population::quads, rows);
                    world.prepare_save();
                },
            .run =
                [restores](EcsWorld& world, Round& round) {
                    world.write_all();
                    if (restores) {
                        world.save();
                        world.spoil();
                        round.time([&] { world.restore(); });
                    } else {
                        round.time([&] { world.save(); });
                    }
                    round.check(world.checksum());
                }};
}

}  // namespace

void measure_saving(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(100'000, 2'000)));
    const std::string count = ", 4 components, " + count_name(rows.size());
    const auto measure = [&](const std::string& name, bool restores) {
        ecs_case(session, name + count, saving(rows, restores)).operations(rows.size()).run();
        const EcsCandidate ours = our_ecs();
        if (!restores || ours.version.empty()) return;
        session.measure(name + count, kNanoseconds)
            .ours(work_on(ours, saving(rows, true)))
            .peer("raw arrays", "memcpy", work_on(raw_arrays(), saving(rows, true)))
            .bar(ratio_at_most(1.1))
            .operations(rows.size())
            .run();
    };
    measure("save", false);
    measure("restore", true);
}

}  // namespace ouro::bench
