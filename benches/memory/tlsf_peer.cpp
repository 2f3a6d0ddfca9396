#include "memory/tlsf_peer.hpp"

#include <tlsf.h>

namespace ouro::bench {

const TlsfPeer* tlsf_peer() {
    static const TlsfPeer peer{tlsf_create_with_pool, tlsf_malloc,         tlsf_free,
                               tlsf_block_size,       tlsf_alloc_overhead, tlsf_size};
    return &peer;
}

}  // namespace ouro::bench
