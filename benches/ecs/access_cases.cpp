// A component of an entity whose id is at hand.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

#include <ouro/base/random.hpp>

#include <numeric>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

EcsWork getting(const EntityRows& rows, const std::vector<std::uint32_t>& order) {
    return {.capacity = rows.size(),
            .prepare = [&rows](EcsWorld& world) { world.populate(Population::pairs, rows); },
            .run =
                [&order](EcsWorld& world, Round& round) {
                    std::uint64_t sum = 0;
                    round.time([&] { sum = world.get(order); });
                    round.check(sum);
                }};
}

}  // namespace

void measure_access(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::string count = count_name(rows.size());
    ecs_case(session, "get in order, " + count, getting(rows, order))
        .bar(ratio_at_most(0.8))
        .operations(rows.size())
        .run();
    Random random(6);
    for (std::uint32_t i = rows.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    ecs_case(session, "get at random, " + count, getting(rows, order))
        .bar(ratio_at_most(0.6))
        .operations(rows.size())
        .run();
}

}  // namespace ouro::bench
