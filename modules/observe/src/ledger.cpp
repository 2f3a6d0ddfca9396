#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"

#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>

namespace ouro {
namespace detail {
namespace {

// More than any block can have.
constexpr std::size_t kMostBytes = ~std::size_t{0} / 4;

// How often a refusal is reconsidered after credit was taken back from other threads.
constexpr int kMostRevocations = 3;

Status refuse(Tag tag, Status status, std::size_t bytes, std::int64_t limit) noexcept {
    count_failure(tag, status);
    post_event({.kind = ObserveEventKind::request_refused,
                .status = status,
                .tag = tag,
                .bytes = bytes,
                .limit_bytes = static_cast<std::uint64_t>(limit)});
    return status;
}

// Changes what was granted, inside the cell.
void add_credit(LedgerCell& cell, std::int64_t bytes) noexcept {
    add_to(cell.granted, bytes);
    add_to(cell.allowance, bytes);
}

// Uses up credit inside the cell, which has enough.
void use_credit(LedgerCell& cell, std::int64_t bytes, std::uint64_t blocks) noexcept {
    add_to(cell.allocated, bytes);
    add_to(cell.allocations, blocks);
    cell.least.store(cell.credit(), std::memory_order_relaxed);
}

// Credit for at least the bytes, or the tag whose budget is in the way.
Reservation grant(Ledger& ledger, Tag tag, std::int64_t bytes, std::int64_t& granted) noexcept {
    const std::int64_t spare = spare_credit(ledger, tag, bytes);
    granted = bytes + spare;
    Reservation result = reserve_bytes(ledger, tag, granted);
    if (result.is_granted || spare == 0) return result;
    granted = bytes;
    return reserve_bytes(ledger, tag, granted);
}

// True when taking credit back from other threads makes room for the bytes.
bool make_room(Ledger& ledger, Tag limiting, std::int64_t bytes) noexcept {
    const LedgerAccount& account = account_of(ledger, limiting);
    const std::int64_t out = credit_below(ledger, limiting);
    const std::int64_t live = account.reserved.load(std::memory_order_relaxed) - out;
    if (out == 0 || live > account.hard.load(std::memory_order_relaxed) - bytes) return false;
    revoke_credit(ledger, limiting);
    return true;
}

// True when the budget of the tag or one above it has become smaller than what was granted.
bool is_over_budget(Ledger& ledger, Tag tag) noexcept {
    return !visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        return account.reserved.load(std::memory_order_relaxed) <=
               account.hard.load(std::memory_order_relaxed);
    });
}

// Puts what was granted into the cell and uses the bytes up; false when too little was granted, because the
// cell's own credit was revoked meanwhile. Then nothing has happened.
bool deposit(Ledger& ledger, LedgerShard& shard, Tag tag, std::int64_t granted, std::int64_t bytes,
             std::uint64_t blocks) noexcept {
    LedgerCell& cell = shard.cells[tag.id()];
    const std::int64_t spare = spare_credit(ledger, tag);
    enter_cell(shard, cell);
    const std::int64_t credit = cell.credit() + granted;
    const bool suffices = credit >= bytes;
    // Looked at inside, where either this sees a budget that was just made smaller, or its revocation sees
    // the credit.
    const std::int64_t excess = suffices && is_over_budget(ledger, tag) ? credit - bytes : 0;
    if (suffices) {
        add_credit(cell, granted - excess);
        use_credit(cell, bytes, blocks);
        cell.ceiling.store(2 * spare, std::memory_order_relaxed);
    }
    leave_shard(shard);
    if (excess != 0) release_bytes(ledger, tag, excess);
    return suffices;
}

Status charge_within(Ledger& ledger, LedgerShard& shard, Tag tag, std::int64_t bytes,
                     std::uint64_t blocks) noexcept {
    LedgerCell& cell = shard.cells[tag.id()];
    for (int revocations = 0;;) {
        update_peaks_if_due(ledger, tag);
        const std::int64_t needed = std::max<std::int64_t>(bytes - cell.credit(), 0);
        std::int64_t granted = 0;
        const Reservation reservation = grant(ledger, tag, needed, granted);
        if (!reservation.is_granted) {
            if (revocations++ < kMostRevocations && make_room(ledger, reservation.limiting, needed)) continue;
            const std::int64_t limit =
                account_of(ledger, reservation.limiting).hard.load(std::memory_order_relaxed);
            return refuse(tag, Status::budget_exceeded, static_cast<std::size_t>(bytes), limit);
        }
        if (deposit(ledger, shard, tag, granted, bytes, blocks)) return Status::ok;
        release_bytes(ledger, tag, granted);
    }
}

}  // namespace

Status charge_slow(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept {
    if (tag.id() >= tag_count()) tag = {};
    if (bytes > kMostBytes) {
        count_failure(tag, Status::size_overflow);
        return Status::size_overflow;
    }
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return Status::out_of_memory;
    if (const Status status = ask_rate_limits(*ledger, tag, bytes); status != Status::ok)
        return refuse(tag, status, bytes, 0);
    const ShardScope scope(*ledger);
    const Status status =
        charge_within(*ledger, scope.shard(), tag, static_cast<std::int64_t>(bytes), blocks);
    if (status == Status::ok) notice_bounds(*ledger, tag);
    return status;
}

void refund_slow(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept {
    if (tag.id() >= tag_count()) tag = {};
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    LedgerCell& cell = scope.shard().cells[tag.id()];
    update_peaks_if_due(*ledger, tag);
    const std::int64_t spare = spare_credit(*ledger, tag);
    enter_cell(scope.shard(), cell);
    add_to(cell.allowance, bytes);
    add_to(cell.frees, blocks);
    const std::int64_t excess = std::max<std::int64_t>(cell.credit() - spare, 0);
    add_credit(cell, -excess);
    cell.least.store(cell.credit(), std::memory_order_relaxed);
    cell.ceiling.store(2 * spare, std::memory_order_relaxed);
    leave_shard(scope.shard());
    if (excess != 0) release_bytes(*ledger, tag, excess);
}

void uncharge(Tag tag, std::size_t bytes, std::uint64_t blocks) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    LedgerCell& cell = scope.shard().cells[tag.id()];
    enter_cell(scope.shard(), cell);
    add_to(cell.allocated, -static_cast<std::int64_t>(bytes));
    add_to(cell.allocations, -static_cast<std::int64_t>(blocks));
    leave_shard(scope.shard());
}

void count_failure(Tag tag, Status status) noexcept {
    Ledger* const ledger = open_ledger(tag);
    const auto number = static_cast<std::size_t>(status);
    if (ledger != nullptr && number < kLedgerStatuses)
        account_of(*ledger, tag).failures[number].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace ouro
