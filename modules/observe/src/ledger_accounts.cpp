#include "ledger_accounts.hpp"

#include "fork_safety.hpp"
#include "ledger_shards.hpp"
#include "rate_gates.hpp"

#include <ouro/observe/detail/pressure_watch.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <cstring>

namespace ouro::detail {
namespace {

constinit LedgerLock g_opening;
// Threads that take bytes into account, and may have to undo it.
constinit std::atomic<std::uint32_t> g_reserving = 0;

void fill_account(LedgerAccount& account, Tag tag) noexcept {
    account.hard.store(kUnbounded, std::memory_order_relaxed);
    account.soft.store(kUnbounded, std::memory_order_relaxed);
    account.alarm.store(kUnbounded, std::memory_order_relaxed);
    account.parent = tag_parent(tag).id();
    const std::string_view name = tag_name(tag);
    std::memcpy(account.name.data(), name.data(), std::min(name.size(), account.name.size() - 1));
    account.is_open.store(1, std::memory_order_release);
}

bool is_open(Ledger& ledger, Tag tag) noexcept {
    return account_of(ledger, tag).is_open.load(std::memory_order_acquire) != 0;
}

// Those above first: whoever sees one open sees them too.
[[gnu::cold]] void open_chain(Ledger& ledger, Tag tag) noexcept {
    const LedgerLockScope scope(g_opening);
    while (!is_open(ledger, tag)) {
        Tag highest = tag;
        while (!highest.is_untagged() && !is_open(ledger, tag_parent(highest)))
            highest = tag_parent(highest);
        fill_account(account_of(ledger, highest), highest);
    }
}

bool climbs(const LedgerAccount& account) noexcept {
    return account.climb.load() == Climb::on;
}

// What is in the way above so many reserved bytes.
Obstacle obstacle_above(const LedgerAccount& account, std::int64_t reserved, std::int64_t bytes,
                        PeakRule rule) noexcept {
    const std::int64_t hard = account.hard.load(std::memory_order_relaxed);
    if (bytes > hard || reserved > hard - bytes) return Obstacle::budget;
    if (rule == PeakRule::pass || reserved + bytes <= account.peak.load(std::memory_order_relaxed))
        return Obstacle::none;
    return climbs(account) ? Obstacle::none : Obstacle::peak;
}

Obstacle try_reserve(LedgerAccount& account, std::int64_t bytes, PeakRule rule) noexcept {
    std::int64_t reserved = account.reserved.load(std::memory_order_relaxed);
    do {
        if (const Obstacle obstacle = obstacle_above(account, reserved, bytes, rule);
            obstacle != Obstacle::none)
            return obstacle;
    } while (!account.reserved.compare_exchange_weak(reserved, reserved + bytes));
    // Looked at again when it is reserved: either who ends the climb sees it, or it is seen here.
    if (rule == PeakRule::pass || reserved + bytes <= account.peak.load() || climbs(account))
        return Obstacle::none;
    account.reserved.fetch_sub(bytes);
    return Obstacle::peak;
}

// A soft budget is told about again when the use was below it by a sixteenth.
bool is_clearly_below(std::int64_t reserved, std::int64_t soft) noexcept {
    return reserved < soft - soft / 16;
}

void notice_soft_budget(Ledger& ledger, LedgerAccount& account, Tag tag) noexcept {
    const std::int64_t soft = account.soft.load(std::memory_order_relaxed);
    if (account.reserved.load(std::memory_order_relaxed) <= soft ||
        account.is_over_soft.load(std::memory_order_relaxed) != 0)
        return;
    const std::int64_t live = live_below(ledger, tag);
    if (live <= soft || account.is_over_soft.exchange(1, std::memory_order_relaxed) != 0) return;
    post_event({.kind = ObserveEventKind::soft_budget_passed,
                .tag = tag,
                .bytes = static_cast<std::uint64_t>(live),
                .limit_bytes = static_cast<std::uint64_t>(soft)});
}

// Once told it is silent until whoever watches has looked: one wake a crossing, and only when a worker
// sleeps.
void notice_alarm(Ledger& ledger, LedgerAccount& account, Tag tag) noexcept {
    if (account.alarm_ns.load(std::memory_order_relaxed) != 0) return;
    const std::int64_t alarm = account.alarm.load(std::memory_order_relaxed);
    if (account.reserved.load(std::memory_order_relaxed) < alarm || live_below(ledger, tag) < alarm) return;
    std::uint64_t none = 0;
    if (account.alarm_ns.compare_exchange_strong(none, os::monotonic_ns(), std::memory_order_release))
        ring_alarm();
}

}  // namespace

void hold_accounts_for_fork() noexcept {
    g_opening.lock();
}
void resume_accounts() noexcept {
    g_opening.unlock();
}

// What threads were just asking for or giving back went with them. All that is granted in the cells counts,
// and nothing else.
void repair_accounts_in_child() noexcept {
    g_reserving.store(0, std::memory_order_relaxed);
    ObserveImage* const image = known_image();
    if (image == nullptr) return;
    Ledger& ledger = image->ledger;
    const std::size_t tags = tag_count();
    for (std::size_t id = 0; id < tags; ++id)
        ledger.accounts[id].held.store(0, std::memory_order_relaxed);
    for (std::size_t id = 0; id < tags; ++id) {
        std::int64_t granted = 0;
        visit_shards(ledger, [&](LedgerShard& shard) noexcept { granted += shard.granted(id); });
        if (granted != 0) hold_bytes(ledger, Tag::from_id(static_cast<std::uint16_t>(id)), granted);
    }
    for (std::size_t id = 0; id < tags; ++id) {
        LedgerAccount& account = ledger.accounts[id];
        const std::int64_t held = account.held.load(std::memory_order_relaxed);
        account.reserved.store(held, std::memory_order_relaxed);
        // Nobody has credit now: what is held is in use. Above the peak, it is what threads had not got yet.
        if (held > account.peak.load(std::memory_order_relaxed)) {
            account.peak.store(held, std::memory_order_relaxed);
            account.is_peak_rough.store(1, std::memory_order_relaxed);
        }
        account.climb.store(Climb::none, std::memory_order_relaxed);
        account.is_stuck.store(0, std::memory_order_relaxed);
    }
}

Ledger* open_ledger(Tag tag) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return nullptr;
    Ledger& ledger = image->ledger;
    if (!is_open(ledger, tag)) open_chain(ledger, tag);
    return &ledger;
}

