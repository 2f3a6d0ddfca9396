#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

struct MallocPeers;

// The parts of the suite, in the order of the table.
void measure_frames(Session& session);
// What memory costs comes before all that uses the peers: later they hold memory from before.
void measure_memory_cost(Session& session, const MallocPeers& peers);
void measure_small_objects(Session& session, const MallocPeers& peers);
void measure_latency(Session& session, const MallocPeers& peers);
void measure_cross_thread(Session& session, const MallocPeers& peers);
void measure_threads_and_heaps(Session& session, const MallocPeers& peers);
void measure_end_to_end(Session& session, const MallocPeers& peers);
void measure_pools(Session& session);
void measure_tlsf(Session& session);
void measure_tlsf_space(Session& session);
void measure_partitions(Session& session);
void measure_hardening(Session& session);
void measure_collections(Session& session);

}  // namespace ouro::bench
