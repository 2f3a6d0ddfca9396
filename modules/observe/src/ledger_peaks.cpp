// Peaks from what threads count apart. The most that was in use is what is held less the least credit there
// was: what is granted or given back changes both alike. Where several threads use a tag, each one's least
// since the last look is taken, as if they had met.
#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"

#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>

namespace ouro::detail {
namespace {

void raise_peak(LedgerAccount& account, std::int64_t candidate) noexcept {
    std::int64_t peak = account.peak.load(std::memory_order_relaxed);
    while (candidate > peak &&
           !account.peak.compare_exchange_weak(peak, candidate, std::memory_order_relaxed)) {
    }
}

// What each account holds, and the least credit of all threads under its tag and those below.
struct Look {
    std::array<std::int64_t, kMaxTags> held{};
    std::array<std::int64_t, kMaxTags> least{};

    [[nodiscard]] bool agrees(const Look& other, std::size_t id) const noexcept {
        return held[id] == other.held[id] && least[id] == other.least[id];
    }
};

bool is_open(const LedgerAccount& account) noexcept {
    return account.is_open.load(std::memory_order_acquire) != 0;
}

std::int64_t sum_leasts(Ledger& ledger, std::size_t id) noexcept {
    std::int64_t sum = 0;
    visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        sum += shard.cells[id].least.load(std::memory_order_acquire) -
               shard.slow_cells[id].revoked.load(std::memory_order_acquire);
    });
    return sum;
}

void take(Ledger& ledger, std::size_t tags, Look& look) noexcept {
    // A tag's number is larger than its parent's: each one's sum is complete before it is added to the
    // parent's.
    for (std::size_t id = tags; id-- != 0;) {
        LedgerAccount& account = ledger.accounts[id];
        if (!is_open(account)) continue;
        look.held[id] = account.held.load(std::memory_order_acquire);
        look.least[id] += sum_leasts(ledger, id);
        if (id != 0) look.least[account.parent] += look.least[id];
    }
}

// Of threads that are at work, two looks that agree are one of a single moment; else nothing is known. True
// when they agree for the tag and all above it. Requires: nobody revokes meanwhile.
bool raise_peaks(Ledger& ledger, Tag tag) noexcept {
    const std::size_t tags = tag_count();
    Look first;
    Look second;
    take(ledger, tags, first);
    take(ledger, tags, second);
    for (std::size_t id = 0; id < tags; ++id) {
        if (first.agrees(second, id)) raise_peak(ledger.accounts[id], first.held[id] - first.least[id]);
    }
    return visit_chain(ledger, tag,
                       [&](const LedgerAccount&, Tag at) noexcept { return first.agrees(second, at.id()); });
}

// Begins anew. The thread may be at work: a least that it stores now is lower or the same.
void renew_least(LedgerCell& cell) noexcept {
    std::int64_t stored = cell.lead();
    cell.least.store(stored, std::memory_order_relaxed);
    // An allocation in between has not compared with the new one.
    if (const std::int64_t now = cell.lead(); now < stored)
        cell.least.compare_exchange_strong(stored, now, std::memory_order_relaxed);
}

// Cells that were not looked at yet for the sake of the slow work that was done.
constinit std::atomic<std::size_t> g_owed_cells = 0;

// Looking at all of them is worth it after some slow work: always where they are few.
bool is_look_due(const Ledger& ledger) noexcept {
    constexpr std::size_t kCellsForSlowWork = 512;
    const std::size_t cells = ledger.used_shards.load(std::memory_order_relaxed) * tag_count();
    const std::size_t owed = g_owed_cells.fetch_add(kCellsForSlowWork, std::memory_order_relaxed);
    if (owed + kCellsForSlowWork < cells) return false;
    g_owed_cells.store(0, std::memory_order_relaxed);
    return true;
}

}  // namespace

void forget_peaks(Ledger& ledger) noexcept {
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerAccount& account = ledger.accounts[id];
        if (!is_open(account)) continue;
        visit_shards(ledger, [&](LedgerShard& shard) noexcept { renew_least(shard.cells[id]); });
        const std::int64_t out = credit_below(ledger, Tag::from_id(static_cast<std::uint16_t>(id)));
        account.peak.store(account.held.load(std::memory_order_relaxed) - out, std::memory_order_relaxed);
    }
}

bool raise_peaks_if_due(Ledger& ledger, Tag tag) noexcept {
    const bool is_below = visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        return account.held.load(std::memory_order_relaxed) <= account.peak.load(std::memory_order_relaxed);
    });
    if (is_below) return true;
    if (!is_look_due(ledger)) return false;
    const TryRevocationHold hold;
    return hold && raise_peaks(ledger, tag);
}

void look_at_peaks(Ledger& ledger, Tag tag) noexcept {
    // Somebody who revokes for longer was stopped; where others are at work without a pause, what they have
    // put into the peaks themselves must do.
    constexpr int kPatience = 1'000;
    constexpr int kMostLooks = 16;
    for (int tries = 0, looks = 0; tries < kPatience && looks < kMostLooks; ++tries) {
        {
            const TryRevocationHold hold;
            if (hold && raise_peaks(ledger, tag)) return;
            looks += hold ? 1 : 0;
        }
        os::yield_thread();
    }
}

}  // namespace ouro::detail
