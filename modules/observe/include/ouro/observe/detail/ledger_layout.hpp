#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/sample_clock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

// How the ledger lies in memory: fixed-width and without addresses, so that another process can map it and
// read along.
//
// What a tag uses is counted in parts, one a thread, because threads that met at one word would wait for each
// other. A bound on the sum holds all the same: a thread counts against credit that it was granted
// beforehand, and what is granted never passes the bound.
namespace ouro::detail {

inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

// What one thread has done under one tag: as much of it as every call needs, in one cache line. All but the
// floor and the ceiling is written by the owner of the shard alone, with plain stores; those two also by
// whoever revokes credit.
//
// The owner first takes what he wants, or adds what he frees, and looks at the two then: so a revocation that
// has moved them and made all threads see it (a process barrier) finds either what was done, or an owner who
// does slow work for it.
struct alignas(64) LedgerCell {
    // Bytes of all allocations and growths so far, and up to where they may go: what was granted, and what
    // was freed.
    std::atomic<std::int64_t> allocated;
    std::atomic<std::int64_t> allowance;
    // By how much the allowance must stay ahead: what was revoked so far, or out of reach during a
    // revocation.
    std::atomic<std::int64_t> floor;
    // How far it may be ahead before some goes back. Zero at first: the first free looks. Below nothing: a
    // climb began since the owner last settled, when there had been so many (mark_of_climb).
    std::atomic<std::int64_t> ceiling;
    std::atomic<std::uint64_t> allocations;
    std::atomic<std::uint64_t> frees;
    std::array<std::uint64_t, 2> unused;

    [[nodiscard]] std::int64_t lead() const noexcept {
        return allowance.load(std::memory_order_relaxed) - allocated.load(std::memory_order_relaxed);
    }
};
static_assert(sizeof(LedgerCell) == 64 && std::atomic<std::int64_t>::is_always_lock_free);

// What only slow work needs.
struct LedgerSlowCell {
    // By the owner: all that was granted, less what he gave back.
    std::atomic<std::int64_t> granted;
    // By whoever revokes: all that was taken from him.
    std::atomic<std::int64_t> revoked;
};

// The cells of one thread. When the thread ends the next one goes on with them: they are only parts of sums.
struct alignas(4096) LedgerShard {
    // One while a thread owns it.
    std::atomic<std::uint32_t> is_owned;
    // Odd while its owner moves credit between an account and a cell; and one more than what it was when he
    // was waited for in vain, so that nobody waits again until he has come further.
    std::atomic<std::uint32_t> credit_moves;
    std::atomic<std::uint32_t> stuck_place;
    // Allocations that did not come from credit, and their time.
    std::atomic<std::uint64_t> slow_allocations;
    std::atomic<std::uint64_t> slow_ns;
    // Of the owning thread.
    SampleClock samples;
    // A bit for each tag whose cell was ever used.
    std::array<std::atomic<std::uint64_t>, kMaxTags / 64> used_tags;
    std::array<LedgerCell, kMaxTags> cells;
    std::array<LedgerSlowCell, kMaxTags> slow_cells;

    // Granted and not in use.
    [[nodiscard]] std::int64_t credit(std::size_t id) const noexcept {
        return cells[id].lead() - slow_cells[id].revoked.load(std::memory_order_relaxed);
    }
    // In use, or not in use yet.
    [[nodiscard]] std::int64_t granted(std::size_t id) const noexcept {
        const LedgerSlowCell& cell = slow_cells[id];
        return cell.granted.load(std::memory_order_relaxed) - cell.revoked.load(std::memory_order_relaxed);
    }
    // Never more than was freed: the owner writes the two so that a grant seen by half goes for bytes in use.
    // Then it may be below nothing.
    [[nodiscard]] std::int64_t freed(std::size_t id) const noexcept {
        const auto& granted = slow_cells[id].granted;
        for (;;) {
            const std::int64_t before = granted.load(std::memory_order_acquire);
            const std::int64_t sum = cells[id].allowance.load(std::memory_order_acquire);
            if (granted.load(std::memory_order_relaxed) == before) return sum - before;
        }
    }
};

inline constexpr std::size_t kLedgerStatuses = 96;

// Whether an account is at a height where it never was. Credit lets a sum of parts go up unseen; so what is
// reserved passes the peak only while the account climbs, and then nobody below it keeps any: what is held is
// in use, and the highest of it is the peak, to the byte.
enum class Climb : std::uint32_t {
    none,
    // Credit is being taken back.
    beginning,
    on,
    // Nobody goes higher while somebody looks whether it is over.
    ending,
};

// What a climb leaves as the ceiling of the cells below: how many were on before. The first one stays.
[[nodiscard]] constexpr std::int64_t mark_of_climb(std::int64_t climbs) noexcept {
    return -1 - climbs;
}
[[nodiscard]] constexpr bool is_since(std::int64_t mark, std::int64_t climbed_at) noexcept {
    return climbed_at > -1 - mark;
}

// What all threads together were granted for one tag and those below it, and may be.
struct alignas(64) LedgerAccount {
    // In use, or out as credit, or just being asked for. Never above the budget, nor above the peak but while
    // the account climbs.
    std::atomic<std::int64_t> reserved;
    // The same without what is just being asked for: it may be refused further up, or not to be had.
    std::atomic<std::int64_t> held;
    std::atomic<std::int64_t> peak;
    std::atomic<Climb> climb;
    // Which of all climbs its last one was, in the order in which they came to be on; from one.
    std::atomic<std::int64_t> climbed_at;
    // Slow work since the peak was last raised, and after how much of it the account rests.
    std::atomic<std::uint32_t> calm_calls;
    std::atomic<std::uint32_t> calls_to_rest;
    // Somebody was waited for in vain: nobody else waits until the climb has come further.
    std::atomic<std::uint32_t> is_stuck;
    std::atomic<std::int64_t> hard;
    std::atomic<std::int64_t> soft;
    // Where somebody wants to know that so much is in use, and when it was reached: zero until then.
    std::atomic<std::int64_t> alarm;
    std::atomic<std::uint64_t> alarm_ns;
    std::atomic<std::uint32_t> is_over_soft;
    std::atomic<std::uint32_t> is_rate_limited;
    // To what, as a RateLimit has it: for readers.
    std::atomic<std::uint64_t> rate_bytes;
    std::atomic<std::uint64_t> rate_calls;
    std::atomic<std::uint64_t> rate_interval_ns;
    // Credit may have been counted as in use: a thread was stopped where others had to wait for it, or the
    // system refused a process barrier. Or a charge out of credit came to nothing while others made a peak.
    std::atomic<std::uint32_t> is_peak_rough;
    // For readers in other processes; the bounds are valid once it is open.
    std::atomic<std::uint32_t> is_open;
    std::uint16_t parent;
    std::array<char, kMaxTagNameBytes + 1> name;
    std::array<std::atomic<std::uint64_t>, kLedgerStatuses> failures;
};

// Threads beyond so many share one shard, under a lock.
inline constexpr std::size_t kMaxShards = sizeof(void*) == 8 ? 256 : 16;

struct Ledger {
    std::array<LedgerAccount, kMaxTags> accounts;
    // Climbs that came to be on so far.
    std::atomic<std::int64_t> climbs;
    // Shards above this one were never used. The first is for those who have none of their own.
    std::atomic<std::uint32_t> used_shards;
    std::array<LedgerShard, kMaxShards> shards;
};

}  // namespace ouro::detail
