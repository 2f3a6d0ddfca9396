// Peaks from what threads count apart. Between two changes of what is reserved, the most that was in use is
// what is reserved less the least credit there was; where several threads use a tag at once, each one's least
// is taken, as if they had met.
#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"

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

// The least credit of all threads under one tag; each begins anew at the present one.
std::int64_t take_least(Ledger& ledger, std::size_t id) noexcept {
    std::int64_t sum = 0;
    visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        LedgerCell& cell = shard.cells[id];
        const std::int64_t least = cell.least.load(std::memory_order_relaxed);
        const std::int64_t lead = cell.lead();
        sum += std::min(least, lead) - shard.slow_cells[id].revoked.load(std::memory_order_relaxed);
        // An owner that is here at the same time may be missed by one allocation.
        if (least != lead) cell.least.store(lead, std::memory_order_relaxed);
    });
    return sum;
}

}  // namespace

void update_peaks(Ledger& ledger) noexcept {
    // A tag's number is larger than its parent's: each one's sum is complete before it is added to the
    // parent's.
    std::array<std::int64_t, kMaxTags> least{};
    for (std::size_t id = tag_count(); id-- != 0;) {
        LedgerAccount& account = ledger.accounts[id];
        if (account.is_open.load(std::memory_order_acquire) == 0) continue;
        least[id] += take_least(ledger, id);
        raise_peak(account, account.reserved.load(std::memory_order_relaxed) - least[id]);
        if (id != 0) least[account.parent] += least[id];
    }
}

void update_peaks_if_due(Ledger& ledger, Tag tag) noexcept {
    const bool is_below = visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        return account.reserved.load(std::memory_order_relaxed) <=
               account.peak.load(std::memory_order_relaxed);
    });
    if (!is_below) update_peaks(ledger);
}

}  // namespace ouro::detail
