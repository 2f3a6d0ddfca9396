#include "ledger_shards.hpp"

#include "fork_safety.hpp"
#include "ledger_accounts.hpp"
#include "ledger_cells.hpp"
#include "patience.hpp"

#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <algorithm>
#include <limits>

namespace ouro::detail {
namespace {

// Who owns which shard.
constinit LedgerLock g_owning;
// The common shard is in use.
constinit LedgerLock g_sharing;
// Credit is being revoked.
constinit LedgerLock g_revoking;

// Written once, while g_owning is held, before any shard but the common one is used.
struct Platform {
    bool is_asked = false;
    // Without a process barrier nobody could take credit from others, so that all share one shard.
    std::atomic<bool> has_barrier = false;
    os::ThreadExitKey exit_key = {};
};
constinit Platform g_platform;

// Floors of a cell that is to be revoked, and whose credit somebody is just taking.
constexpr std::int64_t kOutOfReach = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeingTaken = kOutOfReach - 1;

void leave_shard_behind(void* shard) noexcept {
    t_ledger.shard = nullptr;
    static_cast<LedgerShard*>(shard)->is_owned.store(0, std::memory_order_release);
}

// Requires: g_owning is held.
void ask_platform() noexcept {
    if (g_platform.is_asked) return;
    g_platform.is_asked = true;
    const auto key = os::make_thread_exit_key(leave_shard_behind);
    if (key) g_platform.exit_key = *key;
    g_platform.has_barrier.store(key && os::process_barrier_available(), std::memory_order_relaxed);
}

// Null when all are taken. The first is common. Requires: g_owning is held.
LedgerShard* find_free_shard(Ledger& ledger) noexcept {
    const std::uint32_t used = ledger.used_shards.load(std::memory_order_relaxed);
    for (std::uint32_t index = 1; index < used; ++index) {
        if (ledger.shards[index].is_owned.load(std::memory_order_acquire) == 0) return &ledger.shards[index];
    }
    if (used == kMaxShards) return nullptr;
    ledger.used_shards.store(used + 1, std::memory_order_release);
    return &ledger.shards[used];
}

LedgerShard* own_shard(Ledger& ledger) noexcept {
    if (t_ledger.shard != nullptr) return t_ledger.shard;
    const LedgerLockScope scope(g_owning);
    if (ledger.used_shards.load(std::memory_order_relaxed) == 0)
        ledger.used_shards.store(1, std::memory_order_release);
    ask_platform();
    if (!g_platform.has_barrier.load(std::memory_order_relaxed)) return nullptr;
    LedgerShard* const shard = find_free_shard(ledger);
    if (shard == nullptr) return nullptr;
    shard->is_owned.store(1, std::memory_order_relaxed);
    // Fails for a thread that has ended already; its last destructors share.
    if (!os::set_thread_exit_value(g_platform.exit_key, shard)) {
        shard->is_owned.store(0, std::memory_order_relaxed);
        return nullptr;
    }
    t_ledger.shard = shard;
    return shard;
}

}  // namespace

void hold_shards_for_fork() noexcept {
    g_owning.lock();
    g_sharing.lock();
    g_revoking.lock();
}

void resume_shards() noexcept {
    g_revoking.unlock();
    g_sharing.unlock();
    g_owning.unlock();
}

namespace {

// Of a thread that may have been anywhere in its work.
void repair_shard(LedgerShard& shard) noexcept {
    shard.is_owned.store(0, std::memory_order_relaxed);
    shard.credit_moves.store(0, std::memory_order_relaxed);
    shard.stuck_place.store(0, std::memory_order_relaxed);
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id) {
        // Taken, and not yet looked whether it may be.
        if (const std::int64_t credit = shard.credit(id); credit < 0)
            add_to(shard.cells[id].allocated, credit);
    }
}

// In the child the peaks hold for all of it again when nobody has credit. Only what there is, is written to:
// a page that is not stays the parent's. All cells: the first free under a tag may not be marked as a use
// yet.
void forfeit_credit(LedgerShard& shard) noexcept {
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerCell& cell = shard.cells[id];
        LedgerSlowCell& slow = shard.slow_cells[id];
        const std::int64_t credit = shard.credit(id);
        if (credit > 0) add_to(slow.revoked, credit);
        const std::int64_t revoked = slow.revoked.load(std::memory_order_relaxed);
        if (cell.floor.load(std::memory_order_relaxed) != revoked) cell.floor.store(revoked);
        if (cell.ceiling.load(std::memory_order_relaxed) != 0) cell.ceiling.store(0);
    }
}

}  // namespace

