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

void raise_to(std::atomic<std::int64_t>& most, std::int64_t candidate) noexcept {
    std::int64_t seen = most.load(std::memory_order_relaxed);
    while (candidate > seen && !most.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
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

// Of whoever looks, one at a time: too much for the stack of a small thread.
struct Looks {
    Look first;
    Look second;
    std::array<std::uint32_t, kMaxTags> owed{};
};
constinit Looks g_looks;

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
    std::fill_n(look.held.begin(), tags, 0);
    std::fill_n(look.least.begin(), tags, 0);
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

// Looks that each account is owed: what was held fell from above its peak.
constinit std::array<std::atomic<std::uint32_t>, kMaxTags> g_owed_looks{};

// Nothing above the peak was held since the last look: then nothing above it was in use.
bool is_below_peak(const LedgerAccount& account, Tag tag) noexcept {
    return account.held.load(std::memory_order_acquire) <= account.peak.load(std::memory_order_relaxed) &&
           g_owed_looks[tag.id()].load(std::memory_order_relaxed) == 0;
}

// For tags that one thread uses by turns: what was in use under one of them at another time shall not be
// added to what is in use now. A least above the lead belongs to memory that is still to be had. Requires:
// all is in the peaks, and the shard is the caller's.
void renew_leasts(LedgerShard& own, std::size_t tags) noexcept {
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerCell& cell = own.cells[id];
        const std::int64_t lead = cell.lead();
        if (lead > cell.least.load(std::memory_order_relaxed))
            cell.least.store(lead, std::memory_order_relaxed);
    }
}

// Of threads that are at work, two looks that agree are one of a single moment; else nothing is known. True
// when they agree for the tag and all above it. The caller's shard begins anew when they agree for all.
// Requires: the caller holds off revocations, and with them all others who look.
bool raise_peaks(Ledger& ledger, Tag tag, LedgerShard* own) noexcept {
    const std::size_t tags = tag_count();
    auto& [first, second, owed] = g_looks;
    for (std::size_t id = 0; id < tags; ++id)
        owed[id] = g_owed_looks[id].load(std::memory_order_acquire);
    take(ledger, tags, first);
    take(ledger, tags, second);
    bool all_agree = true;
    for (std::size_t id = 0; id < tags; ++id) {
        if (!first.agrees(second, id)) {
            all_agree = false;
            continue;
        }
        const std::int64_t held = first.held[id];
        LedgerAccount& account = ledger.accounts[id];
        const std::int64_t most = std::max(account.most_held.load(std::memory_order_relaxed), held);
        raise_to(account.peak, std::min(held - first.least[id], most));
        // Unless one came to be owed meanwhile.
        if (owed[id] != 0) g_owed_looks[id].compare_exchange_strong(owed[id], 0, std::memory_order_relaxed);
    }
    if (all_agree && own != nullptr) renew_leasts(*own, tags);
    return visit_chain(ledger, tag,
                       [&](const LedgerAccount&, Tag at) noexcept { return first.agrees(second, at.id()); });
}

// Begins anew. The thread may be at work: a least that it stores now is lower or the same. What it has taken
// beyond its credit it will not get.
void renew_least(LedgerShard& shard, std::size_t id) noexcept {
    LedgerCell& cell = shard.cells[id];
    const std::int64_t revoked = shard.slow_cells[id].revoked.load(std::memory_order_relaxed);
    std::int64_t stored = std::max(cell.lead(), revoked);
    cell.least.store(stored, std::memory_order_relaxed);
    // An allocation in between has not compared with the new one.
    if (const std::int64_t now = std::max(cell.lead(), revoked); now < stored)
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

void note_fall_of_held(LedgerAccount& account, Tag tag, std::int64_t held) noexcept {
    if (held <= account.peak.load(std::memory_order_relaxed)) return;
    raise_to(account.most_held, held);
    g_owed_looks[tag.id()].fetch_add(1, std::memory_order_release);
}

void forget_peaks(Ledger& ledger) noexcept {
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerAccount& account = ledger.accounts[id];
        if (!is_open(account)) continue;
        visit_shards(ledger, [&](LedgerShard& shard) noexcept { renew_least(shard, id); });
        const std::int64_t out = credit_below(ledger, Tag::from_id(static_cast<std::uint16_t>(id)));
        // Before the peak: what falls from above the new one from then on is told anew.
        account.most_held.store(0, std::memory_order_relaxed);
        account.peak.store(account.held.load(std::memory_order_relaxed) - out, std::memory_order_relaxed);
    }
}

bool raise_peaks_if_due(Ledger& ledger, Tag tag, LedgerShard& own) noexcept {
    // While looks were owed, the least may have come below nothing: then it knows of more than is held now,
    // and of more with everything that is given back, until somebody has looked.
    const bool knows_more = own.cells[tag.id()].least.load(std::memory_order_relaxed) <
                            own.slow_cells[tag.id()].revoked.load(std::memory_order_relaxed);
    const bool is_below =
        !knows_more && visit_chain(ledger, tag, [](LedgerAccount& account, Tag at) noexcept {
            return is_below_peak(account, at);
        });
    if (is_below) return true;
    if (!is_look_due(ledger)) return false;
    const TryRevocationHold hold;
    return hold && raise_peaks(ledger, tag, &own);
}

void look_at_peaks(Ledger& ledger, Tag tag) noexcept {
    // Somebody who revokes for longer was stopped; where others are at work without a pause, what they have
    // put into the peaks themselves must do.
    constexpr int kPatience = 1'000;
    constexpr int kMostLooks = 16;
    for (int tries = 0, looks = 0; tries < kPatience && looks < kMostLooks; ++tries) {
        {
            const TryRevocationHold hold;
            if (hold && raise_peaks(ledger, tag, nullptr)) return;
            looks += hold ? 1 : 0;
        }
        os::yield_thread();
    }
}

}  // namespace ouro::detail
