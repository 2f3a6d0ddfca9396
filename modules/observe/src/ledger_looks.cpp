// What all threads hold and use, as others see it.
#include "ledger_accounts.hpp"
#include "ledger_cells.hpp"
#include "ledger_shards.hpp"

#include <algorithm>
#include <optional>

namespace ouro::detail {
namespace {

// Sums over all cells of some tags. Whatever changes them raises one of them for good, is a move of credit,
// or is a charge out of credit that is being undone: until then it counts as in use.
struct CellSums {
    std::int64_t allocated = 0;
    std::int64_t allowance = 0;
    std::int64_t revoked = 0;
    std::uint64_t moves = 0;
    // Nobody is in the middle of anything.
    bool is_quiet = true;

    friend bool operator==(const CellSums&, const CellSums&) = default;
};

void add_cell(const LedgerShard& shard, std::size_t id, CellSums& sums) noexcept {
    const LedgerCell& cell = shard.cells[id];
    // In this order: a charge that is being undone leaves less than no credit.
    const std::int64_t allowance = cell.allowance.load(std::memory_order_acquire);
    const std::int64_t allocated = cell.allocated.load(std::memory_order_acquire);
    const std::int64_t revoked = shard.slow_cells[id].revoked.load(std::memory_order_acquire);
    sums.allowance += allowance;
    sums.allocated += allocated;
    sums.revoked += revoked;
    if (allowance - allocated - revoked < 0 || is_out_of_reach(cell)) sums.is_quiet = false;
}

CellSums sum_cells(Ledger& ledger, const TagSet& tags) noexcept {
    CellSums sums;
    visit_shards(ledger, [&](const LedgerShard& shard) noexcept {
        const std::uint32_t moves = shard.credit_moves.load(std::memory_order_acquire);
        visit_cells(shard, tags, [&](std::size_t id) noexcept { add_cell(shard, id, sums); });
        // Credit may have begun to move when the cells were looked at.
        std::atomic_thread_fence(std::memory_order_acquire);
        if (moves % 2 != 0 || shard.credit_moves.load(std::memory_order_relaxed) != moves)
            sums.is_quiet = false;
        sums.moves += moves;
    });
    return sums;
}

}  // namespace

// Two looks that find the same find what was so all the time between them. That a thread's frees are not seen
// after what it charged next is the processor's promise, of x86 at least; where threads share one shard, as
// on wasm32, it is the lock's.
std::optional<std::int64_t> steady_room_below(Ledger& ledger, Tag tag) noexcept {
    const TagSet tags(tag);
    const LedgerAccount& account = account_of(ledger, tag);
    const CellSums before = sum_cells(ledger, tags);
    const std::int64_t held = account.held.load(std::memory_order_acquire);
    const std::int64_t hard = account.hard.load(std::memory_order_acquire);
    if (!before.is_quiet || before != sum_cells(ledger, tags)) return std::nullopt;
    const std::int64_t credit = before.allowance - before.allocated - before.revoked;
    return hard - (held - credit);
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
