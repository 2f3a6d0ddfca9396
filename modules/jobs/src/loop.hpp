#pragma once

#include "chunk_range.hpp"
#include "counter.hpp"
#include "patience.hpp"

#include <ouro/jobs/detail/loop_order.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

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

    // By the owner alone, in this order.
    void open(const LoopOrder& order) noexcept;
    // Does chunks until nobody has any left to take. By the owner, or between join and leave.
    [[nodiscard]] LoopWork work(unsigned participant) noexcept;
    void close_and_wait() noexcept;
    void count(const LoopWork& work) noexcept;

    // A guess from outside, true or false for a moment.
    [[nodiscard]] bool has_chunks() const noexcept;
    // False when the loop is closed.
    [[nodiscard]] bool try_join() noexcept;
    void leave() noexcept;

    [[nodiscard]] std::uint64_t loops() const noexcept { return loops_.value(); }
    [[nodiscard]] LoopWork work_of_owners() const noexcept { return {calls_.value(), steals_.value()}; }
    // Closed, with nobody inside and nothing left to do.
    [[nodiscard]] bool is_at_rest() const noexcept;

private:
    // The gate: whether the loop is open, whether the owner sleeps, and how many workers are inside.
    static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
    static constexpr std::uint32_t kOwnerSleeps = std::uint32_t{1} << 30;
    static constexpr std::uint32_t kInside = kOwnerSleeps - 1;

    void call(Chunks chunks, unsigned participant) const noexcept;
    [[nodiscard]] bool steal(unsigned participant) noexcept;
    void sleep_until_empty() noexcept;

    std::atomic<std::uint32_t> gate_{0};
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
