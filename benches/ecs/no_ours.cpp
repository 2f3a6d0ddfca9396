#include "ecs/ecs_peers.hpp"

namespace ouro::bench {

EcsCandidate our_ecs() {
    return {"ours", {}};
}

}  // namespace ouro::bench
