#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"
#include "patience.hpp"

#include <ouro/memory/memory_resource.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <optional>

namespace ouro {
namespace detail {
namespace {

// More than any block can have.
constexpr std::size_t kMostBytes = ~std::size_t{0} / 4;

// How often credit is taken back from other threads for a request, who may be given some again before there
// is room. Then nobody is given any.
constexpr int kMostRevocations = 3;
// How often nobody is: again for each budget on the way up, while the one that is in the way changes, and
// when others have called so often meanwhile that they have credit again.
constexpr int kMostBudgetClimbs = 8;

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
    // The most credit that frees may leave without slow work.
    void set_most_credit(std::int64_t bytes) const noexcept {
        cell.ceiling.store(slow_cell.revoked.load(std::memory_order_relaxed) + bytes,
                           std::memory_order_relaxed);
    }
};

// What a call is about, for the counts.
enum class Matter : unsigned char { block, part };

// Gives credit back beyond what may be kept. False when a revocation is at it, and nothing has happened then.
bool return_excess(Ledger& ledger, const Place& place, Tag tag, std::int64_t kept) noexcept {
    const std::int64_t excess = place.credit() - kept;
    if (excess <= 0) return true;
    place.take_granted(excess);
    if (may_take(place.shard, place.cell) && place.credit() >= kept) {
        release_bytes(ledger, tag, excess);
        return true;
    }
    place.add_granted(excess);
    return false;
}

// The same whoever is at it; waits for who is just taking it, or has and not yet told the accounts.
void return_surely(Ledger& ledger, const Place& place, Tag tag, std::int64_t kept) noexcept {
    if (place.credit() <= kept && !is_being_taken(place.cell)) return;
    const CreditScope scope(place.shard);
    for (Patience patience; !return_excess(ledger, place, tag, kept) || is_being_taken(place.cell);) {
        if (give_up_revoked(ledger, place.shard, tag, patience)) continue;
        note_rough_peaks(ledger, tag, 0);
        return note_rough_climbs(ledger, tag);
    }
}

// For a charge out of credit that comes to nothing, or that goes on as slow work. A climb that met it found
// the bytes taken, left them here, and counted them as memory.
void return_left_over(Ledger& ledger, const Place& place, Tag tag) noexcept {
    const std::int64_t mark = place.cell.ceiling.load(std::memory_order_relaxed);
    if (mark >= 0 || place.credit() <= 0) return;
    return_surely(ledger, place, tag, 0);
    note_rough_since(ledger, tag, mark);
}

// What slow work ends with: the place keeps some credit, as much as the bounds allow now.
void settle(Ledger& ledger, const Place& place, Tag tag) noexcept {
    std::int64_t spare = spare_credit(ledger, tag);
    for (;;) {
        if (place.credit() > 2 * spare || is_being_taken(place.cell))
            return_surely(ledger, place, tag, spare);
        place.set_most_credit(2 * spare);
        if (spare == 0) return;
        // Looked at when the credit is in place: either this sees a bound that was just set, or the
        // revocation that comes with it sees the credit.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const std::int64_t now = spare_credit(ledger, tag);
        if (now >= spare) return;
        spare = now;
    }
}

// Credit for what comes next, where the bounds allow it.
void grant_credit(Ledger& ledger, const Place& place, Tag tag) noexcept {
    if (spare_grant(ledger, tag) == 0) return;
    const CreditScope scope(place.shard);
    CreditScope::look_anew();
    const std::int64_t spare = spare_grant(ledger, tag);
    if (!reserve_bytes(ledger, tag, spare, PeakRule::keep).is_granted()) return;
    place.add_granted(spare);
    hold_bytes(ledger, tag, spare);
}

// The bound that is in the way.
std::int64_t bound_of(const LedgerAccount& account, Obstacle obstacle) noexcept {
    const auto& bound = obstacle == Obstacle::budget ? account.hard : account.peak;
    return bound.load(std::memory_order_relaxed);
}

// True when there seems to be room for the bytes without the credit of other threads, which is taken back
// then. Below a peak for room that lasts for some calls: for less, to count in one place costs less.
bool make_room(Ledger& ledger, const Reservation& refused, std::int64_t bytes) noexcept {
    const LedgerAccount& account = account_of(ledger, refused.limiting);
    const std::int64_t calls = refused.obstacle == Obstacle::budget ? 1 : calls_to_rest(account);
    const std::int64_t out = credit_below(ledger, refused.limiting);
    const std::int64_t live = account.held.load(std::memory_order_relaxed) - out;
    if (live > bound_of(account, refused.obstacle) - std::min(bytes, kUnbounded / calls) * calls)
        return false;
    return out != 0 && try_revoke_credit(ledger, refused.limiting);
}

// What is in use leaves no room for the bytes, by a look at all threads in which none of them did anything.
bool is_surely_full(Ledger& ledger, Tag limiting, std::int64_t bytes) noexcept {
    const LedgerAccount& account = account_of(ledger, limiting);
    if (bytes > bound_of(account, Obstacle::budget)) return true;
    // To ask once more costs less than to look.
    if (account.climb.load(std::memory_order_relaxed) == Climb::on) return false;
    const std::optional<std::int64_t> room = steady_room_below(ledger, limiting);
    return room && *room < bytes;
}

// A request that a budget is in the way of. Credit on its way between threads and accounts counts twice, or
// not at all, to whoever looks: where it moves, the request is refused only when there was none.
class BudgetObstacle {
public:
    // True when it is worth another try; there is no credit below the budget then.
    bool make_sure(Ledger& ledger, Tag limiting, std::int64_t bytes) noexcept {
        const LedgerAccount& account = account_of(ledger, limiting);
        if (was_sure_of(account) || is_surely_full(ledger, limiting, bytes) ||
            ++climbs_ > kMostBudgetClimbs || !begin_climb(ledger, limiting))
            return false;
        sure_of_ = &account;
        climbed_at_ = account.climbed_at.load();
        return true;
    }

private:
    // The climb has been on since before the last try.
    [[nodiscard]] bool was_sure_of(const LedgerAccount& account) const noexcept {
        if (&account != sure_of_) return false;
        std::atomic_thread_fence(std::memory_order_acquire);
        const Climb climb = account.climb.load();
        return (climb == Climb::on || climb == Climb::ending) && account.climbed_at.load() == climbed_at_;
    }

