// One row in a hundred is written; a query visits what has changed. The time is that of one changed row.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <vector>

namespace ouro::bench {
namespace {

std::vector<std::uint32_t> chosen_rows(std::uint32_t rows) {
    Random random(100);
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t begin = 0; begin + 100 <= rows; begin += 100)
        chosen.push_back(begin + random.below(100));
    for (std::size_t i = chosen.size(); i > 1; --i)
        std::swap(chosen[i - 1], chosen[random.below(static_cast<std::uint32_t>(i))]);
    return chosen;
}

EcsWork visiting(const EntityRows& rows, const std::vector<std::uint32_t>& chosen, bool times_the_writes) {
    return {.needs = Feature::change_detection,
            .capacity = rows.size(),
            .prepare =
                [&rows](EcsWorld& world) {
                    world.populate(Population::pairs, rows);
                    world.rewind();
                    world.settle();
                },
            .run =
                [&chosen, times_the_writes](EcsWorld& world, Round& round) {
                    std::uint64_t sum = 0;
                    if (times_the_writes) {
                        round.time([&] { world.touch(chosen); });
                        sum = world.sum_changed();
                    } else {
                        world.touch(chosen);
                        round.time([&] { sum = world.sum_changed(); });
                    }
                    world.settle();
                    round.check(sum);
                }};
}

}  // namespace

void measure_change_detection(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    const std::vector<std::uint32_t> chosen = chosen_rows(rows.size());
    const std::string count = count_name(chosen.size()) + " of " + count_name(rows.size());
    ecs_case(session, "query a changed row, " + count, visiting(rows, chosen, false))
        .bar(ratio_at_most(0.5))
        .operations(chosen.size())
        .run();
    // There is no bar for the writes: the row shows who pays for the query beforehand.
    ecs_case(session, "write a row, noticed, " + count, visiting(rows, chosen, true))
        .operations(chosen.size())
        .run();
}

}  // namespace ouro::bench
