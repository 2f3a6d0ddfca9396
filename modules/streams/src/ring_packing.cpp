#include "page_copy.hpp"
#include "ring_core.hpp"

#include <algorithm>
#include <bit>
#include <utility>

// A packed history, on the thread that commits: what is packed next, what came of it, and giving it up.
namespace ouro::detail {
namespace {

// So many results before it is their turn, the places they go to are fetched.
constexpr std::size_t kAhead = 8;
// At least so many slots are left to pack into.
constexpr std::uint32_t kLeastSpare = 16;

}  // namespace

RingCore::~RingCore() {
    OURO_ASSERT(!leases_.has_readers(), "the views of a ring end before it");
    packer_.cancel();
    wait(packer_);
}

bool RingCore::is_kept(std::uint32_t from, std::uint32_t until) const noexcept {
    if (until == 0 || until > log_.oldest()) return true;
    if (!thins() || thinned_.count() == 0) return false;
    // The last kept tick that is not behind the version.
    const std::uint32_t group = std::min((until - 1) / thin_every_, thinned_.newest());
    return group >= thinned_.oldest() && std::uint64_t{group} * thin_every_ >= from;
}

void RingCore::free_word(std::uint32_t word) noexcept {
    if (is_packed(word))
        packed_.release(slots_, word);
    else
        slots_.give(word);
}

void RingCore::settle() noexcept {
    if (!packer_.is_under_way()) return;
    packer_.cancel();
    wait(packer_);
    take_packed();
}

// A tick that can be seen can be gone back to, whatever a worker has prepared: only commits thin out.
void RingCore::settle_to_go_back() noexcept {
    if (!packer_.is_under_way()) return;
    packer_.cancel();
    wait(packer_);
    packer_.leave_group();
    take_packed();
}

// Where room is short although there is much to pack, the oldest go a little earlier, so that packing can go
// on.
void RingCore::make_room_to_pack(std::uint32_t changes) noexcept {
    if (packer_.is_under_way() && !packer_.is_pending()) take_packed();
    // Moving the index about would mislead the packer.
    if (index_.free_blocks() < changes) settle();
    if (thins()) make_room_to_thin();
    if (newest() < std::uint64_t{pack_tick_} + dense_ticks_) return;
    const std::uint64_t wanted = std::uint64_t{changes} + changes / 2 + kLeastSpare;
    while (slots_.free_count() < wanted && log_.count() > dense_ticks_ + 2)
        free_slots();
}

void RingCore::begin_packing() noexcept {
    if (packer_.is_under_way()) return;
    begin_thinned();
    packer_.begin();
    ask_packing();
    ask_thinning();
    // Not beside commits that change versions in place.
    if (packer_.is_asked()) run_packer(fine_ ? nullptr : jobs_);
}

// On the workers, or here and now. Where they have no room for it, it is tried again with the next tick.
void RingCore::run_packer(JobPool* jobs) noexcept {
    const std::uint64_t wanted = packer_.asked_pages() / 2 + kLeastSpare;
    const auto spare = static_cast<std::uint32_t>(
        std::min({wanted, std::uint64_t{slots_.free_count()}, std::uint64_t{packer_.max_spare()}}));
    packer_.give_spare(slots_.take(spare));
    packer_.set_under_way();
    if (jobs != nullptr && post(*jobs, packer_)) return;
    if (jobs == nullptr) packer_.work();
    take_packed();
}

void RingCore::ask_packing() noexcept {
    const std::uint32_t last = newest();
    if (last < dense_ticks_) return;
    const bool is_oldest = !thins() || thinned_.count() == 0;
    const std::uint32_t first = std::max(pack_tick_, log_.oldest() + (is_oldest ? 1 : 0));
    if (first != pack_tick_) pack_page_ = 0;
    pack_tick_ = first;
    std::uint32_t tick = first;
    while (tick <= last - dense_ticks_ &&
           packer_.ask_pack(tick, log_.changes(tick).pages, tick == first ? pack_page_ : 0))
        ++tick;
    packed_before_.store(std::max(packed_before_.load(std::memory_order_relaxed), tick),
                         std::memory_order_seq_cst);
}

void RingCore::take_packed() noexcept {
    const bool has_thinned = packer_.has_thinned() && make_room_for_group();
    packer_.hold_new();
    move_versions(packer_.packed());
    if (has_thinned)
        move_versions(packer_.thinned());
    else
        packer_.discard_thinned();
    if (packer_.packs()) {
        pack_tick_ = packer_.next_tick();
        pack_page_ = packer_.next_page();
    }
    packer_.finish(slots_);
    if (has_thinned) finish_thinning();
}

// First the records are where readers look, then the leases are looked at: whoever still sees the page as it
// was has a lease by then. Such a version stays as it is.
void RingCore::move_versions(std::span<const HistoryPacker::Result> results) noexcept {
    if (results.empty()) return;
    for (std::size_t index = 0; index < results.size(); ++index) {
        if (index + kAhead < results.size()) __builtin_prefetch(results[index + kAhead].place, 1);
        packed_.hold(slots_, results[index].new_word);
        VersionIndex::move(*results[index].place, results[index].new_word);
    }
    const bool is_any_held = leases_.is_any_held();
    if (is_any_held) close_gate();
    for (const HistoryPacker::Result& each : results) {
        const bool stays =
            is_any_held && !is_packed(each.old_word) && is_read(each.page, each.from, each.until);
        if (stays) VersionIndex::move(*each.place, each.old_word);
        free_word(stays ? each.new_word : each.old_word);
    }
    if (is_any_held) open_gate();
}

// No view that is there now ends before the gate is open again, so that pages can be unpacked for it; who
// took one later will find that the tick is gone.
void RingCore::close_gate() noexcept {
    if (gate_depth_++ == 0) gate_.close();
    for (std::uint32_t cell = 0; cell < LeaseTable::kReaderCells; ++cell)
        if ((held_cells_ >> cell & 1) == 0 && leases_.hold(cell)) held_cells_ |= std::uint32_t{1} << cell;
}

void RingCore::open_gate() noexcept {
    if (--gate_depth_ != 0) return;
    gate_.open();
    for (std::uint32_t cells = std::exchange(held_cells_, 0); cells != 0; cells &= cells - 1)
        end_view(static_cast<std::uint32_t>(std::countr_zero(cells)));
}

RingCore::OldestTicks RingCore::oldest_ticks() const noexcept {
    if (thins() && thinned_.count() > 1) {
        const std::uint32_t first = thinned_.oldest();
        return {first * thin_every_, (first + 1) * thin_every_, thinned_.changes(first + 1).pages};
    }
    const bool is_thinned = thins() && thinned_.count() == 1;
    const std::uint32_t next = is_thinned ? log_.oldest() : log_.oldest() + 1;
    OURO_ASSERT(log_.holds(next), "the newest tick is never given up");
    return {is_thinned ? thinned_.oldest() * thin_every_ : log_.oldest(), next, log_.changes(next).pages};
}

void RingCore::give_up_packed() noexcept {
    const bool is_last_group = thins() && thinned_.count() == 1;
    const bool meets_packer =
        packer_.is_under_way() && ((packer_.packs() && packer_.first_tick() <= oldest_ticks().next) ||
                                   (packer_.thins() && is_last_group));
    if (meets_packer) settle();
    const OldestTicks oldest = oldest_ticks();
    oldest_.store(oldest.next, std::memory_order_seq_cst);
    const bool is_any_held = leases_.is_any_held();
    if (is_any_held) close_gate();
    for (const std::uint32_t page : oldest.pages)
        give_up_version(page, index_.locate_old(page, oldest.first), is_any_held);
    if (is_any_held) open_gate();
    if (thins() && thinned_.count() != 0)
        thinned_.drop_oldest();
    else
        log_.drop_oldest();
}

// A version that no kept tick has. Who reads it keeps it: as a page that is pinned, or one that is unpacked
// now.
void RingCore::give_up_version(std::uint32_t page, const VersionIndex::Located& version,
                               bool is_any_held) noexcept {
    if (version.slot == nullptr || version.version.slot == 0) return;
    const std::uint32_t word = version.version.slot;
    if (is_any_held && is_packed(word)) unpack_for_readers(page, version.version, version.until);
    const bool is_pinned =
        is_any_held && !is_packed(word) && is_read(page, version.version.tick, version.until);
    if (!is_pinned) return free_word(word);
    pin({.page = page, .slot = word, .from = version.version.tick, .until = version.until});
}

}  // namespace ouro::detail
