#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"

#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace {

using detail::Ledger;
using detail::LedgerAccount;
using detail::LedgerCell;
using detail::LedgerShard;

struct Sums {
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::int64_t credit = 0;
    std::uint64_t failures = 0;
};

// Frees before allocations, so that what both have seen is never less than what is live.
void add_cells(Ledger& ledger, std::size_t id, Sums& sums) noexcept {
    detail::visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        sums.frees += shard.cells[id].frees.load(std::memory_order_relaxed);
        sums.freed_bytes += static_cast<std::uint64_t>(shard.freed(id));
    });
    detail::visit_shards(ledger, [&](LedgerShard& shard) noexcept {
        const LedgerCell& cell = shard.cells[id];
        sums.allocations += cell.allocations.load(std::memory_order_relaxed);
        sums.allocated_bytes += static_cast<std::uint64_t>(cell.allocated.load(std::memory_order_relaxed));
        sums.credit += shard.credit(id);
    });
}

std::uint64_t count_failures(const LedgerAccount& account) noexcept {
    std::uint64_t sum = 0;
    for (const auto& failures : account.failures)
        sum += failures.load(std::memory_order_relaxed);
    return sum;
}

template <class Visit>
void visit_tags_below(Tag top, Visit&& visit) noexcept {
    const std::size_t count = tag_count();
    for (std::size_t id = top.id(); id < count; ++id) {
        if (is_tag_within(Tag::from_id(static_cast<std::uint16_t>(id)), top)) visit(id);
    }
}

TagUse make_use(Ledger& ledger, Tag tag, const Sums& sums) noexcept {
    TagUse use{.allocations = sums.allocations,
               .frees = sums.frees,
               .allocated_bytes = sums.allocated_bytes,
               .freed_bytes = static_cast<std::uint64_t>(
                   std::max<std::int64_t>(static_cast<std::int64_t>(sums.freed_bytes), 0)),
               .failures = sums.failures};
    // What was allocated and freed between the two looks counts as live; what is granted bounds it.
    const std::int64_t reserved = detail::account_of(ledger, tag).reserved.load(std::memory_order_relaxed);
    const auto live = static_cast<std::int64_t>(sums.allocated_bytes - sums.freed_bytes);
    use.live_bytes =
        static_cast<std::size_t>(std::clamp<std::int64_t>(live, 0, std::max<std::int64_t>(reserved, 0)));
    use.live_blocks = static_cast<std::size_t>(
        std::max<std::int64_t>(static_cast<std::int64_t>(sums.allocations - sums.frees), 0));
    const LedgerAccount& account = detail::account_of(ledger, tag);
    const std::int64_t peak = account.peak.load(std::memory_order_relaxed);
    // What is live may not be in the peak yet, while others are at work.
    use.peak_bytes = std::max(static_cast<std::size_t>(std::max<std::int64_t>(peak, 0)), use.live_bytes);
    use.is_peak_exact = account.is_peak_rough.load(std::memory_order_relaxed) == 0;
    return use;
}

bool is_registered(Tag tag) noexcept {
    return tag.id() < tag_count();
}

void add_sums(const Sums& sums, Sums& to) noexcept {
    to.allocated_bytes += sums.allocated_bytes;
    to.freed_bytes += sums.freed_bytes;
    to.allocations += sums.allocations;
    to.frees += sums.frees;
    to.credit += sums.credit;
    to.failures += sums.failures;
}

}  // namespace

TagUse use_of(Tag tag) noexcept {
    Ledger* const ledger = is_registered(tag) ? detail::open_ledger(tag) : nullptr;
    if (ledger == nullptr) return {};
    Sums sums;
    visit_tags_below(tag, [&](std::size_t id) noexcept {
        add_cells(*ledger, id, sums);
        sums.failures += count_failures(ledger->accounts[id]);
    });
    return make_use(*ledger, tag, sums);
}

TagUse own_use_of(Tag tag) noexcept {
    Ledger* const ledger = is_registered(tag) ? detail::open_ledger(tag) : nullptr;
    if (ledger == nullptr) return {};
    Sums sums;
    add_cells(*ledger, tag.id(), sums);
    sums.failures = count_failures(detail::account_of(*ledger, tag));
    return make_use(*ledger, tag, sums);
}

std::size_t visit_uses(UseVisit visit, void* context) noexcept {
    Ledger* const ledger = detail::open_ledger({});
    if (ledger == nullptr) return 0;
    const std::size_t count = tag_count();
    std::array<Sums, kMaxTags> sums{};
    // A tag's number is larger than its parent's: each sum is complete before it is added to the parent's.
    for (std::size_t id = count; id-- != 0;) {
        add_cells(*ledger, id, sums[id]);
        sums[id].failures += count_failures(ledger->accounts[id]);
        const Tag parent = tag_parent(Tag::from_id(static_cast<std::uint16_t>(id)));
        if (id != 0) add_sums(sums[id], sums[parent.id()]);
    }
    for (std::size_t id = 0; id < count; ++id) {
        const Tag tag = Tag::from_id(static_cast<std::uint16_t>(id));
        visit(context, tag, make_use(*ledger, tag, sums[id]));
    }
    return count;
}

std::uint64_t failures_of(Tag tag, Status status) noexcept {
    Ledger* const ledger = is_registered(tag) ? detail::open_ledger(tag) : nullptr;
    const auto number = static_cast<std::size_t>(status);
    if (ledger == nullptr || number >= detail::kLedgerStatuses) return 0;
    return detail::account_of(*ledger, tag).failures[number].load(std::memory_order_relaxed);
}

void reset_peaks() noexcept {
    Ledger* const ledger = detail::open_ledger({});
    if (ledger == nullptr) return;
    detail::forget_peaks(*ledger);
}

Status check_ledger() noexcept {
    Ledger* const ledger = detail::open_ledger({});
    if (ledger == nullptr) return Status::ok;
    const std::size_t count = tag_count();
    for (std::size_t id = 0; id < count; ++id) {
        const LedgerAccount& account = ledger->accounts[id];
        if (account.is_open.load(std::memory_order_acquire) == 0) continue;
        Sums sums;
        visit_tags_below(Tag::from_id(static_cast<std::uint16_t>(id)),
                         [&](std::size_t below) noexcept { add_cells(*ledger, below, sums); });
        const std::int64_t held = account.held.load(std::memory_order_relaxed);
        const auto live = static_cast<std::int64_t>(sums.allocated_bytes - sums.freed_bytes);
        const bool adds_up = held == account.reserved.load(std::memory_order_relaxed) &&
                             held == live + sums.credit && live >= 0 && sums.credit >= 0;
        const std::int64_t peak = account.peak.load(std::memory_order_relaxed);
        const bool climbs = account.climb.load(std::memory_order_relaxed) != detail::Climb::none;
        // Credit that could not be taken back makes a peak rough.
        const bool is_rough = account.is_peak_rough.load(std::memory_order_relaxed) != 0;
        const bool is_below_peak =
            climbs ? live <= peak && (sums.credit == 0 || is_rough) : held <= peak || is_rough;
        if (!adds_up || !is_below_peak) return Status::corrupt_data;
    }
    return Status::ok;
}

}  // namespace ouro
