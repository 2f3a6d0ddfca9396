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
template <class Visit>
bool visit_chain(Ledger& ledger, Tag tag, Visit&& visit) noexcept {
    for (;; tag = tag_parent(tag)) {
        if (!visit(account_of(ledger, tag), tag)) return false;
        if (tag.is_untagged()) return true;
    }
}

struct Reservation {
    bool is_granted = false;
    // Whose hard budget is in the way when it is not.
    Tag limiting = {};
};
// Takes the bytes into account along the chain, or changes nothing. Once they are credit somewhere,
// hold_bytes says so; release_bytes undoes both.
[[nodiscard]] Reservation reserve_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
void hold_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;
void release_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept;

// What is in use under the tag and those below it; off by what threads are granted meanwhile.
[[nodiscard]] std::int64_t live_below(Ledger& ledger, Tag tag) noexcept;

// How much credit a thread may be given beyond what it needs now: little near any bound, so that bounds are
// noticed where they are; none under a rate limit.
[[nodiscard]] std::int64_t spare_credit(Ledger& ledger, Tag tag, std::int64_t needed = 0) noexcept;

// Raises what reservations have made due: events of soft budgets, alarms of those who watch.
void notice_bounds(Ledger& ledger, Tag tag) noexcept;

// ok or rate_limited, at any level.
[[nodiscard]] Status ask_rate_limits(Ledger& ledger, Tag tag, std::size_t bytes) noexcept;

}  // namespace ouro::detail
