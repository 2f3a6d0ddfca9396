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

enum class Leasts : unsigned char { stay, begin_anew };

// What the thread had at least. It may be at work: a least that it stores now is lower or the same.
std::int64_t take_least(LedgerCell& cell) noexcept {
    const std::int64_t lead = cell.lead();
    const std::int64_t least = cell.least.exchange(lead, std::memory_order_relaxed);
    // An allocation in between has not compared with the new one.
    std::int64_t stored = lead;
    if (const std::int64_t now = cell.lead(); now < lead)
        cell.least.compare_exchange_strong(stored, now, std::memory_order_relaxed);
    return least;
}

// The least credit of all threads under one tag.
std::int64_t sum_leasts(Ledger& ledger, std::size_t id, Leasts then) noexcept {
    std::int64_t sum = 0;
    visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        LedgerCell& cell = shard.cells[id];
        sum += then == Leasts::stay ? cell.least.load(std::memory_order_relaxed) : take_least(cell);
        sum -= shard.slow_cells[id].revoked.load(std::memory_order_relaxed);
    });
    return sum;
}

void raise_peaks(Ledger& ledger, Leasts then) noexcept {
    // A tag's number is larger than its parent's: each one's sum is complete before it is added to the
    // parent's.
    std::array<std::int64_t, kMaxTags> least{};
    for (std::size_t id = tag_count(); id-- != 0;) {
        LedgerAccount& account = ledger.accounts[id];
        if (account.is_open.load(std::memory_order_acquire) == 0) continue;
        const std::int64_t held = account.held.load(std::memory_order_relaxed);
        least[id] += sum_leasts(ledger, id, then);
        raise_peak(account, held - least[id]);
        if (id != 0) least[account.parent] += least[id];
    }
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

void take_peaks(Ledger& ledger) noexcept {
    raise_peaks(ledger, Leasts::begin_anew);
}

bool take_peaks_if_due(Ledger& ledger, Tag tag) noexcept {
    const bool is_below = visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        return account.held.load(std::memory_order_relaxed) <= account.peak.load(std::memory_order_relaxed);
    });
    if (is_below) return true;
    if (!is_look_due(ledger)) return false;
    const TryRevocationHold hold;
    if (hold) take_peaks(ledger);
    return static_cast<bool>(hold);
}

void look_at_peaks(Ledger& ledger) noexcept {
    // A look takes microseconds, a revocation a little more: whoever takes longer was stopped.
    constexpr int kPatience = 1'000;
    for (int tries = 0; tries < kPatience; ++tries) {
        if (const TryRevocationHold hold; hold) return raise_peaks(ledger, Leasts::stay);
        os::yield_thread();
    }
}

}  // namespace ouro::detail