namespace {

// The first account on the way up without room for the bytes.
Reservation look_for_room(Ledger& ledger, Tag tag, std::int64_t bytes, PeakRule rule) noexcept {
    Reservation result;
    visit_chain(ledger, tag, [&](const LedgerAccount& account, Tag at) noexcept {
        const std::int64_t reserved = account.reserved.load(std::memory_order_relaxed);
        result = {.obstacle = obstacle_above(account, reserved, bytes, rule), .limiting = at};
        return result.is_granted();
    });
    return result;
}

Reservation try_reserve_chain(Ledger& ledger, Tag tag, std::int64_t bytes, PeakRule rule) noexcept {
    Reservation result;
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag at) noexcept {
        result = {.obstacle = try_reserve(account, bytes, rule), .limiting = at};
        return result.is_granted();
    });
    if (result.is_granted()) return result;
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag at) noexcept {
        if (at == result.limiting) return false;
        account.reserved.fetch_sub(bytes);
        return true;
    });
    return result;
}

}  // namespace

Reservation reserve_bytes(Ledger& ledger, Tag tag, std::int64_t bytes, PeakRule rule) noexcept {
    // How often to look again while somebody may be about to give back what he cannot have.
    constexpr int kMostLooks = 100;
    for (int looks = 1;; ++looks) {
        Reservation result = look_for_room(ledger, tag, bytes, rule);
        if (result.is_granted()) {
            g_reserving.fetch_add(1);
            result = try_reserve_chain(ledger, tag, bytes, rule);
            g_reserving.fetch_sub(1);
        }
        if (result.obstacle != Obstacle::budget || looks == kMostLooks || g_reserving.load() == 0)
            return result;
        os::yield_thread();
    }
}

