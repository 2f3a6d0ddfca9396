#include "ecs/ecs_peers.hpp"

namespace ouro::bench {

EcsCandidate flecs_peer() {
    return {"flecs", {}};
}

}  // namespace ouro::bench