    const LedgerAccount* sure_of_ = nullptr;
    std::int64_t climbed_at_ = 0;
    int climbs_ = 0;
};

// Room for the bytes: ok, or budget_exceeded.
Status find_room(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    PeakRule rule = PeakRule::keep;
    BudgetObstacle budget;
    for (int revocations = 0;;) {
        const Reservation reservation = reserve_bytes(ledger, tag, bytes, rule);
        if (reservation.is_granted()) {
            // Before it can be in a peak, which comes with the memory.
            if (rule == PeakRule::pass) note_rough_peaks(ledger, tag, 0);
            return Status::ok;
        }
        if (revocations++ < kMostRevocations && make_room(ledger, reservation, bytes)) continue;
        if (reservation.obstacle == Obstacle::peak) {
            if (!begin_climb(ledger, reservation.limiting)) rule = PeakRule::pass;
            continue;
        }
        if (budget.make_sure(ledger, reservation.limiting, bytes)) continue;
        const std::int64_t limit = bound_of(account_of(ledger, reservation.limiting), Obstacle::budget);
        return refuse(tag, Status::budget_exceeded, static_cast<std::size_t>(bytes), limit);
    }
}

// In the order in which nobody takes it for credit in between.
void take_reserved(const Place& place, std::int64_t bytes) noexcept {
    add_to(place.cell.allocated, bytes);
    std::atomic_thread_fence(std::memory_order_release);
    place.add_granted(bytes);
}
void drop_reserved(const Place& place, std::int64_t bytes) noexcept {
    place.take_granted(bytes);
    std::atomic_thread_fence(std::memory_order_release);
    add_to(place.cell.allocated, -bytes);
}

Status charge_within(Ledger& ledger, const Place& place, Tag tag, std::int64_t bytes) noexcept {
    // The thread's own credit does not suffice: it shall not be in its own way.
    return_surely(ledger, place, tag, 0);
    const Status status = find_room(ledger, tag, bytes);
    if (status == Status::ok) {
        take_reserved(place, bytes);
        grant_credit(ledger, place, tag);
    }
    // Also what was left of an earlier turn, under a budget that is smaller by now, must not stay.
    settle(ledger, place, tag);
    return status;
}

// The end of slow work that gives something back.
void settle_at(Ledger& ledger, const Place& place, Tag tag) noexcept {
    mark_used(place.shard, tag);
    settle(ledger, place, tag);
    rest_after_climb(ledger, tag);
}

// Whoever asks has looked at his credit, and may have kept it from somebody who took it back.
Status settle_and_return(Tag tag, Status status) noexcept {
    settle_slow(tag);
    count_failure(tag, status);
    return status;
}

Status charge_matter(Tag tag, std::size_t bytes, Matter matter) noexcept {
    if (bytes > kMaxAllocationBytes) return settle_and_return(tag, Status::size_overflow);
    if (bytes > kMostBytes) return settle_and_return(tag, Status::capacity_exhausted);
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return Status::out_of_memory;
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    mark_used(place.shard, tag);
    return_left_over(*ledger, place, tag);
    if (const Status status = ask_rate_limits(*ledger, tag, bytes); status != Status::ok) {
        settle_at(*ledger, place, tag);
        return refuse(tag, status, bytes, 0);
    }
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
    add_to(place.cell.allowance, bytes);
    if (matter == Matter::block) add_to(place.cell.frees, 1U);
    settle_at(*ledger, place, tag);
}

// Of a charge that was not confirmed.
void uncharge_matter(Tag tag, std::size_t bytes, Matter matter) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    // Nobody who looks half-way shall take credit for less than it is.
    return_surely(*ledger, place, tag, 0);
    {
        const CreditScope moves(place.shard);
        drop_reserved(place, static_cast<std::int64_t>(bytes));
    }
    unreserve_bytes(*ledger, tag, static_cast<std::int64_t>(bytes));
    if (matter == Matter::block) add_to(place.cell.allocations, -1);
    settle_at(*ledger, place, tag);
}

}  // namespace

Charge sampled_charge() noexcept {
    return Charge::sampled();
}

Charge deferred_charge() noexcept {
    return Charge::deferred();
}

void confirm_slow(Tag tag, std::size_t bytes) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    hold_at_peaks(*ledger, tag, static_cast<std::int64_t>(bytes));
    rest_after_climb(*ledger, tag);
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
void settle_slow(Tag tag) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    settle_at(*ledger, Place(scope.shard(), tag), tag);
}
void refund_shrinkage(Tag tag, std::size_t bytes) noexcept {
    refund_matter(tag, bytes, Matter::part);
}

void uncharge_credit(Tag tag, std::size_t bytes) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const ShardScope scope(*ledger);
    const Place place(scope.shard(), tag);
    {
        const CreditScope moves(place.shard);
        add_to(place.cell.allocated, -static_cast<std::int64_t>(bytes));
    }
    add_to(place.cell.allocations, -1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return_left_over(*ledger, place, tag);
    settle_at(*ledger, place, tag);
}
void uncharge_slow(Tag tag, std::size_t bytes) noexcept {
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
