#include "report_parts.hpp"

#include <ouro/base/status.hpp>
#include <ouro/memory/rate_limit.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace ouro {
namespace {

using detail::Ledger;
using detail::LedgerAccount;
using detail::LedgerCell;

// All sums wrap: the numbers may be anything.
struct Sums {
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;

    void add(const Sums& other) {
        allocated_bytes += other.allocated_bytes;
        freed_bytes += other.freed_bytes;
        allocations += other.allocations;
        frees += other.frees;
    }
};

Sums sums_of(const detail::LedgerShard& shard, std::size_t id) {
    const LedgerCell& cell = shard.cells[id];
    return {.allocated_bytes = load(cell.allocated),
            .freed_bytes = load(cell.allowance) - load(shard.slow_cells[id].granted),
            .allocations = load(cell.allocations),
            .frees = load(cell.frees)};
}

std::vector<FailureCount> failures_of(const LedgerAccount& account) {
    std::vector<FailureCount> failures;
    for (std::size_t number = 0; number < account.failures.size(); ++number) {
        const std::uint64_t count = load(account.failures[number]);
        if (count == 0) continue;
        failures.push_back({std::string(status_name(static_cast<Status>(number))), count});
    }
    return failures;
}

std::optional<std::uint64_t> bound_of(const std::atomic<std::int64_t>& bound) {
    const auto bytes = static_cast<std::int64_t>(load(bound));
    if (bytes == detail::kUnbounded || bytes < 0) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> rate_of(const std::atomic<std::uint64_t>& limit) {
    const std::uint64_t most = load(limit);
    return most == RateLimit::kNone ? std::nullopt : std::optional(most);
}

std::optional<RateReport> rate_limit_of(const LedgerAccount& account) {
    if (load(account.is_rate_limited) == 0) return std::nullopt;
    return RateReport{.bytes = rate_of(account.rate_bytes),
                      .requests = rate_of(account.rate_calls),
                      .seconds = seconds_between(0, load(account.rate_interval_ns))};
}

TagReport read_account(const LedgerAccount& account, std::size_t id) {
    TagReport tag;
    tag.id = static_cast<std::uint16_t>(id);
    tag.name = id == 0 ? "everything" : printable(account.name);
    // Before it is opened, its zeros are no budgets.
    if (load(account.is_open) != 0) {
        tag.soft_bytes = bound_of(account.soft);
        tag.hard_bytes = bound_of(account.hard);
    }
    tag.rate_limit = rate_limit_of(account);
    tag.failures = failures_of(account);
    return tag;
}

// A parent has the smaller number and is open before those below it; with anything else the way up would not
// end.
std::uint16_t parent_of(const Ledger& ledger, std::size_t id) {
    const std::uint16_t parent = ledger.accounts[id].parent;
    return parent < id && load(ledger.accounts[parent].is_open) != 0 ? parent : std::uint16_t{0};
}

bool is_used(const TagReport& tag) {
    return tag.allocations != 0 || tag.allocated_bytes != 0 || tag.hard_bytes || tag.soft_bytes ||
           tag.rate_limit || !tag.failures.empty();
}

void fill_use(TagReport& tag, const Sums& sums, const LedgerAccount& account) {
    tag.live_bytes = at_least_zero(sums.allocated_bytes - sums.freed_bytes);
    tag.live_blocks = at_least_zero(sums.allocations - sums.frees);
    tag.allocations = at_least_zero(sums.allocations);
    tag.frees = at_least_zero(sums.frees);
    tag.allocated_bytes = at_least_zero(sums.allocated_bytes);
    tag.freed_bytes = at_least_zero(sums.freed_bytes);
    // What is live may not be in the peak yet while the program is at work.
    tag.peak_bytes = std::max(at_least_zero(load(account.peak)), tag.live_bytes);
    tag.is_peak_exact = load(account.is_peak_rough) == 0;
}

// Depth first, the largest first among those with the same parent.
std::vector<TagReport> sort_as_tree(std::vector<TagReport> tags) {
    std::vector<std::vector<std::size_t>> below(kMaxTags);
    std::vector<std::size_t> order(tags.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return std::pair(tags[one].live_bytes, one) < std::pair(tags[other].live_bytes, other);
    });
    std::vector<std::size_t> open;
    for (const std::size_t index : order) {
        if (tags[index].id == 0) {
            open.push_back(index);
        } else {
            below[tags[index].parent].push_back(index);
        }
    }
    std::vector<TagReport> sorted;
    while (!open.empty()) {
        TagReport& tag = tags[open.back()];
        open.pop_back();
        for (const std::size_t index : below[tag.id]) {
            tags[index].depth = tag.depth + 1;
            open.push_back(index);
        }
        sorted.push_back(std::move(tag));
    }
    return sorted;
}

}  // namespace

std::vector<TagReport> read_tags(const Ledger& ledger) {
    const std::size_t shards = std::min<std::size_t>(load(ledger.used_shards), ledger.shards.size());
    std::vector<Sums> sums(ledger.accounts.size());
    std::vector<bool> is_used_below(ledger.accounts.size());
    std::vector<TagReport> tags;
    for (std::size_t id = ledger.accounts.size(); id-- != 0;) {
        const LedgerAccount& account = ledger.accounts[id];
        // Everything is always told of, and carries the rest.
        if (id != 0 && load(account.is_open) == 0) continue;
        Sums own;
        for (std::size_t shard = 0; shard < shards; ++shard)
            own.add(sums_of(ledger.shards[shard], id));
        sums[id].add(own);
        TagReport tag = read_account(account, id);
        tag.own_live_bytes = at_least_zero(own.allocated_bytes - own.freed_bytes);
        fill_use(tag, sums[id], account);
        tag.parent = parent_of(ledger, id);
        tag.is_used = is_used_below[id] || is_used(tag);
        if (tag.is_used) is_used_below[tag.parent] = true;
        if (id != 0) sums[tag.parent].add(sums[id]);
        tags.push_back(std::move(tag));
    }
    return sort_as_tree(std::move(tags));
}

}  // namespace ouro
