// Peaks, to the byte, of sums that threads count in parts. Below a peak that there was, parts may be counted
// apart: whatever they come to, it is no new one. Where it is passed they are counted in one place instead,
// for as long as new heights are reached.
#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"
#include "patience.hpp"

#include <algorithm>

namespace ouro::detail {
namespace {

// Slow work on an account until it rests: about what taking all credit back costs, so that neither wandering
// around a peak nor climbing costs much more than it must.
constexpr std::uint32_t kLeastCallsToRest = 64;
constexpr std::uint32_t kCellsACall = 2;

void raise_to(std::atomic<std::int64_t>& most, std::int64_t candidate) noexcept {
    std::int64_t seen = most.load(std::memory_order_relaxed);
    while (candidate > seen && !most.compare_exchange_weak(seen, candidate)) {
    }
}

// True when the climb is in the caller's hands: it was in one of the two states, and is beginning now. False
// when it is another's to begin or to end.
bool take_climb(LedgerAccount& account, Climb from) noexcept {
    return account.climb.compare_exchange_strong(from, Climb::beginning);
}

void hand_back(Ledger& ledger, LedgerAccount& account, Revocation revocation) noexcept {
    account.calm_calls.store(0, std::memory_order_relaxed);
    account.calls_to_rest.store(kLeastCallsToRest + revocation.cells / kCellsACall,
                                std::memory_order_relaxed);
    if (!revocation.is_complete) account.is_peak_rough.store(1, std::memory_order_relaxed);
    account.is_stuck.store(0, std::memory_order_relaxed);
    account.climbed_at.store(ledger.climbs.fetch_add(1) + 1);
    account.climb.store(Climb::on);
}

// It is over when nothing is reserved above the peak: then credit is below it again.
void end_climb(LedgerAccount& account) noexcept {
    Climb on = Climb::on;
    if (!account.climb.compare_exchange_strong(on, Climb::ending)) return;
    const bool is_over = account.reserved.load() <= account.peak.load();
    account.is_stuck.store(0, std::memory_order_relaxed);
    account.climb.store(is_over ? Climb::none : Climb::on);
}

// True when the climb is on. Waits for who begins or ends it.
bool wait_for_climb(LedgerAccount& account, Patience& patience) noexcept {
    if (account.climb.load() == Climb::on) return true;
    if (account.is_stuck.load(std::memory_order_relaxed) != 0) return false;
    if (!patience.wait()) account.is_stuck.store(1, std::memory_order_relaxed);
    return false;
}

}  // namespace

bool begin_climb(Ledger& ledger, Tag tag) noexcept {
    LedgerAccount& account = account_of(ledger, tag);
    for (Patience patience;;) {
        if (take_climb(account, Climb::none)) {
            hand_back(ledger, account, end_credit(ledger, tag));
            return true;
        }
        if (wait_for_climb(account, patience)) return true;
        if (account.is_stuck.load(std::memory_order_relaxed) != 0) return false;
    }
}

std::int64_t calls_to_rest(const LedgerAccount& account) noexcept {
    return std::max(account.calls_to_rest.load(std::memory_order_relaxed), kLeastCallsToRest);
}

void hold_at_peaks(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        const std::int64_t held = account.held.fetch_add(bytes) + bytes;
        if (held <= account.peak.load()) return true;
        raise_to(account.peak, held);
        account.calm_calls.store(0, std::memory_order_relaxed);
        return true;
    });
}

void note_rough_peaks(Ledger& ledger, Tag tag, std::int64_t bytes) noexcept {
    visit_chain(ledger, tag, [&](LedgerAccount& account, Tag) noexcept {
        if (account.reserved.load() + bytes > account.peak.load())
            account.is_peak_rough.store(1, std::memory_order_relaxed);
        return true;
    });
}

void note_rough_climbs(Ledger& ledger, Tag tag) noexcept {
    visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        if (account.climb.load() != Climb::none) account.is_peak_rough.store(1, std::memory_order_relaxed);
        return true;
    });
}

void note_rough_since(Ledger& ledger, Tag tag, std::int64_t mark) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    visit_chain(ledger, tag, [mark](LedgerAccount& account, Tag) noexcept {
        if (is_since(mark, account.climbed_at.load()))
            account.is_peak_rough.store(1, std::memory_order_relaxed);
        return true;
    });
}

void rest_after_climb(Ledger& ledger, Tag tag) noexcept {
    visit_chain(ledger, tag, [](LedgerAccount& account, Tag) noexcept {
        if (account.climb.load(std::memory_order_relaxed) == Climb::on &&
            account.calm_calls.fetch_add(1, std::memory_order_relaxed) >= calls_to_rest(account))
            end_climb(account);
        return true;
    });
}

void forget_peaks(Ledger& ledger) noexcept {
    const std::size_t tags = tag_count();
    const auto visit_open = [&](auto&& visit) noexcept {
        for (std::size_t id = 0; id < tags; ++id) {
            LedgerAccount& account = ledger.accounts[id];
            if (account.is_open.load(std::memory_order_acquire) != 0) visit(account);
        }
    };
    std::array<bool, kMaxTags> is_taken{};
    Patience patience;
    visit_open([&](LedgerAccount& account) noexcept {
        bool& taken = is_taken[static_cast<std::size_t>(&account - ledger.accounts.data())];
        do {
            taken = take_climb(account, Climb::none) || take_climb(account, Climb::on);
        } while (!taken && patience.wait());
    });
    const Revocation revocation = end_credit(ledger, {});
    visit_open([&](LedgerAccount& account) noexcept {
        const std::size_t id = static_cast<std::size_t>(&account - ledger.accounts.data());
        if (!is_taken[id]) return;
        account.is_peak_rough.store(0, std::memory_order_relaxed);
        account.peak.store(account.held.load());
        // What was confirmed in between, below the old peak.
        raise_to(account.peak, account.held.load());
        hand_back(ledger, account, revocation);
    });
}

}  // namespace ouro::detail
