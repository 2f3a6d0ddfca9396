#pragma once

#include "harness/case.hpp"
#include "memory/heaps.hpp"
#include "memory/malloc_peers.hpp"
#include "memory/our_heap.hpp"
#include "memory/resident_memory.hpp"

#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>

namespace ouro::bench {

// Whether the work of a case happens in one thread or several; in two, each on its core, where the second
// thread has one of its own.
enum class Sharing : unsigned char { one_thread, several_threads, two_cores };

// What a case of general-purpose allocation promises against the best peer: through our own contract, which
// hands the size to deallocate, and through malloc, which cannot.
struct GeneralBars {
    std::optional<Bar> native;
    std::optional<Bar> through_malloc;
    // Nothing of ours may be slower than what everybody has already.
    std::optional<Bar> against_system = ratio_at_most(1.0);
};

[[nodiscard]] inline bool only_weighs(const MallocPeers& peers) {
    return peers.book != nullptr && peers.book->is_open;
}

// The work, which also tells what it holds in the case.
[[nodiscard]] inline Work with_memory(const MallocPeers& peers, const std::string& name,
                                      const std::string& heap, Work work) {
    if (peers.book == nullptr) return work;
    return peers.book->enter(name + ": " + heap, std::move(work));
}

// Adds everyone but ours; make_work turns a heap and its name into the work.
template <class MakeWork>
void add_general_peers(Case& row, const MallocPeers& peers, const std::optional<Bar>& against_system,
                       Sharing sharing, const MakeWork& make_work) {
    for (const MallocPeer& peer : peers.found) {
        const bool system = peer.name == kSystemMalloc;
        row.peer(peer.name, peer.version, make_work(MallocHeap(peer), peer.name),
                 system ? against_system : std::nullopt);
    }
    const std::string version = standard_library_version();
    if (sharing == Sharing::one_thread)
        row.peer(
            "pmr::unsync_pool", version,
            make_work(PmrHeap(std::make_shared<std::pmr::unsynchronized_pool_resource>()), "unsync_pool"),
            against_system);
    row.peer("pmr::sync_pool", version,
             make_work(PmrHeap(std::make_shared<std::pmr::synchronized_pool_resource>()), "sync_pool"),
             against_system);
    for (const MissingPeer& peer : peers.missing)
        row.missing_peer(peer.name, peer.how_to_get_it);
    row.against_the_best({kSystemMalloc, "pmr::unsync_pool", "pmr::sync_pool"});
    if (sharing == Sharing::several_threads) row.on_any_core();
}

// One case through our contract, one through our malloc, each beside all peers. `configure` says to both what
// else there is to say about the case. While the book of memory is open, it weighs and measures nothing.
template <class MakeWork, class Configure>
void measure_general(Session& session, const MallocPeers& peers, const std::string& name, const Unit& unit,
                     const GeneralBars& bars, Sharing sharing, const MakeWork& make_work,
                     const Configure& configure) {
    if (only_weighs(peers) && !session.wants(name + ", malloc")) return;
    const auto weighed = [&](const auto& heap, const std::string& of) {
        return with_memory(peers, name, of, make_work(heap));
    };
    const auto finish = [&](Case& row, const std::optional<Bar>& bar) {
        if (bar) row.bar(*bar);
        // Not even a bound is made then: this process's own heap would not be fresh any more.
        if (!only_weighs(peers)) configure(row);
        add_general_peers(row, peers, bars.against_system, sharing, weighed);
        if (!only_weighs(peers)) row.run();
    };
    Case native = session.measure(name, unit);
    native.ours(weighed(OurHeap(), "ours"));
    finish(native, bars.native);
    Case through_malloc = session.measure(name + ", malloc", unit);
    if (!peers.ours) {
        if (!only_weighs(peers)) through_malloc.unavailable("build the target ouro_malloc");
        return;
    }
    through_malloc.ours(weighed(MallocHeap(*peers.ours), "our malloc"));
    finish(through_malloc, bars.through_malloc);
}

}  // namespace ouro::bench
