// What all threads hold and use, as others see it.
#include "ledger_accounts.hpp"
#include "ledger_cells.hpp"
#include "ledger_shards.hpp"

#include <algorithm>
#include <optional>

namespace ouro::detail {
namespace {

// Sums over all cells of some tags, which charges, frees and moves of credit change.
struct CellSums {
    std::int64_t allocated = 0;
    std::int64_t allowance = 0;
    std::int64_t revoked = 0;
    std::uint64_t moves = 0;
    // Nobody is in the middle of anything.
    bool is_quiet = true;

    friend bool operator==(const CellSums&, const CellSums&) = default;
};

CellSums sum_cells(Ledger& ledger, const TagSet& tags) noexcept {
    CellSums sums;
    visit_shards(ledger, [&](const LedgerShard& shard) noexcept {
        const std::uint32_t moves = shard.credit_moves.load(std::memory_order_acquire);
        sums.moves += moves;
        sums.is_quiet = sums.is_quiet && moves % 2 == 0;
        visit_cells(shard, tags, [&](std::size_t id) noexcept {
            const LedgerCell& cell = shard.cells[id];
            const std::int64_t allocated = cell.allocated.load(std::memory_order_acquire);
            const std::int64_t allowance = cell.allowance.load(std::memory_order_acquire);
            const std::int64_t revoked = shard.slow_cells[id].revoked.load(std::memory_order_acquire);
            sums.allocated += allocated;
            sums.allowance += allowance;
            sums.revoked += revoked;
            sums.is_quiet = sums.is_quiet && allowance - allocated - revoked >= 0 && !is_being_taken(cell);
        });
    });
    return sums;
}

}  // namespace

std::optional<std::int64_t> steady_live_below(Ledger& ledger, Tag tag) noexcept {
    const TagSet tags(tag);
    const CellSums before = sum_cells(ledger, tags);
    const std::int64_t held = account_of(ledger, tag).held.load(std::memory_order_acquire);
    if (!before.is_quiet || before != sum_cells(ledger, tags)) return std::nullopt;
    return held - (before.allowance - before.allocated - before.revoked);
}

std::int64_t credit_below(Ledger& ledger, Tag tag) noexcept {
    const TagSet tags(tag);
    std::int64_t sum = 0;
    visit_shards(ledger, [&](const LedgerShard& shard) noexcept {
        visit_cells(shard, tags, [&](std::size_t id) noexcept {
            // Less than none is what an owner has taken and will not get.
            sum += std::max<std::int64_t>(shard.credit(id), 0);
        });
    });
    return sum;
}

}  // namespace ouro::detail
