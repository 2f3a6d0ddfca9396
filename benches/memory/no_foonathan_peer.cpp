#include "memory/pool_peers.hpp"

namespace ouro::bench {

PoolPeer foonathan_pool(std::size_t, const ChurnOrder&) {
    return {"foonathan pool", {}, {}};
}

}  // namespace ouro::bench
