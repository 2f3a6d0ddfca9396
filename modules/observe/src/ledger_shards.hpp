#pragma once

#include "patience.hpp"

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>

#include <cstdint>
#include <optional>

// Which thread counts where, and how credit is taken from others.
namespace ouro::detail {

// The calling thread's shard for the length of a scope of slow work: its own, or the common one under a lock.
class ShardScope {
public:
    explicit ShardScope(Ledger& ledger) noexcept;
    ~ShardScope();
    ShardScope(const ShardScope&) = delete;
    ShardScope& operator=(const ShardScope&) = delete;

    [[nodiscard]] LedgerShard& shard() const noexcept { return *shard_; }

private:
    LedgerShard* shard_;
};

// While it is there, the owner of the shard moves credit between an account and a cell: it may be in the one
// and not in the other.
class CreditScope {
public:
    explicit CreditScope(LedgerShard& shard) noexcept : shard_(shard) {
        shard_.credit_moves.store(shard_.credit_moves.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
    }
    ~CreditScope() {
        shard_.credit_moves.store(shard_.credit_moves.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_release);
    }
    CreditScope(const CreditScope&) = delete;
    CreditScope& operator=(const CreditScope&) = delete;

    // What is read about bounds after this is not older than the scope.
    static void look_anew() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

private:
    LedgerShard& shard_;
};

// Before its owner's first slow work on a cell is done.
void mark_used(LedgerShard& own, Tag tag) noexcept;

// True unless the cell of the shard is being revoked. After what was taken, in slow work. In the common
// shard, which no process barrier is for, with a fence of its own.
[[nodiscard]] bool may_take(const LedgerShard& shard, const LedgerCell& cell) noexcept;

// True while somebody takes the cell's credit: it may be gone from the cell, and still be in the accounts.
[[nodiscard]] bool is_being_taken(const LedgerCell& cell) noexcept;
// The same, or somebody is about to: then a charge out of credit is undone.
[[nodiscard]] bool is_out_of_reach(const LedgerCell& cell) noexcept;

// Calls visit(shard) for the first so many.
template <class Visit>
void visit_first_shards(Ledger& ledger, std::uint32_t count, Visit&& visit) noexcept {
    for (std::uint32_t index = 0; index < count; ++index)
        visit(ledger.shards[index]);
}
// The same for each that was ever used.
template <class Visit>
void visit_shards(Ledger& ledger, Visit&& visit) noexcept {
    visit_first_shards(ledger, ledger.used_shards.load(std::memory_order_acquire), visit);
}

// Takes the credit back that threads hold for the tag and those below it, whatever they are doing. Where the
// system has no barrier after all, they can use none of it, and each gives it back with its next slow work.
void revoke_credit(Ledger& ledger, Tag tag) noexcept;
// The same; false where there is no barrier, or when another who revokes was stopped for too long.
[[nodiscard]] bool try_revoke_credit(Ledger& ledger, Tag tag) noexcept;
struct Revocation {
    // False when credit may be left.
    bool is_complete = false;
    // How many it looked at.
    std::uint32_t cells = 0;
};
// The same where nobody is granted any more: until there is none, in cells or on its way; not complete when
// somebody who was stopped is in the way for too long. A mark of it is left to the owners of cells.
[[nodiscard]] Revocation end_credit(Ledger& ledger, Tag tag) noexcept;
// For a cell of the caller's that is to be revoked: gives its credit up himself, or waits a little for who is
// just taking it. False when that one was waited for in vain.
[[nodiscard]] bool give_up_revoked(Ledger& ledger, LedgerShard& own, Tag tag, Patience& patience) noexcept;

// What the hard budget of the tag has left beside what is in use under it and those below it; what is just
// being charged counts or not. None when anybody charged, freed or moved credit meanwhile.
[[nodiscard]] std::optional<std::int64_t> steady_room_below(Ledger& ledger, Tag tag) noexcept;
// What is out as credit for the tag and those below it.
[[nodiscard]] std::int64_t credit_below(Ledger& ledger, Tag tag) noexcept;

}  // namespace ouro::detail
