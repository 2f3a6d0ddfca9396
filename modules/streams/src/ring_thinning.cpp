#include "ring_core.hpp"

#include <algorithm>

// Old history of which only every n-th tick is kept.
namespace ouro::detail {

// The last tick of the oldest group that is not thinned out yet.
std::uint32_t RingCore::next_group_end() const noexcept {
    return (log_.oldest() + thin_every_ - 1) / thin_every_ * thin_every_;
}

// The thinned-out history begins with a tick that is kept; those before it go.
void RingCore::begin_thinned() noexcept {
    if (!thins() || thinned_.count() != 0) return;
    const std::uint32_t first = next_group_end();
    if (std::uint64_t{first} + whole_ticks_ >= newest()) return;
    while (log_.oldest() < first)
        give_up_oldest();
    thinned_.add(0, first / thin_every_);
    note_hashes(first, first);
    log_.drop_oldest();
    whole_from_.store(first + 1, std::memory_order_seq_cst);
}

void RingCore::ask_thinning() noexcept {
    if (!thins() || thinned_.count() == 0) return;
    const std::uint32_t last = next_group_end();
    // Only what is packed, and what is not kept whole any more.
    if (std::uint64_t{last} + whole_ticks_ >= newest() || last >= pack_tick_) return;
    packer_.ask_thin(thinned_.newest() * thin_every_, last);
    for (std::uint32_t tick = log_.oldest(); tick <= last; ++tick)
        packer_.ask_thin_tick({.tick = tick, .pages = log_.changes(tick).pages});
}

// The ticks that are kept whole have room again when the oldest group is thinned out: now, if the worker has
// not come to it.
void RingCore::make_room_to_thin() noexcept {
    const auto is_full = [this] { return log_.count() == log_.capacity(); };
    if (is_full() && packer_.is_under_way()) {
        wait(packer_);
        take_packed();
    }
    while (is_full()) {
        begin_thinned();
        packer_.begin();
        ask_thinning();
        if (packer_.is_asked()) run_packer(nullptr);
        if (is_full() && !packer_.has_thinned()) give_up_oldest();
    }
}

void RingCore::note_hashes(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t tick = first; tick <= last; ++tick)
        thinned_hashes_[tick % thinned_hashes_.size()] = log_.hashes(tick);
}

// What is packed so far is not given up with it.
bool RingCore::make_room_for_group() noexcept {
    const auto count = static_cast<std::uint32_t>(packer_.group_pages().size());
    while (thinned_.count() > 1 && !thinned_.has_room(count))
        give_up_oldest();
    return thinned_.has_room(count);
}

// Nobody begins to read what goes from the moment that it is said to be thinned out.
void RingCore::finish_thinning() noexcept {
    const std::uint32_t last = packer_.thinned_to();
    const std::span<const std::uint32_t> pages = packer_.group_pages();
    const auto count = static_cast<std::uint32_t>(pages.size());
    whole_from_.store(last + 1, std::memory_order_seq_cst);
    const bool is_any_held = leases_.is_any_held();
    const std::uint32_t kept = thinned_.newest() * thin_every_;
    const std::uint32_t first = log_.oldest();
    note_hashes(first, last);
    if (is_any_held) close_gate();
    for (const std::uint32_t page : pages)
        thin_out(page, kept, last, is_any_held);
    if (is_any_held) open_gate();
    std::ranges::copy(pages, thinned_.add(count).pages.begin());
    for (std::uint32_t tick = first; tick <= last; ++tick)
        log_.drop_oldest();
    index_.begin_change();
    for (const std::uint32_t page : pages)
        index_.compact_page(page, [this](std::uint32_t each, std::uint32_t from, std::uint32_t until) {
            return is_kept(from, until) || is_read(each, from, until);
        });
    index_.end_change();
}

// Between the two kept ticks; the oldest first, for each is packed against a newer one.
void RingCore::thin_out(std::uint32_t page, std::uint32_t kept, std::uint32_t last,
                        bool is_any_held) noexcept {
    VersionIndex::Located version = index_.locate_old(page, kept);
    std::uint32_t tick = version.slot == nullptr ? index_.first_tick(page) : version.until;
    while (tick != 0 && tick <= last) {
        version = index_.locate_old(page, tick);
        if (version.until == 0 || version.until > last) return;
        // What was thinned out before and is still read may be there too.
        if (is_kept(version.version.tick, version.until)) give_up_version(page, version, is_any_held);
        tick = version.until;
    }
}

Expected<Tick> RingCore::nearest(Tick tick) const noexcept {
    const Status status = status_of(tick);
    if (status == Status::tick_thinned) return tick - tick % thin_every_;
    if (status != Status::ok) return status;
    return tick;
}

// Each tick on the way is simulated again, and must be what it was.
Status RingCore::restore(StateRing& ring, Tick tick, StepFunction step, void* function) noexcept {
    const auto kept = nearest(tick);
    if (!kept) return kept.status();
    if (const Status status = rollback(*kept); status != Status::ok) return status;
    follow_back(static_cast<std::uint32_t>(*kept));
    for (Tick each = *kept + 1; each <= tick; ++each) {
        const TickHashes before = thinned_hashes_[each % thinned_hashes_.size()];
        step(function, each);
        // Else another tick would be compared, or none.
        if (newest() + 1 != each) return Status::bad_argument;
        if (const auto done = ring.commit(); !done) return done.status();
        const TickHashes& after = log_.hashes(static_cast<std::uint32_t>(each));
        const bool is_same = before.portable == after.portable && before.process_bound == after.process_bound;
        if (hashes_ && !is_same) return Status::diverged;
    }
    return Status::ok;
}

}  // namespace ouro::detail
