#include "event_rows.hpp"
#include "fork_safety.hpp"
#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"
#include "rate_gates.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/detail/pressure_watch.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace detail {
namespace {

constinit std::array<RateGate, kMaxTags> g_rate_gates;
// The bounds of an account are being written.
constinit LedgerLock g_setting;

}  // namespace

RateGate& rate_gate(Tag tag) noexcept {
    return g_rate_gates[tag.id()];
}

void hold_budgets_for_fork() noexcept {
    g_setting.lock();
}
void resume_budgets() noexcept {
    g_setting.unlock();
}

}  // namespace detail

namespace {

using detail::g_setting;
using detail::Ledger;
using detail::LedgerAccount;

std::int64_t to_bound(std::size_t bytes) noexcept {
    constexpr auto kMost = static_cast<std::uint64_t>(detail::kUnbounded);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes == kNoBudget ? kMost : bytes, kMost));
}

std::size_t from_bound(std::int64_t bound) noexcept {
    return bound == detail::kUnbounded ? kNoBudget : static_cast<std::size_t>(bound);
}

bool is_registered(Tag tag) noexcept {
    return tag.id() < tag_count();
}

Status check_shares(const SharedBudget& budget) noexcept {
    constexpr std::uint32_t kWhole = 100;
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < budget.shares.size(); ++at) {
        const BudgetShare& share = budget.shares[at];
        const auto is_same = [&](const BudgetShare& other) noexcept { return other.tag == share.tag; };
        const auto others = budget.shares.first(at);
        if (!is_registered(share.tag) || share.tag.is_untagged()) return Status::bad_argument;
        if (std::any_of(others.begin(), others.end(), is_same)) return Status::bad_argument;
        sum += share.percent;
    }
    const bool is_sound = sum <= kWhole && budget.soft_percent <= kWhole && budget.total_bytes != 0;
    return is_sound ? Status::ok : Status::bad_argument;
}

// Without overflow, for any total.
std::size_t percent_of(std::size_t bytes, std::uint32_t percent) noexcept {
    return bytes / 100 * percent + bytes % 100 * percent / 100;
}

}  // namespace

Expected<void> set_budget(Tag tag, const Budget& budget) noexcept {
    if (!is_registered(tag)) return Status::bad_argument;
    if (budget.soft_bytes != kNoBudget && budget.soft_bytes > budget.hard_bytes) return Status::bad_argument;
    Ledger* const ledger = detail::open_ledger(tag);
    if (ledger == nullptr) return Status::out_of_memory;
    LedgerAccount& account = detail::account_of(*ledger, tag);
    const std::int64_t soft = to_bound(budget.soft_bytes);
    const std::int64_t hard = to_bound(budget.hard_bytes);
    {
        // Both or none of two that are set at once.
        const detail::LedgerLockScope scope(g_setting);
        // One that stays is not passed again because the other changes.
        if (account.soft.exchange(soft, std::memory_order_relaxed) != soft)
            account.is_over_soft.store(0, std::memory_order_relaxed);
        account.hard.store(hard);
    }
    // Credit was granted under the old budget.
    if (account.reserved.load() > std::min(soft, hard)) detail::revoke_credit(*ledger, tag);
    detail::begin_refusals_anew(tag);
    detail::renew_alarms(tag);
    detail::notice_bounds(*ledger, tag);
    return {};
}

Budget budget_of(Tag tag) noexcept {
    Ledger* const ledger = is_registered(tag) ? detail::open_ledger(tag) : nullptr;
    if (ledger == nullptr) return {};
    const LedgerAccount& account = detail::account_of(*ledger, tag);
    return {.soft_bytes = from_bound(account.soft.load(std::memory_order_relaxed)),
            .hard_bytes = from_bound(account.hard.load(std::memory_order_relaxed))};
}

Expected<void> set_rate_limit(Tag tag, const RateLimit& limit) noexcept {
    if (!is_registered(tag)) return Status::bad_argument;
    Ledger* const ledger = detail::open_ledger(tag);
    if (ledger == nullptr) return Status::out_of_memory;
    LedgerAccount& account = detail::account_of(*ledger, tag);
    {
        // All of one of two that are set at once.
        const detail::LedgerLockScope scope(g_setting);
        if (const auto set = detail::rate_gate(tag).set(limit); !set) return set;
        account.rate_bytes.store(limit.bytes, std::memory_order_relaxed);
        account.rate_calls.store(limit.calls, std::memory_order_relaxed);
        account.rate_interval_ns.store(limit.interval_ns, std::memory_order_relaxed);
        account.is_rate_limited.store(1, std::memory_order_release);
    }
    detail::begin_refusals_anew(tag);
    // Who holds credit would not ask.
    detail::revoke_credit(*ledger, tag);
    return {};
}

void clear_rate_limit(Tag tag) noexcept {
    Ledger* const ledger = is_registered(tag) ? detail::open_ledger(tag) : nullptr;
    if (ledger == nullptr) return;
    detail::account_of(*ledger, tag).is_rate_limited.store(0, std::memory_order_release);
    detail::rate_gate(tag).clear();
}

Expected<void> set_budget_shares(const SharedBudget& budget) noexcept {
    if (const Status status = check_shares(budget); status != Status::ok) return status;
    const auto apply = [&](Tag tag, std::size_t hard) noexcept {
        return set_budget(tag, {.soft_bytes = percent_of(hard, budget.soft_percent), .hard_bytes = hard});
    };
    if (const auto set = apply({}, budget.total_bytes); !set) return set;
    for (const BudgetShare& share : budget.shares) {
        if (const auto set = apply(share.tag, percent_of(budget.total_bytes, share.percent)); !set)
            return set;
    }
    return {};
}

std::array<BudgetShare, 5> game_budget_shares() noexcept {
    const DefaultTags& tags = default_tags();
    return {BudgetShare{tags.creatures, 40},
            {tags.world, 20},
            {tags.rendering, 20},
            {tags.ui, 10},
            {tags.audio, 5}};
}

}  // namespace ouro
