#pragma once

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// The newest tick, and how often it was gone back. One thread changes it; any number ask.
//
// A reader asks for the turn, whether the tick is there, takes a lease, and asks both again. When nothing has
// changed, the lease was there before the ticks behind were looked for in the leases, or the tick is one of
// the timeline that began then. All in one order for all threads: see LeaseTable.
//
// Tests have another word, and stop between its changes.
template <class Word>
class BasicTimeline {
public:
    [[nodiscard]] std::uint32_t newest() const noexcept { return newest_.load(std::memory_order_seq_cst); }
    // Counts how often going back began.
    [[nodiscard]] std::uint32_t turn() const noexcept { return turn_.load(std::memory_order_seq_cst); }

    // Whoever sees the tick sees all of it. Nothing is asked of readers afterwards that would have to be in
    // one order with this: so it need not wait until what the tick has copied past the caches has arrived.
    void advance(std::uint32_t tick) noexcept { newest_.store(tick, std::memory_order_release); }
    // Nobody begins to read what is behind the tick from now on. The tick first: whoever knows of the new
    // turn must not see the ticks that were there before it.
    void go_back(std::uint32_t tick) noexcept {
        newest_.store(tick, std::memory_order_seq_cst);
        turn_.fetch_add(1, std::memory_order_seq_cst);
    }

    template <class Visit>
    void visit_words(Visit&& visit) noexcept {
        visit(newest_);
        visit(turn_);
    }

private:
    Word newest_{};
    Word turn_{};
};

using Timeline = BasicTimeline<std::atomic<std::uint32_t>>;

}  // namespace ouro::detail
