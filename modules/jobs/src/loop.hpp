#pragma once

#include "chunk_range.hpp"
#include "counter.hpp"
#include "gate.hpp"
#include "patience.hpp"

#include <ouro/jobs/detail/loop_order.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

class GraphRun;

// What a participant has done in a loop.
struct LoopWork {
    std::uint64_t calls = 0;
    std::uint64_t steals = 0;
};

// A loop that is shared out, in a place of the pool's that serves one loop after another. Whoever wants to
// take part joins first and leaves afterwards; the owner closes it when nothing is left to begin, and the
// loop is over when everybody has left. So each chunk has been done that was taken, without counting them.
class alignas(kCacheLine) Loop {
public:
    Loop(std::span<ChunkRange> shares, unsigned spin_pauses) noexcept
        : shares_(shares), patience_(spin_pauses) {}

    // By the owner alone, in this order. The graph is the one whose task began the loop, or null.
    void open(const LoopOrder& order, GraphRun* graph) noexcept;
    // Does chunks until nobody has any left to take. By the owner, or between join and leave.
    [[nodiscard]] LoopWork work(unsigned participant) noexcept;
    void close_and_wait() noexcept { gate_.close_and_wait(patience_); }
    void count(const LoopWork& work) noexcept;

    // A guess from outside, true or false for a moment.
    [[nodiscard]] bool has_chunks() const noexcept { return gate_.is_open() && !are_shares_empty(); }
    // False when the loop is closed.
    [[nodiscard]] bool try_join() noexcept { return gate_.try_join(); }
    void leave() noexcept { gate_.leave(); }
    // A guess from outside; right between join and leave.
    [[nodiscard]] GraphRun* graph() const noexcept { return graph_.load(std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t loops() const noexcept { return loops_.value(); }
    [[nodiscard]] LoopWork work_of_owners() const noexcept { return {calls_.value(), steals_.value()}; }
    // Closed, with nobody inside and nothing left to do.
    [[nodiscard]] bool is_at_rest() const noexcept;

private:
    void call(Chunks chunks, unsigned participant) const noexcept;
    [[nodiscard]] bool steal(unsigned participant) noexcept;
    [[nodiscard]] bool are_shares_empty() const noexcept;

    Gate gate_;
    std::atomic<GraphRun*> graph_{nullptr};
    // Written by the owner while nobody is inside.
    LoopOrder order_;
    std::uint32_t chunk_count_ = 0;
    std::span<ChunkRange> shares_;

    // The owners', one after another.
    alignas(kCacheLine) Patience patience_;
    Counter loops_;
    Counter calls_;
    Counter steals_;
};

}  // namespace ouro::detail