void repair_shards_in_child() noexcept {
    ObserveImage* const image = known_image();
    if (image == nullptr) return;
    visit_shards(image->ledger, [&](LedgerShard& shard) noexcept {
        // Of the common one the fork holds the lock: nobody was at work there.
        const bool is_at_rest = &shard == t_ledger.shard || &shard == image->ledger.shards.data();
        if (!is_at_rest) repair_shard(shard);
        forfeit_credit(shard);
    });
}

ShardScope::ShardScope(Ledger& ledger) noexcept : shard_(own_shard(ledger)) {
    if (shard_ != nullptr) return;
    g_sharing.lock();
    shard_ = &ledger.shards[0];
}

ShardScope::~ShardScope() {
    if (shard_ != t_ledger.shard) g_sharing.unlock();
}

void mark_used(LedgerShard& own, Tag tag) noexcept {
    auto& word = own.used_tags[tag.id() / 64];
    const std::uint64_t bit = std::uint64_t{1} << tag.id() % 64;
    const std::uint64_t bits = word.load(std::memory_order_relaxed);
    if ((bits & bit) != 0) return;
    word.store(bits | bit, std::memory_order_relaxed);
    // Before the owner looks at any bound: whoever has set one since then sees the bit.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool may_take(const LedgerShard& shard, const LedgerCell& cell) noexcept {
    if (&shard == t_ledger.shard) {
        taken_then_look();
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    return cell.floor.load(std::memory_order_acquire) < kBeingTaken;
}

bool is_being_taken(const LedgerCell& cell) noexcept {
    // Not looked at before the credit that the caller has found gone.
    std::atomic_thread_fence(std::memory_order_acquire);
    return cell.floor.load(std::memory_order_acquire) == kBeingTaken;
}
bool is_out_of_reach(const LedgerCell& cell) noexcept {
    return cell.floor.load(std::memory_order_acquire) >= kBeingTaken;
}

namespace {

// Not more than there is at any moment while it is read: an owner who moves both words at once raises what is
// allocated first, and lowers it last.
std::int64_t least_credit(const LedgerShard& shard, std::size_t id) noexcept {
    const LedgerCell& cell = shard.cells[id];
    const std::int64_t before = cell.allowance.load(std::memory_order_acquire);
    const std::int64_t allocated = cell.allocated.load(std::memory_order_acquire);
    const std::int64_t after = cell.allowance.load(std::memory_order_acquire);
    return std::min(before, after) - allocated - shard.slow_cells[id].revoked.load(std::memory_order_relaxed);
}

// Somebody who takes credit, or revokes it, was waited for in vain.
constinit std::atomic<bool> g_is_taker_stuck = false;
constinit std::atomic<bool> g_is_revoker_stuck = false;

// By who revokes, after the barrier, or by the owner at any time; one of them does it. Whoever sees the floor
// within reach again finds it released.
void take_credit_of(Ledger& ledger, LedgerShard& shard, Tag tag) noexcept {
    LedgerCell& cell = shard.cells[tag.id()];
    std::int64_t floor = kOutOfReach;
    if (!cell.floor.compare_exchange_strong(floor, kBeingTaken, std::memory_order_acquire)) return;
    // An owner who has taken and not yet looked makes it less, which then stays with him.
    const std::int64_t credit = std::max<std::int64_t>(least_credit(shard, tag.id()), 0);
    auto& revoked = shard.slow_cells[tag.id()].revoked;
    // Whoever finds it gone finds the floor as it is now, or all of it done.
    std::atomic_thread_fence(std::memory_order_release);
    add_to(revoked, credit);
    if (credit != 0) release_bytes(ledger, tag, credit);
    cell.floor.store(revoked.load(std::memory_order_relaxed), std::memory_order_release);
    if (g_is_taker_stuck.load(std::memory_order_relaxed))
        g_is_taker_stuck.store(false, std::memory_order_relaxed);
}

// A revocation that no climb is for leaves this mark.
constexpr std::int64_t kNoClimb = 0;

// Unless its owner is just giving the credit up.
void put_out_of_reach(LedgerCell& cell, std::int64_t mark) noexcept {
    // The next free looks at the bounds again. An owner who settles in between looks at them himself.
    if (cell.ceiling.load(std::memory_order_relaxed) >= 0)
        cell.ceiling.store(mark, std::memory_order_relaxed);
    std::int64_t floor = cell.floor.load(std::memory_order_relaxed);
    while (floor != kBeingTaken &&
           !cell.floor.compare_exchange_weak(floor, kOutOfReach, std::memory_order_relaxed)) {
    }
}

// Requires: g_revoking is held.
Revocation revoke(Ledger& ledger, Tag tag, std::int64_t mark) noexcept {
    Revocation result;
    const TagSet tags(tag);
    // A thread that is not seen here begins later, and finds what made the caller revoke when it settles.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // The same ones below: of a shard that is first used in between, the barrier has said nothing.
    const std::uint32_t shards = ledger.used_shards.load(std::memory_order_acquire);
    // All of them, whether or not they hold credit now: some may be about to.
    visit_first_shards(ledger, shards, [&](LedgerShard& shard) noexcept {
        visit_cells(shard, tags, [&](std::size_t id) noexcept {
            put_out_of_reach(shard.cells[id], mark);
            ++result.cells;
        });
    });
    // The common shard needs no barrier: who uses it does slow work only, with a fence of its own.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Where the system refuses one, the floors stay out of reach: see give_up_revoked.
    if (g_platform.has_barrier.load(std::memory_order_relaxed) && !os::process_barrier()) return result;
    visit_first_shards(ledger, shards, [&](LedgerShard& shard) noexcept {
        visit_cells(shard, tags, [&](std::size_t id) noexcept {
            take_credit_of(ledger, shard, Tag::from_id(static_cast<std::uint16_t>(id)));
        });
    });
    result.is_complete = true;
    return result;
}

// True when the owner has no credit for the tags and was moving none while it was looked at: neither is any
// on its way.
bool is_without_credit(const LedgerShard& shard, const TagSet& tags) noexcept {
    const std::uint32_t move = shard.credit_moves.load(std::memory_order_acquire);
    bool is_empty = move % 2 == 0;
    visit_cells(shard, tags, [&](std::size_t id) noexcept {
        is_empty = is_empty && shard.credit(id) == 0 && !is_being_taken(shard.cells[id]);
    });
    // He may have begun to give some back when it was looked for in his cells.
    std::atomic_thread_fence(std::memory_order_acquire);
    return is_empty && shard.credit_moves.load(std::memory_order_relaxed) == move;
}

// Until the shard is as it should be. False when its owner was waited for in vain, now or at the same place
// before.
template <class IsDone>
bool wait_for_owner(LedgerShard& shard, Patience& patience, IsDone&& is_done) noexcept {
    for (;;) {
        const std::uint32_t place = shard.credit_moves.load(std::memory_order_acquire) + 1;
        if (is_done()) return true;
        if (shard.stuck_place.load(std::memory_order_relaxed) == place) return false;
        if (patience.wait()) continue;
        shard.stuck_place.store(place, std::memory_order_relaxed);
        return false;
    }
}

// For owners who were being given credit, or were in the middle of a call, and have not settled yet. False
// when one was waited for in vain.
bool wait_for_owners(Ledger& ledger, Tag tag, Patience& patience) noexcept {
    const TagSet tags(tag);
    bool are_done = true;
    visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        are_done = are_done &&
                   wait_for_owner(shard, patience, [&]() noexcept { return is_without_credit(shard, tags); });
    });
    return are_done;
}

