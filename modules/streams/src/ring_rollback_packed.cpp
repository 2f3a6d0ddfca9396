#include "ring_core.hpp"
#include "version_reader.hpp"

#include <array>

// Going back in a packed history.
namespace ouro::detail {

void RingCore::go_back_packed(std::uint8_t future, std::uint32_t tick,
                              std::span<const std::uint32_t> pages) noexcept {
    // Whoever reads a tick before this one may be unpacking it with the help of what goes now.
    close_gate();
    // No view ends from here on: every pin that is left is one that somebody reads.
    release_pins();
    unpack_at_tick(tick, pages, future == 0);
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

// Into the image, through the second mapping, before what it was packed against is gone. Or in place: a newer
// version that nobody will need becomes this one.
void RingCore::unpack_at_tick(std::uint32_t tick, std::span<const std::uint32_t> pages,
                              bool in_place) noexcept {
    share_out(pages.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; ++at) {
            const std::uint32_t page = pages[at];
            const std::uint32_t word = index_.find(page, tick).slot;
            unwound_[at] = in_place ? unwind(page, word) : 0;
            if (is_packed(word) && unwound_[at] == 0)
                read_packed(page, word, image_.alias().data + (std::size_t{page} << kStatePageShift));
        }
    });
}

// The slot that holds the version now; zero when it was not packed, or against nothing, or somebody looks at
// the slot.
std::uint32_t RingCore::unwind(std::uint32_t page, std::uint32_t word) noexcept {
    std::array<std::uint32_t, kMaxSteps> steps;
    std::size_t count = 0;
    while (is_packed(word)) {
        const std::uint32_t base = PackedStore::record(slots_, word).base_tick;
        if (base == PackedRecord::kNoBase) return 0;
        OURO_ASSERT(count < steps.size(), "a chain of packed versions has an end");
        steps[count++] = word;
        word = index_.find(page, base).slot;
    }
    if (count == 0 || readers_.looked_at().has(word)) return 0;
    while (count != 0) {
        PackedRecord record;
        const bool is_sound = apply_record(slots_, packed_, steps[--count], slots_.page(word), record);
        OURO_ASSERT(is_sound, "a packed version of a page is damaged");
    }
    return word;
}

void RingCore::forget_packed(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept {
    index_.begin_change();
    for (std::size_t at = 0; at < pages.size(); ++at) {
        const std::uint32_t page = pages[at];
        if (index_.newest_tick(page) <= tick) continue;
        const std::uint32_t unwound = unwound_[at];
        index_.visit_behind(page, tick, [&](Version version, std::uint32_t until) {
            if (is_kept(version.tick, until) && version.slot != unwound) free_word(version.slot);
        });
        cut_off(page, tick);
        if (unwound == 0) continue;
        const std::uint32_t word = index_.newest_slot(page);
        slots_.set_hash(unwound, PackedStore::record(slots_, word).hash);
        index_.move_newest(page, unwound);
        packed_.release(slots_, word);
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
    return std::ranges::any_of(pins_.first(pin_count_), [&](const PinnedVersion& pin) {
        return pin.page == page && pin.from == version.tick && pin.slot == version.slot;
    });
}

// They belong to the future from now on, or nobody reads them: there is none, or the index had no version
// for them any more, and who has a lease on it is about to find that the tick is gone.
void RingCore::drop_pins_behind(std::uint32_t tick, std::uint8_t future) noexcept {
    std::uint32_t kept = 0;
    for (const PinnedVersion& pin : pins_.first(pin_count_)) {
        if (pin.from <= tick)
            pins_[kept++] = pin;
        else if (future == 0 || futures_.find(future, pin.page, pin.from) != pin.slot)
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
