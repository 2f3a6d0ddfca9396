#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_layout.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// The ways into the ledger that every allocation and every free takes.
namespace ouro::detail {

// This thread's shard; null before its first slow work, after its end, and always where threads share.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LedgerShard* t_shard = nullptr;

[[gnu::cold, gnu::noinline]] Status charge_slow(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept;
[[gnu::cold, gnu::noinline]] void refund_slow(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept;

// Between entering and leaving, no revocation takes the owner's credit. The compiler keeps the order; the
// processor is kept to it by the process barrier of whoever revokes.
inline void enter_shard(LedgerShard& shard) noexcept {
    shard.busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void leave_shard(LedgerShard& shard) noexcept {
    shard.busy.store(0, std::memory_order_release);
}

// Only the owner writes: no locked instruction.
template <class Number, class Amount>
inline void add_to(std::atomic<Number>& sum, Amount amount) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + static_cast<Number>(amount), std::memory_order_relaxed);
}

// False, and nothing has happened, when the thread's credit does not suffice. Requires: a registered tag.
[[nodiscard]] inline bool charge_credit(Tag tag, std::size_t bytes, std::uint64_t blocks = 1) noexcept {
    LedgerShard* const shard = t_shard;
    if (shard == nullptr) [[unlikely]]
        return false;
    LedgerCell& cell = shard->cells[tag.id()];
    enter_shard(*shard);
    const std::int64_t allocated =
        cell.allocated.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    const std::int64_t left = cell.allowance.load(std::memory_order_relaxed) - allocated;
    // Sizes beyond the half of all numbers look negative.
    const bool is_plain = static_cast<std::ptrdiff_t>(bytes) >= 0;
    if (!is_plain || left < cell.floor.load(std::memory_order_relaxed)) [[unlikely]] {
        leave_shard(*shard);
        return false;
    }
    cell.allocated.store(allocated, std::memory_order_relaxed);
    if (left < cell.least.load(std::memory_order_relaxed)) cell.least.store(left, std::memory_order_relaxed);
    add_to(cell.allocations, blocks);
    leave_shard(*shard);
    return true;
}

// ok, budget_exceeded or rate_limited; counted as a failure of the tag then. `blocks` is zero for the growth
// of a block. Requires: a registered tag.
[[nodiscard]] inline Status charge(Tag tag, std::size_t bytes, std::uint64_t blocks = 1) noexcept {
    if (charge_credit(tag, bytes, blocks)) [[likely]]
        return Status::ok;
    return charge_slow(tag, bytes, blocks);
}

// What was charged before, on this thread or another.
inline void refund(Tag tag, std::size_t bytes, std::uint64_t blocks = 1) noexcept {
    LedgerShard* const shard = t_shard;
    if (shard == nullptr) [[unlikely]]
        return refund_slow(tag, bytes, blocks);
    LedgerCell& cell = shard->cells[tag.id()];
    enter_shard(*shard);
    const std::int64_t allowance =
        cell.allowance.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    const std::int64_t credit = allowance - cell.allocated.load(std::memory_order_relaxed);
    if (credit > cell.ceiling.load(std::memory_order_relaxed)) [[unlikely]] {
        leave_shard(*shard);
        return refund_slow(tag, bytes, blocks);
    }
    cell.allowance.store(allowance, std::memory_order_relaxed);
    add_to(cell.frees, blocks);
    leave_shard(*shard);
}

// Takes back a charge whose memory could not be had, as if it had not been made.
[[gnu::cold]] void uncharge(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept;
[[gnu::cold]] void count_failure(Tag tag, Status status) noexcept;

}  // namespace ouro::detail
