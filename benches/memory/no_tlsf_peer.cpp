#include "memory/tlsf_peer.hpp"

namespace ouro::bench {

const TlsfPeer* tlsf_peer() {
    return nullptr;
}

}  // namespace ouro::bench
