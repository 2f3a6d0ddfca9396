#include "loop.hpp"

#include <ouro/base/align.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <limits>

namespace ouro::detail {
namespace {

// Chunks are numbered with half of a word.
constexpr std::size_t kMostChunks = std::numeric_limits<std::int32_t>::max();

}  // namespace

void Loop::open(const LoopOrder& order, GraphRun* graph) noexcept {
    order_ = order;
    graph_.store(graph, std::memory_order_relaxed);
    // Whole multiples, so that ranges begin where the caller expects them.
    order_.grain *= units_of(units_of(order.count, order.grain), kMostChunks);
    const std::size_t chunks = units_of(order_.count, order_.grain);
    chunk_count_ = static_cast<std::uint32_t>(chunks);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const IndexRange share = even_range(chunks, shares_.size(), i);
        shares_[i].set({static_cast<std::uint32_t>(share.begin), static_cast<std::uint32_t>(share.end)});
    }
    gate_.open();
}

void Loop::call(Chunks chunks, unsigned participant) const noexcept {
    const std::size_t end = chunks.end == chunk_count_ ? order_.count : chunks.end * order_.grain;
    order_.call(order_.body, chunks.begin * order_.grain, end, participant);
}

LoopWork Loop::work(unsigned participant) noexcept {
    LoopWork done;
    ChunkRange& own = shares_[participant];
    do {
        for (Chunks next = own.take_front(order_.is_even); !next.is_empty();
             next = own.take_front(order_.is_even)) {
            call(next, participant);
            ++done.calls;
        }
        ++done.steals;
    } while (steal(participant));
    // The last attempt found nothing.
    --done.steals;
    return done;
}

bool Loop::steal(unsigned participant) noexcept {
    const std::size_t count = shares_.size();
    for (std::size_t i = 1; i < count; ++i) {
        ChunkRange& victim = shares_[(participant + i) % count];
        const Chunks taken = victim.take_back(order_.is_even);
        if (taken.is_empty()) continue;
        shares_[participant].set(taken);
        return true;
    }
    return false;
}

bool Loop::are_shares_empty() const noexcept {
    return std::ranges::all_of(shares_, [](const ChunkRange& share) { return share.peek().is_empty(); });
}

void Loop::count(const LoopWork& work) noexcept {
    loops_.add(1);
    calls_.add(work.calls);
    steals_.add(work.steals);
}

bool Loop::is_at_rest() const noexcept {
    return gate_.is_at_rest() && are_shares_empty();
}

}  // namespace ouro::detail
