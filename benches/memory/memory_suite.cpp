#include "memory/memory_suite.hpp"

#include "harness/case.hpp"
#include "harness/suite.hpp"
#include "memory/malloc_peers.hpp"
#include "memory/resident_memory.hpp"

namespace ouro::bench {
namespace {

// Once for all cases, so that a peer's absence is seen in the results.
void report_missing(Session& session, const MallocPeers& peers) {
    for (const MissingPeer& peer : peers.missing)
        session.measure("general purpose: " + peer.name, kNanoseconds)
            .bar(ratio_at_most(1.0))
            .unavailable(peer.how_to_get_it);
}

// The cases that show memory beside time, before any heap has been used in this process.
void fill_book(Session& session, const MallocPeers& peers, MemoryBook& book) {
    book.is_open = true;
    measure_small_objects(session, peers);
    measure_cross_thread(session, peers);
    measure_end_to_end(session, peers);
    book.is_open = false;
}

void run_memory(Session& session) {
    measure_frames(session);
    MemoryBook book;
    MallocPeers peers = find_malloc_peers(session.peers());
    report_missing(session, peers);
    measure_memory_cost(session, peers);
    peers.book = &book;
    fill_book(session, peers, book);
    measure_small_objects(session, peers);
    measure_latency(session, peers);
    measure_cross_thread(session, peers);
    measure_threads_and_heaps(session, peers);
    measure_end_to_end(session, peers);
    measure_pools(session);
    measure_tlsf(session);
    measure_tlsf_space(session);
    measure_partitions(session);
    measure_hardening(session);
    measure_collections(session);
}

const RegisteredSuite kRegistered({"memory", "allocators beside those of others", run_memory});

}  // namespace
}  // namespace ouro::bench
