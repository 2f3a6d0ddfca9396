#include "ledger_shards.hpp"

#include "fork_safety.hpp"
#include "ledger_accounts.hpp"

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

constexpr std::int64_t kOutOfReach = std::numeric_limits<std::int64_t>::max();

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
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerCell& cell = shard.cells[id];
        // Taken, and not yet looked whether it may be.
        if (const std::int64_t credit = shard.credit(id); credit < 0) add_to(cell.allocated, credit);
        // It may be half-way along with what was granted or given back. Only where it is another: a page that
        // is not written to stays the parent's.
        const std::int64_t lead = cell.lead();
        if (cell.least.load(std::memory_order_relaxed) != lead)
            cell.least.store(lead, std::memory_order_relaxed);
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

bool may_take(const LedgerCell& cell) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return cell.floor.load(std::memory_order_acquire) != kOutOfReach;
}

TryRevocationHold::TryRevocationHold() noexcept : is_held_(g_revoking.try_lock()) {}
TryRevocationHold::~TryRevocationHold() {
    if (is_held_) g_revoking.unlock();
}

RevocationHold::RevocationHold() noexcept {
    g_revoking.lock();
}
RevocationHold::~RevocationHold() {
    g_revoking.unlock();
}

namespace {

// Calls visit(cell, tag) for the cells of the tag and those below it.
template <class Visit>
void visit_cells_below(LedgerShard& shard, Tag top, Visit&& visit) noexcept {
    const std::size_t count = tag_count();
    for (std::size_t id = top.id(); id < count; ++id) {
        const Tag tag = Tag::from_id(static_cast<std::uint16_t>(id));
        if (is_tag_within(tag, top)) visit(shard.cells[id], tag);
    }
}

// Requires: nobody else revokes.
void take_credit_of(Ledger& ledger, LedgerShard& shard, Tag tag) noexcept {
    LedgerCell& cell = shard.cells[tag.id()];
    // An owner who has taken and not yet looked makes it less, which then stays with him.
    const std::int64_t credit = std::max<std::int64_t>(shard.credit(tag.id()), 0);
    auto& revoked = shard.slow_cells[tag.id()].revoked;
    add_to(revoked, credit);
    // The next free looks at the bounds again.
    cell.ceiling.store(0, std::memory_order_relaxed);
    cell.floor.store(revoked.load(std::memory_order_relaxed), std::memory_order_release);
    if (credit != 0) release_bytes(ledger, tag, credit);
}

}  // namespace

void revoke_credit(Ledger& ledger, Tag tag) noexcept {
    const LedgerLockScope scope(g_revoking);
    // A thread that is not seen here begins later, and finds what made the caller revoke when it settles.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // The same ones below: of a shard that is first used in between, the barrier has said nothing.
    const std::uint32_t shards = ledger.used_shards.load(std::memory_order_acquire);
    // All of them, whether or not they hold credit now: some may be about to.
    visit_first_shards(ledger, shards, [&](LedgerShard& shard) noexcept {
        visit_cells_below(shard, tag, [](LedgerCell& cell, Tag) noexcept {
            cell.floor.store(kOutOfReach, std::memory_order_relaxed);
        });
    });
    // The common shard needs no barrier: who uses it does slow work only, with a fence of its own.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Where the system refuses one, the floors stay out of reach: see give_up_revoked.
    if (g_platform.has_barrier.load(std::memory_order_relaxed) && !os::process_barrier()) return;
    visit_first_shards(ledger, shards, [&](LedgerShard& shard) noexcept {
        visit_cells_below(shard, tag,
                          [&](LedgerCell&, Tag at) noexcept { take_credit_of(ledger, shard, at); });
    });
}

void give_up_revoked(Ledger& ledger, LedgerShard& own, Tag tag) noexcept {
    const auto& floor = own.cells[tag.id()].floor;
    if (floor.load(std::memory_order_relaxed) != kOutOfReach) return;
    const RevocationHold hold;
    if (floor.load(std::memory_order_relaxed) == kOutOfReach) take_credit_of(ledger, own, tag);
}

std::int64_t credit_below(Ledger& ledger, Tag tag) noexcept {
    std::int64_t sum = 0;
    visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        visit_cells_below(shard, tag, [&](LedgerCell&, Tag at) noexcept {
            // Less than none is what an owner has taken and will not get.
            sum += std::max<std::int64_t>(shard.credit(at.id()), 0);
        });
    });
    return sum;
}

}  // namespace ouro::detail