void hold_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        account.held.fetch_add(bytes, std::memory_order_relaxed);
        return true;
    });
}

void release_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        account.held.fetch_sub(bytes, std::memory_order_release);
        const std::int64_t left = account.reserved.fetch_sub(bytes) - bytes;
        if (account.is_over_soft.load(std::memory_order_relaxed) != 0 &&
            is_clearly_below(left, account.soft.load(std::memory_order_relaxed)))
            account.is_over_soft.store(0, std::memory_order_relaxed);
        return true;
    });
}

void unreserve_bytes(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        account.reserved.fetch_sub(bytes);
        return true;
    });
}

std::int64_t live_below(Ledger& ledger, Tag tag) noexcept {
    // What is out as credit is not in use.
    return account_of(ledger, tag).held.load(std::memory_order_relaxed) - credit_below(ledger, tag);
}

std::int64_t spare_credit(Ledger& ledger, Tag tag) noexcept {
    constexpr std::int64_t kLeast = std::int64_t{32} << 10;
    constexpr std::int64_t kMost = std::int64_t{256} << 10;
    // The share of what is in use, and of what is left up to a bound, that one thread may hold unused.
    constexpr std::int64_t kShareOfUse = 64;
    constexpr std::int64_t kShareOfRoom = 16;
    if (account_of(ledger, tag).climb.load(std::memory_order_relaxed) != Climb::none) return 0;
    const std::int64_t reserved = account_of(ledger, tag).reserved.load(std::memory_order_relaxed);
    std::int64_t spare = std::clamp(reserved / kShareOfUse, kLeast, kMost);
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        if (account.is_rate_limited.load(std::memory_order_relaxed) != 0 ||
            account.climb.load(std::memory_order_relaxed) != Climb::none)
            spare = 0;
        const std::int64_t now = std::max<std::int64_t>(account.reserved.load(std::memory_order_relaxed), 0);
        const std::int64_t hard = account.hard.load(std::memory_order_relaxed);
        spare = std::min(spare, std::max<std::int64_t>(hard - now, 0) / kShareOfRoom);
        for (const auto* bound : {&account.soft, &account.alarm}) {
            const std::int64_t limit = bound->load(std::memory_order_relaxed);
            // Beyond it, so little that use which falls below it is noticed too.
            spare = std::min(spare, limit >= now ? (limit - now) / kShareOfRoom : limit / kShareOfUse);
        }
        return spare != 0;
    });
    return spare;
}

std::int64_t spare_grant(Ledger& ledger, Tag tag) noexcept {
    std::int64_t spare = spare_credit(ledger, tag);
    if (spare == 0) return 0;
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        const std::int64_t room =
            account.peak.load(std::memory_order_relaxed) - account.reserved.load(std::memory_order_relaxed);
        // Others shall find some.
        spare = std::min(spare, std::max<std::int64_t>(room, 0) / 2);
        return spare != 0;
    });
    return spare;
}

void notice_bounds(Ledger& ledger, Tag tag) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag at) noexcept {
        notice_soft_budget(ledger, account, at);
        notice_alarm(ledger, account, at);
        return true;
    });
}

Status ask_rate_limits(Ledger& ledger, Tag tag, std::size_t bytes) noexcept {
    const bool passes = visit_chain(ledger, tag, [&](LedgerAccount& account, Tag at) noexcept {
        return account.is_rate_limited.load(std::memory_order_acquire) == 0 || rate_gate(at).admit(bytes);
    });
    return passes ? Status::ok : Status::rate_limited;
}

}  // namespace ouro::detail
