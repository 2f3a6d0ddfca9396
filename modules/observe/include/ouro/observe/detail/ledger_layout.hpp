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

// What one thread has done under one tag. Written by the owner of the shard with plain stores; a revocation
// changes the bounds, and takes the credit once the owner is outside.
struct alignas(64) LedgerCell {
    // Bytes of all allocations and growths so far, and up to where they may go: what was granted, and what
    // was freed. The difference of the two is the thread's credit.
    std::atomic<std::int64_t> allocated;
    std::atomic<std::int64_t> allowance;
    // What the credit must not fall below or rise above without slow work. Zero at first, so that the first
    // of each does it; out of reach on both sides while revoked.
    std::atomic<std::int64_t> floor;
    std::atomic<std::int64_t> ceiling;
    // The least credit since the peaks were last looked at.
    std::atomic<std::int64_t> least;
    std::atomic<std::int64_t> granted;
    std::atomic<std::uint64_t> allocations;
    std::atomic<std::uint64_t> frees;

    [[nodiscard]] std::int64_t credit() const noexcept {
        return allowance.load(std::memory_order_relaxed) - allocated.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t freed() const noexcept {
        return allowance.load(std::memory_order_relaxed) - granted.load(std::memory_order_relaxed);
    }
};
static_assert(sizeof(LedgerCell) == 64 && std::atomic<std::int64_t>::is_always_lock_free);

// The cells of one thread. When the thread ends the next one goes on with them: they are only parts of sums.
struct alignas(4096) LedgerShard {
    // One while the owner is inside a cell.
    std::atomic<std::uint32_t> busy;
    // One while a thread owns it.
    std::atomic<std::uint32_t> is_owned;
    // Of the owning thread.
    SampleClock samples;
    std::array<LedgerCell, kMaxTags> cells;
};

inline constexpr std::size_t kLedgerStatuses = 96;

// What all threads together were granted for one tag and those below it, and may be.
struct alignas(64) LedgerAccount {
    // In use, or out as credit.
    std::atomic<std::int64_t> reserved;
    std::atomic<std::int64_t> peak;
    std::atomic<std::int64_t> hard;
    std::atomic<std::int64_t> soft;
    // Where somebody wants to know, when it was reached, and how far one must be below to be told again.
    std::atomic<std::int64_t> alarm;
    std::atomic<std::uint64_t> alarm_ns;
    std::atomic<std::uint32_t> is_over_soft;
    std::atomic<std::uint32_t> is_rate_limited;
    // For readers in other processes; the bounds are valid once it is open.
    std::atomic<std::uint32_t> is_open;
    std::uint16_t parent;
    std::array<char, kMaxTagNameBytes + 1> name;
    std::array<std::atomic<std::uint32_t>, kLedgerStatuses> failures;
};

// Threads beyond so many share one shard, under a lock.
inline constexpr std::size_t kMaxShards = sizeof(void*) == 8 ? 256 : 16;

struct Ledger {
    std::array<LedgerAccount, kMaxTags> accounts;
    // Shards above this one were never used. The first is for those who have none of their own.
    std::atomic<std::uint32_t> used_shards;
    std::array<LedgerShard, kMaxShards> shards;
};

}  // namespace ouro::detail
