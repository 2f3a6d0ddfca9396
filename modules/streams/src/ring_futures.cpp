#include "ring_core.hpp"
#include "ring_pause.hpp"

#include <ouro/os/give_way.hpp>

// What was left behind by going back and is kept or still read.
namespace ouro::detail {

// There is a number for it: see LeaseTable::kMaxFutures. Only those count for a moment, too, whose last
// readers are about to find that they are gone.
std::uint8_t RingCore::begin_future(std::uint32_t fork_tick, std::uint32_t last_tick, bool keeps) noexcept {
    const std::uint32_t pages = touched_pages_.load(std::memory_order_relaxed);
    for (os::GiveWay way;; way.once()) {
        if (futures_.is_full()) join_futures();
        const std::uint8_t future = futures_.begin(fork_tick, last_tick, pages, keeps);
        if (future != 0) return future;
        drop_futures();
    }
}

// One that nobody is in, and that is there only because another began from it, becomes a part of that. What
// is left are futures that are kept or read, and those from which two or more began.
void RingCore::join_futures() noexcept {
    if (futures_.room() < index_.page_count()) (void)trim_futures();
    for (std::uint32_t number = 1; number <= FutureStore::kMaxFutures; ++number) {
        const auto future = static_cast<std::uint8_t>(number);
        if (!futures_.exists(future) || futures_.is_kept(future) || futures_.has_packed(future)) continue;
        const std::uint8_t child = only_child_of(future);
        if (child == 0) continue;
        index_.begin_change();
        futures_.join(future, child, leases_.lease(LeaseTable::cell_of(child)).tick,
                      [this](std::uint32_t word) { free_word(word); });
        leases_.hand_over(future, child);
        index_.end_change();
        pause_ring(RingPause::futures_joined);
    }
}

// A reader's share of the quota is another's as soon as it ends, while what was there for it stays in the
// future as long as that does: with what is left there, the quota would be exceeded. Those that were kept
// have a share of their own, and have it until they go.
bool RingCore::trim_futures() noexcept {
    const std::uint32_t ends = leases_.future_ends();
    if (futures_.count() == 0 || ends == trimmed_at_) return false;
    trimmed_at_ = ends;
    const std::uint32_t free_before = slots_.free_count();
    index_.begin_change();
    for (std::uint32_t number = 1; number <= FutureStore::kMaxFutures; ++number) {
        const auto future = static_cast<std::uint8_t>(number);
        if (!futures_.exists(future) || futures_.is_kept(future) || futures_.has_packed(future)) continue;
        futures_.trim(
            future,
            [&](std::uint32_t page, std::uint32_t from, std::uint32_t until) {
                return is_read(page, from, until, future);
            },
            [this](std::uint32_t word) { free_word(word); });
    }
    index_.end_change();
    return slots_.free_count() != free_before;
}

void RingCore::free_slots() noexcept {
    if (!trim_futures()) give_up_oldest();
}

// Zero when it has readers, or none or several others began from it.
std::uint8_t RingCore::only_child_of(std::uint8_t future) const noexcept {
    std::uint8_t child = 0;
    const bool has_others = leases_.any_of(future, [&](LeaseTable::Lease, std::uint8_t holder) {
        if (holder == 0 || child != 0) return true;
        child = holder;
        return false;
    });
    return has_others ? std::uint8_t{0} : child;
}

Status RingCore::drop(KeptFuture handle) noexcept {
    const auto future = futures_.future_of(handle);
    if (!future) return future.status();
    // First nobody can find it any more; those who did stay until they are done.
    futures_.make_stale(*future);
    futures_.set_kept(*future, false);
    drop_futures();
    return Status::ok;
}

// Ends the futures that nobody keeps or reads, and then those that only these began from.
void RingCore::drop_futures() noexcept {
    bool has_dropped = true;
    while (has_dropped) {
        has_dropped = false;
        for (std::uint32_t number = 1; number <= FutureStore::kMaxFutures; ++number) {
            const auto future = static_cast<std::uint8_t>(number);
            if (!futures_.exists(future) || futures_.is_kept(future) || leases_.reads_future(future))
                continue;
            index_.begin_change();
            futures_.drop(future, [this](std::uint32_t word) { free_word(word); });
            index_.end_change();
            leases_.end(LeaseTable::cell_of(future));
            has_dropped = true;
        }
    }
}

}  // namespace ouro::detail
