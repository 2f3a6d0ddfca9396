#include "ledger_accounts.hpp"
#include "pressure_locks.hpp"

#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/observe/detail/pressure_levels.hpp>
#include <ouro/observe/detail/pressure_watch.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/futex.hpp>

#include <algorithm>

namespace ouro::detail {

constinit WordLock g_pressure_log_lock;

namespace {

// Guards the list and the alarms of accounts.
constinit WordLock g_watching;
constinit PressureWatch* g_watches = nullptr;
constinit std::atomic<bool> g_knows_forks = false;

constinit std::atomic<std::uint32_t> g_alarms = 0;
constinit std::atomic<std::uint32_t> g_sleepers = 0;

void lock_for_fork(void*) noexcept {
    g_watching.lock();
    g_pressure_log_lock.lock();
}

void unlock_after_fork(void*) noexcept {
    g_pressure_log_lock.unlock();
    g_watching.unlock();
}

void forget_sleepers_in_child(void*) noexcept {
    g_sleepers.store(0);
    unlock_after_fork(nullptr);
}

// Requires: g_watching is held. Returns how many watch the tag.
template <class Visit>
unsigned visit_watches(Tag tag, Visit&& visit) noexcept {
    unsigned count = 0;
    for (PressureWatch* watch = g_watches; watch != nullptr; watch = watch->next) {
        if (watch->tag != tag) continue;
        visit(*watch);
        ++count;
    }
    return count;
}

// The lowest of those who watch the tag. Requires: g_watching is held.
void store_alarm(Ledger& ledger, Tag tag) noexcept {
    std::int64_t lowest = kUnbounded;
    visit_watches(tag, [&](PressureWatch& watch) noexcept { lowest = std::min(lowest, watch.alarm); });
    account_of(ledger, tag).alarm.store(lowest, std::memory_order_relaxed);
}

std::int64_t bytes_at(const LedgerAccount& account, std::uint32_t percent) noexcept {
    const std::int64_t hard = account.hard.load(std::memory_order_relaxed);
    if (percent == kNoAlarm || hard == kUnbounded) return kUnbounded;
    const auto bytes = static_cast<std::int64_t>(percent_of(static_cast<std::uint64_t>(hard), percent));
    return std::max<std::int64_t>(bytes, 1);
}

}  // namespace

void add_watch(PressureWatch& watch) noexcept {
    if (!g_knows_forks.load(std::memory_order_acquire)) {
        static_cast<void>(os::add_fork_hooks(
            {.prepare = lock_for_fork, .parent = unlock_after_fork, .child = forget_sleepers_in_child}));
        g_knows_forks.store(true, std::memory_order_release);
    }
    const WordLockScope scope(g_watching);
    watch.next = g_watches;
    g_watches = &watch;
}

void remove_watch(PressureWatch& watch) noexcept {
    const WordLockScope scope(g_watching);
    PressureWatch** link = &g_watches;
    while (*link != &watch)
        link = &(*link)->next;
    *link = watch.next;
    if (Ledger* const ledger = open_ledger(watch.tag)) store_alarm(*ledger, watch.tag);
}

void set_alarm(PressureWatch& watch, Tag tag, std::uint32_t percent) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    {
        const WordLockScope scope(g_watching);
        const Tag before = watch.tag;
        watch.tag = tag;
        // Read under the lock: a budget that changes later renews the alarm that is set here.
        watch.alarm = bytes_at(account_of(*ledger, tag), percent);
        store_alarm(*ledger, tag);
        if (before != tag) store_alarm(*ledger, before);
    }
    notice_bounds(*ledger, tag);
}

bool has_crossing(const PressureWatch& watch) noexcept {
    if (watch.crossed_ns.load(std::memory_order_relaxed) != 0) return true;
    Ledger* const ledger = open_ledger(watch.tag);
    return ledger != nullptr && account_of(*ledger, watch.tag).alarm_ns.load(std::memory_order_acquire) != 0;
}

std::uint64_t take_crossing(PressureWatch& watch) noexcept {
    if (!has_crossing(watch)) return 0;
    const WordLockScope scope(g_watching);
    if (Ledger* const ledger = open_ledger(watch.tag)) {
        const std::uint64_t crossed_ns = account_of(*ledger, watch.tag).alarm_ns.exchange(0);
        // It is for all who watch the tag.
        visit_watches(watch.tag, [&](PressureWatch& other) noexcept {
            if (other.crossed_ns.load(std::memory_order_relaxed) == 0)
                other.crossed_ns.store(crossed_ns, std::memory_order_relaxed);
        });
    }
    return watch.crossed_ns.exchange(0, std::memory_order_relaxed);
}

void renew_alarms(Tag tag) noexcept {
    Ledger* const ledger = open_ledger(tag);
    if (ledger == nullptr) return;
    const WordLockScope scope(g_watching);
    // Reached by whatever is in use.
    if (visit_watches(tag, [](PressureWatch&) noexcept {}) != 0)
        account_of(*ledger, tag).alarm.store(0, std::memory_order_relaxed);
}

void ring_alarm() noexcept {
    g_alarms.fetch_add(1);
    if (g_sleepers.load() != 0) os::wake_all(g_alarms);
}

std::uint32_t alarm_count() noexcept {
    return g_alarms.load();
}

// Counted before the word is looked at again: whoever changes it later sees that there is somebody to wake.
void sleep_until_alarm(std::uint32_t seen, std::uint64_t timeout_ns) noexcept {
    g_sleepers.fetch_add(1);
    os::wait_on(g_alarms, seen, timeout_ns);
    g_sleepers.fetch_sub(1);
}

}  // namespace ouro::detail
