#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/observe_image.hpp>

#include <cstdint>

// The shared side of the ledger: what each tag was granted, along the way up to the root, and may be.
namespace ouro::detail {

// The ledger with an open account for the tag and every one above it; null where there is no memory for one.
[[nodiscard]] Ledger* open_ledger(Tag tag) noexcept;

[[nodiscard]] inline LedgerAccount& account_of(Ledger& ledger, Tag tag) noexcept {
    return ledger.accounts[tag.id()];
}

// Calls visit(account, tag) for the tag and all above it, the root last, until one call returns false.
// Requires: the tag's account is open.
template <class Visit>
bool visit_chain(Ledger& ledger, Tag tag, Visit&& visit) noexcept {
    for (;;) {
        LedgerAccount& account = account_of(ledger, tag);
        if (!visit(account, tag)) return false;
        if (tag.is_untagged()) return true;
        tag = Tag::from_id(account.parent);
    }
}

// What is in the way of a reservation: nothing, a hard budget, or a peak that only an account which climbs
// may pass.
enum class Obstacle : std::uint8_t { none, budget, peak };

struct Reservation {
    Obstacle obstacle = Obstacle::none;
    // Whose it is.
    Tag limiting = {};

    [[nodiscard]] bool is_granted() const noexcept { return obstacle == Obstacle::none; }
};

// Whether a peak is in the way of a reservation.
enum class PeakRule : std::uint8_t { keep, pass };

// Takes the bytes into account along the chain, or changes nothing. Once they are credit somewhere, or
// memory, hold_bytes says so. release_bytes undoes both, unreserve_bytes the first alone.
[[nodiscard]] Reservation reserve_bytes(Ledger& ledger, Tag tag, std::int64_t bytes, PeakRule rule) noexcept;
void hold_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
void release_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
void unreserve_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;

// What is in use under the tag and those below it; off by what threads are granted meanwhile.
[[nodiscard]] std::int64_t live_below(Ledger& ledger, Tag tag) noexcept;

// How much credit a thread may keep beyond what it needs now: little near any bound, so that bounds are
// noticed where they are; none under a rate limit, nor below an account that climbs.
[[nodiscard]] std::int64_t spare_credit(Ledger& ledger, Tag tag) noexcept;
// How much it may be given: the same, below the peaks.
[[nodiscard]] std::int64_t spare_grant(Ledger& ledger, Tag tag) noexcept;

// Raises what reservations have made due: events of soft budgets, alarms of those who watch.
void notice_bounds(Ledger& ledger, Tag tag) noexcept;

// The account of the tag begins to climb, or does already; credit that threads hold below it is taken back.
// False when a stopped thread is in the way for too long. Requires: the caller is not granting.
[[nodiscard]] bool begin_climb(Ledger& ledger, Tag tag) noexcept;
// How many calls taking all credit below the account back is worth.
[[nodiscard]] std::int64_t calls_to_rest(const LedgerAccount& account) noexcept;
// hold_bytes for memory that is there now: raises the peaks that it passes.
void hold_at_peaks(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
// Peaks that the bytes would pass may come to be too high, as may all while an account climbs.
void note_rough_peaks(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
void note_rough_climbs(Ledger& ledger, Tag tag) noexcept;
// After credit was given back that climbs since the mark took for memory. Whoever is still beginning one does
// not count it any more.
void note_rough_since(Ledger& ledger, Tag tag, std::int64_t mark) noexcept;
// After slow work: an account that has not come higher for some time does not climb any more.
void rest_after_climb(Ledger& ledger, Tag tag) noexcept;
// All peaks begin anew at what is in use.
void forget_peaks(Ledger& ledger) noexcept;

// ok or rate_limited, at any level.
[[nodiscard]] Status ask_rate_limits(Ledger& ledger, Tag tag, std::size_t bytes) noexcept;

}  // namespace ouro::detail
