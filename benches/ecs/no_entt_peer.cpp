#include "ecs/ecs_peers.hpp"

namespace ouro::bench {

EcsCandidate entt_peer() {
    return {"EnTT", {}};
}

EcsCandidate entt_group_peer() {
    return {"EnTT group", {}};
}

}  // namespace ouro::bench
