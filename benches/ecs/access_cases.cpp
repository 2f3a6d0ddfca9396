// A component of an entity whose id is at hand; and of many whose ids are, where a library has something for
// that.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"

#include <ouro/base/random.hpp>

#include <numeric>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

using Get = std::uint64_t (EcsWorld::*)(std::span<const std::uint32_t> order);

EcsWork getting(const EntityRows& rows, const std::vector<std::uint32_t>& order, Get get,
                Population population) {
    return {.capacity = rows.size(),
            .prepare = [&rows, population](EcsWorld& world) { world.populate(population, rows); },
            .run =
                [&order, get](EcsWorld& world, Round& round) {
                    std::uint64_t sum = 0;
                    round.time([&] { sum = (world.*get)(order); });
                    round.check(sum);
                }};
}

}  // namespace

void measure_access(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(1'000'000, 5'000)));
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::string count = count_name(rows.size());
    const auto measure = [&](const std::string& name, double bar, Get get) {
        ecs_case(session, name + count, getting(rows, order, get, Population::pairs))
            .bar(ratio_at_most(bar))
            .operations(rows.size())
            .run();
    };
    measure("get in order, ", 0.8, &EcsWorld::get);
    measure("get a list in order, ", 0.8, &EcsWorld::get_list);
    Random random(6);
    for (std::uint32_t i = rows.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    measure("get at random, ", 0.6, &EcsWorld::get);
    measure("get a list at random, ", 0.6, &EcsWorld::get_list);
    // What an archetype's own tables cost, beside libraries that keep each component in one array.
    const auto inform = [&](const std::string& name, Get get) {
        ecs_case(session, name + count, getting(rows, order, get, Population::six_trait_sets))
            .operations(rows.size())
            .run();
    };
    inform("get at random of 64 archetypes, ", &EcsWorld::get);
    inform("get a list at random of 64 archetypes, ", &EcsWorld::get_list);
}

}  // namespace ouro::bench
