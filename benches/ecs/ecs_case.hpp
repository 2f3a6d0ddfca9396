#pragma once

#include "ecs/ecs_peers.hpp"
#include "harness/case.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ouro::bench {

// What is done with a world in a case.
struct EcsWork {
    Feature needs = Feature::basics;
    std::uint32_t capacity = 0;
    // Once for each world, not timed.
    std::function<void(EcsWorld& world)> prepare = [](EcsWorld&) {};
    std::function<void(EcsWorld& world, Round& round)> run;
    // A new world in each round; else each candidate keeps its own.
    bool renews = false;
};

// The work on a candidate's world, which is made when it is first needed.
[[nodiscard]] Work work_on(const EcsCandidate& candidate, const EcsWork& work);

// A case with ours, raw arrays as the bound and one row against the best of these peers; who lacks the
// feature is left out.
[[nodiscard]] Case ecs_case(Session& session, const std::string& name, const EcsWork& work,
                            const std::vector<EcsCandidate>& peers = {entt_peer(), flecs_peer(),
                                                                      gaia_peer()});

// "1M", "100k", "300".
[[nodiscard]] std::string count_name(std::uint64_t count);

}  // namespace ouro::bench
