#pragma once

#include "ecs/ecs_world.hpp"

// The candidates. The files behind the libraries' are chosen by CMake from what --peers has.
namespace ouro::bench {

[[nodiscard]] EcsCandidate our_ecs();
// Each component in an array of its own, ids are indices: what no library can beat. Prefaulted, normal pages.
[[nodiscard]] EcsCandidate raw_arrays();

[[nodiscard]] EcsCandidate entt_peer();
// Its owning group, for loops only.
[[nodiscard]] EcsCandidate entt_group_peer();
[[nodiscard]] EcsCandidate flecs_peer();
[[nodiscard]] EcsCandidate gaia_peer();

}  // namespace ouro::bench
