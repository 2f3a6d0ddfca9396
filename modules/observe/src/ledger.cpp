#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"

#include <ouro/memory/memory_resource.hpp>
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

// One thread's place under one tag.
struct Place {
    LedgerShard& shard;
    LedgerCell& cell;
    LedgerSlowCell& slow_cell;

    Place(LedgerShard& own, Tag tag) noexcept
        : shard(own), cell(own.cells[tag.id()]), slow_cell(own.slow_cells[tag.id()]) {}

    [[nodiscard]] std::int64_t credit() const noexcept {
        return cell.lead() - slow_cell.revoked.load(std::memory_order_relaxed);
    }
    // In the order in which a reader between the two takes credit for bytes in use, never for freed ones.
    void add_granted(std::int64_t bytes) const noexcept {
        add_to(slow_cell.granted, bytes);
        std::atomic_thread_fence(std::memory_order_release);
        add_to(cell.allowance, bytes);
    }
    void take_granted(std::int64_t bytes) const noexcept {
        add_to(cell.allowance, -bytes);
        std::atomic_thread_fence(std::memory_order_release);
        add_to(slow_cell.granted, -bytes);
    }
    // The least moves with what the account holds: first for what comes, last for what goes, so that whoever
    // looks at the peak in between sees too little in use, not too much.
    void accept(Ledger& ledger, Tag tag, std::int64_t bytes) const noexcept {
        add_granted(bytes);
        add_to(cell.least, bytes);
        std::atomic_thread_fence(std::memory_order_release);
        hold_bytes(ledger, tag, bytes);
    }
    // Whether what was in use up to now is in the peaks.
    [[nodiscard]] bool is_in_peaks(Ledger& ledger, Tag tag) const noexcept {
        return raise_peaks_if_due(ledger, tag, shard);
    }
    // Begins anew, without what is still to be confirmed.
    void forget_least(std::int64_t unconfirmed = 0) const noexcept {
        cell.least.store(cell.lead() + unconfirmed, std::memory_order_relaxed);
    }
    void give_back(Ledger& ledger, Tag tag, std::int64_t bytes) const noexcept {
        release_bytes(ledger, tag, bytes);
        std::atomic_thread_fence(std::memory_order_release);
        add_to(cell.least, -bytes);
    }
    // The most credit that frees may leave without slow work.
    void set_most_credit(std::int64_t bytes) const noexcept {
        cell.ceiling.store(slow_cell.revoked.load(std::memory_order_relaxed) + bytes,
                           std::memory_order_relaxed);
    }
};

// What a call is about, for the counts.
enum class Matter : unsigned char { block, part };

// Gives credit back beyond what may be kept.
void return_excess(Ledger& ledger, const Place& place, Tag tag, std::int64_t kept) noexcept {
    const std::int64_t excess = place.credit() - kept;
    if (excess <= 0) return;
    place.take_granted(excess);
    if (may_take(place.cell) && place.credit() >= kept) return place.give_back(ledger, tag, excess);
    // A revocation is at it, or was: what it leaves.
    place.add_granted(excess);
    const RevocationHold hold;
    const std::int64_t left = std::max<std::int64_t>(place.credit() - kept, 0);
    place.take_granted(left);
    if (left != 0) place.give_back(ledger, tag, left);
}

// What slow work ends with: the place keeps some credit, as much as the bounds allow now.
void settle(Ledger& ledger, const Place& place, Tag tag) noexcept {
    std::int64_t spare = spare_credit(ledger, tag);
    for (;;) {
        if (place.credit() > 2 * spare) return_excess(ledger, place, tag, spare);
        place.set_most_credit(2 * spare);
        // Looked at when the credit is in place: either this sees a bound that was just set, or the
        // revocation that comes with it sees the credit.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const std::int64_t now = spare_credit(ledger, tag);
        if (now >= spare) return;
        spare = now;
    }
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
    const std::int64_t live = account.held.load(std::memory_order_relaxed) - out;
    if (out == 0 || live > account.hard.load(std::memory_order_relaxed) - bytes) return false;
    revoke_credit(ledger, limiting);
    return true;
}

// Uses credit up; false when there is too little or a revocation is at it, and nothing has happened then.
bool use_credit(const Place& place, std::int64_t bytes) noexcept {
    add_to(place.cell.allocated, bytes);
    if (may_take(place.cell) && place.credit() >= 0) return true;
    add_to(place.cell.allocated, -bytes);
    return false;
}

// The same with new credit, while nobody may revoke it.
bool use_new_credit(Ledger& ledger, const Place& place, Tag tag, std::int64_t bytes) noexcept {
    const RevocationHold hold;
    std::int64_t granted = 0;
    if (!grant(ledger, tag, std::max<std::int64_t>(bytes - place.credit(), 0), granted).is_granted)
        return false;
    place.accept(ledger, tag, granted);
    add_to(place.cell.allocated, bytes);
    return true;
}

