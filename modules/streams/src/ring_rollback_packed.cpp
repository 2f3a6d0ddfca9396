#include "ring_core.hpp"

// Going back in a packed history.
namespace ouro::detail {

void RingCore::go_back_packed(std::uint8_t future, std::uint32_t tick,
                              std::span<const std::uint32_t> pages) noexcept {
    // Whoever reads a tick before this one may be unpacking it with the help of what goes now.
    close_gate();
    // No view ends from here on: every pin that is left is one that somebody reads.
    release_pins();
    restore_packed(tick, pages);
    if (tick + 1 < pack_tick_)
        for (const std::uint32_t page : pages)
            packer_.restart(page);
    if (future != 0)
        move_to_future(future, tick, pages);
    else
        forget_packed(tick, pages);
    drop_pins_behind(tick, future);
    rewind_log(tick);
    unpack_newest(pages);
    open_gate();
}

void RingCore::forget_packed(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept {
    index_.begin_change();
    for (const std::uint32_t page : pages) {
        if (index_.newest_tick(page) <= tick) continue;
        index_.visit_behind(page, tick, [&](Version version, std::uint32_t until) {
            if (is_kept(version.tick, until)) free_word(version.slot);
        });
        cut_off(page, tick);
    }
    index_.end_change();
}

// Of ticks that were thinned out only what is pinned is still there. The leases do not tell: somebody may be
// about to find that the tick is gone.
void RingCore::move_packed(std::uint8_t future, std::uint32_t page, Version version,
                           std::uint32_t until) noexcept {
    const bool is_there = is_kept(version.tick, until);
    if (is_there && futures_.is_kept(future)) return futures_.add(future, page, version);
    if (is_packed(version.slot)) {
        if (!is_there) return;
        unpack_for_readers(page, version, until);
        return free_word(version.slot);
    }
    if (is_there ? is_read(page, version.tick, until == 0 ? UINT32_MAX : until) : is_pinned(page, version))
        futures_.add(future, page, version);
    else if (is_there)
        free_word(version.slot);
}

bool RingCore::is_pinned(std::uint32_t page, Version version) const noexcept {
    return std::ranges::any_of(pins_.first(pin_count_), [&](const Pin& pin) {
        return pin.page == page && pin.from == version.tick && pin.slot == version.slot;
    });
}

// They belong to the future from now on. Without one nobody reads them.
void RingCore::drop_pins_behind(std::uint32_t tick, std::uint8_t future) noexcept {
    std::uint32_t kept = 0;
    for (const Pin& pin : pins_.first(pin_count_)) {
        if (pin.from <= tick)
            pins_[kept++] = pin;
        else if (future == 0)
            slots_.give(pin.slot);
    }
    pin_count_ = kept;
}

void RingCore::rewind_log(std::uint32_t tick) noexcept {
    if (log_.holds(tick)) {
        log_.drop_behind(tick);
    } else {
        // The kept tick of a group is a whole one again.
        const std::uint32_t group = tick / thin_every_;
        const std::span<const std::uint32_t> pages = thinned_.changes(group).pages;
        log_.clear();
        const TickChanges changes = log_.add(static_cast<std::uint32_t>(pages.size()), tick);
        std::ranges::copy(pages, changes.pages.begin());
        log_.hashes(tick) = thinned_hashes_[tick % thinned_hashes_.size()];
        if (group == thinned_.oldest())
            thinned_.clear();
        else
            thinned_.drop_behind(group - 1);
        whole_from_.store(tick, std::memory_order_seq_cst);
    }
    if (pack_tick_ > tick) {
        pack_tick_ = tick + 1;
        pack_page_ = 0;
    }
    if (packed_before_.load(std::memory_order_relaxed) > tick + 1)
        packed_before_.store(tick + 1, std::memory_order_seq_cst);
}

}  // namespace ouro::detail
