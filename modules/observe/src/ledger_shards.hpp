#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>

#include <cstdint>

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

// True unless the cell is being revoked. After what was taken, in slow work, also in the common shard: it has
// the fence that platforms without a process barrier need.
[[nodiscard]] bool may_take(const LedgerCell& cell) noexcept;
// While one is there, nobody revokes; waits for a revocation that is under way. What would revoke itself must
// not be called meanwhile.
class RevocationHold {
public:
    RevocationHold() noexcept;
    ~RevocationHold();
    RevocationHold(const RevocationHold&) = delete;
    RevocationHold& operator=(const RevocationHold&) = delete;
};

// The same without waiting.
class TryRevocationHold {
public:
    TryRevocationHold() noexcept;
    ~TryRevocationHold();
    TryRevocationHold(const TryRevocationHold&) = delete;
    TryRevocationHold& operator=(const TryRevocationHold&) = delete;

    explicit operator bool() const noexcept { return is_held_; }

private:
    bool is_held_;
};

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
// system has no barrier after all, they can use none of it, and each gives it back with its next slow charge.
void revoke_credit(Ledger& ledger, Tag tag) noexcept;
// That: what a revocation could not take from the caller's shard. Waits for one that is under way.
void give_up_revoked(Ledger& ledger, LedgerShard& own, Tag tag) noexcept;

// What is out as credit for the tag and those below it.
[[nodiscard]] std::int64_t credit_below(Ledger& ledger, Tag tag) noexcept;

// What is held for the tag is about to fall from this: where that is above the peak, a look is owed. Before
// it falls, so that who sees less held knows of it.
void note_fall_of_held(LedgerAccount& account, Tag tag, std::int64_t held) noexcept;
// The peaks begin anew at what is in use. Requires: nobody revokes meanwhile.
void forget_peaks(Ledger& ledger) noexcept;
// Raises the peaks to what was in use at most since the threads' leasts began: from slow work on a tag, where
// one of its accounts may have passed its peak, and as often as the number of threads and tags allows. False
// when what was in use up to now is not in the peaks yet. The shard is the caller's.
bool raise_peaks_if_due(Ledger& ledger, Tag tag, LedgerShard& own) noexcept;
// The same for readers of a tag, who try some times.
void look_at_peaks(Ledger& ledger, Tag tag) noexcept;

}  // namespace ouro::detail
