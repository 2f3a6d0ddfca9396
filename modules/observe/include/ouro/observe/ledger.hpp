#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/tag.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The account of every tag of the process: what is in use under it, on all threads together. ChargedAllocator
// keeps it; these functions read it, from any thread and at any time.
namespace ouro {

struct TagUse {
    std::size_t live_bytes = 0;
    std::size_t live_blocks = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    // Of all allocations and growths, frees and shrinkings so far.
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    // The most that was live at once, to the byte: of threads that allocate and free at the same moment, in
    // one of the orders in which they may have done so. At no moment below live_bytes.
    std::size_t peak_bytes = 0;
    // False when the peak may be too high by credit that threads held, until the peaks begin anew: a thread
    // was stopped for a tenth of a second right where others had to wait for it, a fork took as long, or the
    // system refused a process barrier. Also where others made a new peak just while a charge out of credit
    // was under way that came to nothing: memory that could not be had.
    bool is_peak_exact = true;
    // Requests that failed, for whatever reason.
    std::uint64_t failures = 0;
};

// In the child of a fork, blocks of threads that it does not have stay live, as their memory does; so do
// bytes that those were just asking for or freeing, unless they were to be refused.

// Of the tag and all below it; of everything for the untagged one. Exact when nobody allocates or frees
// meanwhile; otherwise live_bytes is at least what is live when the call begins and still is when it returns,
// and never more than the budgets have let through.
// Nothing for a tag that is not registered.
[[nodiscard]] TagUse use_of(Tag tag) noexcept;

// Of the tag alone. The peak is that of the tag with those below it.
[[nodiscard]] TagUse own_use_of(Tag tag) noexcept;

// The use of every tag, with all below it: calls visit(context, tag, use) in the order of their ids, and
// returns how many there are. Much cheaper than to ask for one after the other.
using UseVisit = void (*)(void* context, Tag tag, const TagUse& use);
std::size_t visit_uses(UseVisit visit, void* context) noexcept;
template <class Visit>
std::size_t visit_uses(Visit&& visit) noexcept {
    return visit_uses(
        [](void* context, Tag tag, const TagUse& use) {
            (*static_cast<std::remove_reference_t<Visit>*>(context))(tag, use);
        },
        &visit);
}

// Of the tag alone, by reason.
[[nodiscard]] std::uint64_t failures_of(Tag tag, Status status) noexcept;

// The peaks begin anew at what is live now.
void reset_peaks() noexcept;

// Verifies the accounts: ok, or corrupt_data. Requires: nobody allocates or frees meanwhile.
[[nodiscard]] Status check_ledger() noexcept;

// What the ledger and everything else that observes takes itself: addresses, and the pages of them that there
// are now. Asks the system, which takes some hundred microseconds.
struct ObserveCost {
    std::size_t reserved_bytes = 0;
    std::size_t used_bytes = 0;
};
[[nodiscard]] ObserveCost observe_cost() noexcept;

}  // namespace ouro
