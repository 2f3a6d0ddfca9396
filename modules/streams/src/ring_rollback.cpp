#include "page_copy.hpp"
#include "ring_core.hpp"
#include "ring_pause.hpp"

#include <algorithm>
#include <array>

namespace ouro::detail {
namespace {

// So many pages are taken out of the index before they are restored.
constexpr std::size_t kPiecePages = 64;
// With so many futures it is looked for those that can become one.
constexpr std::uint32_t kJoinedFrom = 4;

}  // namespace

Status RingCore::rollback(Tick tick) noexcept {
    if (packs_) settle_to_go_back();
    if (const Status status = status_of(tick); status != Status::ok) return status;
    (void)go_back(static_cast<std::uint32_t>(tick), false, 0);
    return Status::ok;
}

// Kept versions are all there is to what changed, and, where the future did not change a page, the one that
// it had at the fork.
Expected<KeptFuture> RingCore::branch(Tick tick) noexcept {
    if (packs_) settle_to_go_back();
    if (const Status status = status_of(tick); status != Status::ok) return status;
    if (tick == newest()) return Status::out_of_range;
    const auto target = static_cast<std::uint32_t>(tick);
    // Before anything is seen of it.
    if (futures_.count() != 0) drop_futures();
    if (futures_.kept_count() >= LeaseTable::kMaxKept) return Status::capacity_exhausted;
    const std::uint64_t pages = changes_since(target) + touched_pages_.load(std::memory_order_relaxed);
    if (pages > UINT32_MAX || !leases_.reserve(static_cast<std::uint32_t>(pages)))
        return Status::budget_exceeded;
    return futures_.handle(go_back(target, true, static_cast<std::uint32_t>(pages)));
}

std::uint64_t RingCore::changes_since(std::uint32_t tick) const noexcept {
    std::uint64_t changes = 0;
    visit_since(tick, [&](std::span<const std::uint32_t> pages) { changes += pages.size(); });
    return changes;
}

// The number of the future that what is left behind became, or zero. The future has its lease before the
// index leads anybody there: its readers have from the fork what the future did not change.
std::uint8_t RingCore::go_back(std::uint32_t tick, bool keeps, std::uint32_t reserved_pages) noexcept {
    collect();
    const std::uint32_t last = newest();
    if (futures_.count() != 0) drop_futures();
    if (futures_.count() >= kJoinedFrom) join_futures();
    timeline_.go_back(tick);
    pause_ring(RingPause::ticks_gone);
    std::uint8_t future = 0;
    if (keeps || (leases_.is_any_held() && leases_.newest_or(tick) > tick)) {
        if (futures_.room() < changes_since(tick)) (void)trim_futures();
        future = begin_future(tick, last, keeps);
        if (thins()) futures_.set_thinned(future, whole_from_.load(std::memory_order_relaxed), thin_every_);
        leases_.take_for(future, tick, reserved_pages);
    }
    pause_ring(RingPause::future_begun);
    const std::span<const std::uint32_t> pages = scratch_.first(list_changed_since(tick));
    if (packs_)
        go_back_packed(future, tick, pages);
    else if (future != 0)
        move_to_future(future, tick, pages);
    else
        forget_since(tick, pages);
    pause_ring(RingPause::index_changed);
    if (packs_ || future != 0) restore(pages);
    forget_verified(pages);
    ++stats_.rollbacks;
    stats_.pages_restored += pages.size();
    return future;
}

// What was wrong in them is gone, and told when it comes again.
void RingCore::forget_verified(std::span<const std::uint32_t> pages) noexcept {
    if (verified_pages_.empty()) return;
    for (const std::uint32_t page : pages)
        verified_pages_[page] = 0;
}

// Every page that was captured after the tick, or written since the last.
std::uint32_t RingCore::list_changed_since(std::uint32_t tick) noexcept {
    if (changes_since(tick) > index_.page_count()) {
        for (std::uint32_t page = 0; page < index_.page_count(); ++page)
            if (index_.newest_tick(page) > tick) marks_.list_page(page);
    } else {
        visit_since(tick, [&](std::span<const std::uint32_t> pages) {
            for (const std::uint32_t page : pages)
                marks_.list_page(page);
        });
    }
    const std::uint32_t count = marks_.drain(scratch_.data());
    if (fine_) forget_lines(scratch_.first(count));
    return count;
}

// Restores too. Piece by piece, so that the index is fetched while pages are copied, and readers never wait
// for more than a piece of it.
void RingCore::forget_since(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept {
    const bool is_shared = is_shared_out(pages.size());
    const std::size_t piece = is_shared ? pages.size() : kPiecePages;
    for (std::size_t begin = 0; begin < pages.size(); begin += piece) {
        const auto own = pages.subspan(begin, std::min(piece, pages.size() - begin));
        forget_some(tick, own);
        if (!is_shared) restore_some(own, pages.subspan(begin + own.size()));
    }
    if (is_shared) restore(pages);
    for (std::uint32_t each = tick + 1; each <= log_.newest(); ++each)
        slots_.give_all(log_.changes(each).slots);
    log_.drop_behind(tick);
}

void RingCore::forget_some(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept {
    std::array<std::uint32_t, kPiecePages> blocks;
    index_.begin_change();
    for (std::size_t begin = 0; begin < pages.size(); begin += blocks.size()) {
        const auto own = pages.subspan(begin, std::min(blocks.size(), pages.size() - begin));
        for (const std::uint32_t page : own)
            index_.prefetch_block(page);
        index_.find_blocks(own, tick, blocks);
        for (std::size_t at = 0; at < own.size(); ++at) {
            if (index_.newest_tick(own[at]) <= tick) continue;
            index_.truncate_at(own[at], tick, blocks[at]);
            note_cut(own[at]);
        }
    }
    index_.end_change();
}

void RingCore::move_to_future(std::uint8_t future, std::uint32_t tick,
                              std::span<const std::uint32_t> pages) noexcept {
    index_.begin_change();
    for (const std::uint32_t page : pages)
        if (index_.newest_tick(page) > tick) move_page(future, tick, page);
    leases_.move_behind(tick, future);
    index_.end_change();
    if (!packs_) log_.drop_behind(tick);
}

// A future that nobody asked for keeps only what its readers need.
void RingCore::move_page(std::uint8_t future, std::uint32_t tick, std::uint32_t page) noexcept {
    const bool keeps_all = futures_.is_kept(future);
    index_.visit_behind(page, tick, [&](Version version, std::uint32_t until) {
        if (packs_)
            move_packed(future, page, version, until);
        else if (keeps_all || is_read(page, version.tick, until == 0 ? UINT32_MAX : until))
            futures_.add(future, page, version);
        else
            slots_.give(version.slot);
    });
    cut_off(page, tick);
}

void RingCore::cut_off(std::uint32_t page, std::uint32_t tick) noexcept {
    index_.truncate(page, tick);
    note_cut(page);
}

void RingCore::note_cut(std::uint32_t page) noexcept {
    if (index_.newest_slot(page) == 0) touched_pages_.fetch_sub(1, std::memory_order_relaxed);
}

void RingCore::restore(std::span<const std::uint32_t> pages) noexcept {
    share_out(pages.size(), [&](std::size_t begin, std::size_t end) {
        restore_some(pages.subspan(begin, end - begin), {});
    });
}

// Through the second mapping: no tracker notices. Fetches what the index knows of those that come next.
void RingCore::restore_some(std::span<const std::uint32_t> pages,
                            std::span<const std::uint32_t> next) noexcept {
    for (std::size_t at = 0; at < pages.size(); ++at) {
        if (at < next.size()) index_.prefetch_block(next[at]);
        if (at + pages.size() < next.size()) index_.prefetch_page(next[at + pages.size()]);
        if (at + 1 < pages.size()) prefetch_version(index_.newest_slot(pages[at + 1]));
        std::byte* to = image_.alias().data + (std::size_t{pages[at]} << kStatePageShift);
        const std::uint32_t slot = index_.newest_slot(pages[at]);
        if (slot == 0)
            clear_page(to);
        else
            restore_page(to, slots_.page(slot));
    }
}

void RingCore::prefetch_version(std::uint32_t slot) const noexcept {
    if (slot != 0) prefetch_begin(slots_.page(slot));
}

}  // namespace ouro::detail