// Credit for the bytes, in the place: ok, or budget_exceeded.
Status find_credit(Ledger& ledger, const Place& place, Tag tag, std::int64_t bytes) noexcept {
    for (int revocations = 0;;) {
        const std::int64_t needed = std::max<std::int64_t>(bytes - place.credit(), 0);
        std::int64_t granted = 0;
        const Reservation reservation = grant(ledger, tag, needed, granted);
        if (reservation.is_granted) {
            place.accept(ledger, tag, granted);
            return Status::ok;
        }
        if (revocations++ < kMostRevocations && make_room(ledger, reservation.limiting, needed)) continue;
        const std::int64_t limit =
            account_of(ledger, reservation.limiting).hard.load(std::memory_order_relaxed);
        return refuse(tag, Status::budget_exceeded, static_cast<std::size_t>(bytes), limit);
    }
}

Status charge_within(Ledger& ledger, const Place& place, Tag tag, std::int64_t bytes) noexcept {
    give_up_revoked(ledger, place.shard, tag);
    bool is_past_known = false;
    do {
        is_past_known = place.is_in_peaks(ledger, tag);
        if (const Status status = find_credit(ledger, place, tag, bytes); status != Status::ok) {
            // Credit of an earlier turn, granted under a budget that is smaller by now, must not stay.
            settle(ledger, place, tag);
            return status;
        }
        // The credit may be revoked at once, again and again.
    } while (!use_credit(place, bytes) && !use_new_credit(ledger, place, tag, bytes));
    settle(ledger, place, tag);
    if (is_past_known) place.forget_least(bytes);
    return Status::ok;
}

Status charge_matter(Tag tag, std::size_t bytes, Matter matter) noexcept {
    if (bytes > kMostBytes) {
        const Status status =
            bytes > kMaxAllocationBytes ? Status::size_overflow : Status::capacity_exhausted;
        count_failure(tag, status);
        return status;
    }
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return Status::out_of_memory;
    if (const Status status = ask_rate_limits(*ledger, tag, bytes); status != Status::ok)
        return refuse(tag, status, bytes, 0);
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    const Status status = charge_within(*ledger, place, tag, static_cast<std::int64_t>(bytes));
    if (status != Status::ok) return status;
    if (matter == Matter::block) add_to(place.cell.allocations, 1U);
    return status;
}

void refund_matter(Tag tag, std::size_t bytes, Matter matter) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    const bool is_past_known = place.is_in_peaks(*ledger, tag);
    add_to(place.cell.allowance, bytes);
    if (matter == Matter::block) add_to(place.cell.frees, 1U);
    settle(*ledger, place, tag);
    if (is_past_known) place.forget_least();
}

void uncharge_matter(Tag tag, std::size_t bytes, Matter matter) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    add_to(place.cell.allocated, -static_cast<std::int64_t>(bytes));
    if (matter == Matter::block) add_to(place.cell.allocations, -1);
    settle(*ledger, place, tag);
}

}  // namespace

Charge sampled_charge() noexcept {
    return Charge::sampled();
}

Charge deferred_charge() noexcept {
    return Charge::deferred();
}

void confirm_slow(Tag tag) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    {
        const ShardScope scope(*ledger);
        LedgerCell& cell = scope.shard().cells[tag.id()];
        confirm({.charge = {}, .cell = &cell});
    }
    notice_bounds(*ledger, tag);
}

Status charge_slow(Tag tag, std::size_t bytes) noexcept {
    return charge_matter(tag, bytes, Matter::block);
}
Status charge_growth(Tag tag, std::size_t bytes) noexcept {
    return charge_matter(tag, bytes, Matter::part);
}

void refund_slow(Tag tag, std::size_t bytes) noexcept {
    refund_matter(tag, bytes, Matter::block);
}
void refund_shrinkage(Tag tag, std::size_t bytes) noexcept {
    refund_matter(tag, bytes, Matter::part);
}

void uncharge(Tag tag, std::size_t bytes) noexcept {
    uncharge_matter(tag, bytes, Matter::block);
}
void uncharge_growth(Tag tag, std::size_t bytes) noexcept {
    uncharge_matter(tag, bytes, Matter::part);
}

void count_failure(Tag tag, Status status) noexcept {
    Ledger* const ledger = open_ledger(tag);
    const auto number = static_cast<std::size_t>(status);
    if (ledger != nullptr && number < kLedgerStatuses)
        account_of(*ledger, tag).failures[number].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace ouro