bool lock_patiently(LedgerLock& lock, Patience& patience) noexcept {
    while (!lock.try_lock()) {
        if (g_is_revoker_stuck.load(std::memory_order_relaxed)) return false;
        if (!patience.wait()) g_is_revoker_stuck.store(true, std::memory_order_relaxed);
    }
    g_is_revoker_stuck.store(false, std::memory_order_relaxed);
    return true;
}

Revocation revoke_patiently(Ledger& ledger, Tag tag, std::int64_t mark) noexcept {
    Patience patience;
    if (!lock_patiently(g_revoking, patience)) return {};
    const Revocation result = revoke(ledger, tag, mark);
    g_revoking.unlock();
    return result;
}

}  // namespace

void revoke_credit(Ledger& ledger, Tag tag) noexcept {
    const LedgerLockScope scope(g_revoking);
    static_cast<void>(revoke(ledger, tag, kNoClimb));
}

bool try_revoke_credit(Ledger& ledger, Tag tag) noexcept {
    return revoke_patiently(ledger, tag, kNoClimb).is_complete;
}

Revocation end_credit(Ledger& ledger, Tag tag) noexcept {
    // Who begins to grant when the floors are out of reach sees what the caller has set.
    Revocation result = revoke_patiently(ledger, tag, mark_of_climb(ledger.climbs.load()));
    Patience patience;
    if (result.is_complete) result.is_complete = wait_for_owners(ledger, tag, patience);
    return result;
}

bool give_up_revoked(Ledger& ledger, LedgerShard& own, Tag tag, Patience& patience) noexcept {
    const auto& floor = own.cells[tag.id()].floor;
    if (floor.load(std::memory_order_acquire) == kOutOfReach) take_credit_of(ledger, own, tag);
    if (floor.load(std::memory_order_acquire) != kBeingTaken) return true;
    if (!g_is_taker_stuck.load(std::memory_order_relaxed) && patience.wait()) return true;
    g_is_taker_stuck.store(true, std::memory_order_relaxed);
    return false;
}

}  // namespace ouro::detail
