#include "ecs/ecs_peers.hpp"

namespace ouro::bench {

EcsCandidate gaia_peer() {
    return {"gaia-ecs", {}};
}

}  // namespace ouro::bench
