#include "ring_core.hpp"

#include "page_copy.hpp"
#include "refuse.hpp"
#include "ring_pause.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/give_way.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>

namespace ouro::detail {
namespace {

// All zeros: what a page holds that was never written.
alignas(64) constexpr std::array<std::byte, kStatePageBytes> kZeroPage{};

// So many versions for each slot have room in the index of a packed history.
constexpr std::uint64_t kVersionsPerSlot = 8;
// One in so many is a whole page where lines are kept: see kChainLength.
constexpr std::uint64_t kFineVersionsPerSlot = 16;
// Slots that are in use for a few records: at the ends of the packed history, and of kept futures.
constexpr std::uint64_t kPartlyUsed = 2 * (LeaseTable::kMaxKept + 2);
// Those, and the ones that nobody gets while a reader looks at them.
constexpr std::uint64_t kSetApart = kPartlyUsed + SlotReaders::kMost;
// Readers of one tick may unpack one page at the same time, of which one is kept; so may the thread that
// commits.
constexpr std::uint32_t kUnpackedAtOnce = SlotReaders::kMost + 1;

}  // namespace

void RingCore::carve(Carver& carver, const RingSizes& sizes) noexcept {
    const std::uint32_t groups = DirtyMap::group_count(sizes.pages);
    page_marks_ = carver.take<DirtyMap::Byte>(std::uint64_t{groups} << DirtyMap::kGroupShift);
    group_marks_ = carver.take<DirtyMap::Byte>(align_up(groups, 8));
    kinds_ = carver.take<std::uint8_t>(sizes.pages);
    scratch_ = carver.take<std::uint32_t>(sizes.pages);
    later_ = carver.take<std::uint32_t>(sizes.pages);
    pins_ = carver.take<PinnedVersion>(sizes.pinned);
    if (sizes.fine) {
        constexpr std::uint64_t kPageLines = kStatePageBytes / kStateLineBytes;
        line_marks_ = carver.take<DirtyMap::Byte>(sizes.pages * kPageLines, kStateLineBytes);
        line_runs_ = carver.take<std::uint8_t>(sizes.pages);
        lines_ = carver.take<std::uint64_t>(sizes.pages);
        line_slots_ = carver.take<std::uint32_t>(sizes.pages);
        whole_pages_ = carver.take<std::uint32_t>(sizes.pages);
    }
    if (sizes.verifies) verified_pages_ = carver.take<std::uint64_t>(sizes.pages);
    finder_.carve(carver, sizes.pages);
    futures_.carve(carver, sizes.slots);
    log_.carve(carver, sizes.ticks, sizes.pages, sizes.versions, !sizes.packs);
    // Whole and thinned-out ticks have their versions at once, and readers theirs of ticks that are gone.
    const bool thins = sizes.thinned_groups != 0;
    const std::uint64_t thinned_versions = thins ? sizes.versions / 2 : 0;
    index_.carve(carver, sizes.pages, sizes.versions + thinned_versions + sizes.unpacked);
    if (sizes.packs) {
        packed_.carve(carver, sizes.slots);
        unwound_ = carver.take<std::uint32_t>(sizes.pages);
        packer_.carve(carver, sizes.pages, thins);
        unpacked_.carve(carver, sizes.unpacked + kUnpackedAtOnce);
        if (thins) thinned_.carve(carver, sizes.thinned_groups, sizes.pages, thinned_versions, false);
        thinned_hashes_ = carver.take<TickHashes>(sizes.thinned_ticks);
    }
    seen_ = carver.take<std::uint8_t>(std::uint64_t{sizes.slots} + 1);
    slots_.carve(carver, sizes.slots);
}

// What does not depend on the bound.
Expected<RingSizes> RingCore::begin_sizes(const StateRingOptions& options, std::uint32_t pages,
                                          RingRefusal& why) noexcept {
    const bool thins = options.thinned_ticks != 0;
    const bool can_thin =
        options.packing && options.thin_every > 1 && options.thin_every <= HistoryPacker::kMaxGroup;
    if (thins && !can_thin)
        return refuse(why, Status::bad_argument, RingFault::thinning, {}, options.thin_every,
                      HistoryPacker::kMaxGroup);
    const bool fine = std::ranges::any_of(options.segments, &SegmentOptions::fine);
    const bool packs = options.packing || fine;
    const std::uint64_t asked_ticks =
        std::uint64_t{options.history_ticks} + options.thinned_ticks + (packs ? options.dense_ticks : 0);
    if (options.history_ticks == 0 || asked_ticks > UINT32_MAX / 4)
        return refuse(why, Status::bad_argument, RingFault::history_ticks, {}, asked_ticks, UINT32_MAX / 4);
    RingSizes sizes{.pages = pages,
                    .ticks = options.history_ticks + 1,
                    .fine = fine,
                    .packs = packs,
                    .verifies = options.verifier != nullptr};
    if (thins) {
        // A group is thinned out some time after it is complete.
        sizes.ticks = std::max(options.history_ticks, options.dense_ticks) + 1 + 2 * options.thin_every;
        sizes.thinned_groups = options.thinned_ticks / options.thin_every + 2;
        sizes.thinned_ticks = (sizes.thinned_groups + 1) * options.thin_every + sizes.ticks;
    }
    return sizes;
}

std::uint64_t RingCore::least_slots(const StateRingOptions& options, const RingSizes& sizes) noexcept {
    return 2 * std::uint64_t{sizes.pages} + (options.reader_bytes >> kStatePageShift) +
           (sizes.packs ? kSetApart : 0);
}

// Slots are named by numbers that have to fit, with what else a word says.
std::uint64_t RingCore::most_slots(const RingSizes& sizes) noexcept {
    return sizes.packs ? PackedStore::kMaxSlots : UINT32_MAX / 2;
}

// What all ticks of the present can take when each changes every page; where versions are packed, one is
// whole and packed for a while.
std::uint64_t RingCore::present_slots(const RingSizes& sizes) noexcept {
    const std::uint64_t ticks = std::uint64_t{sizes.ticks} + sizes.thinned_groups + 2;
    return sizes.pages * ticks * (sizes.packs ? 2 : 1) + (sizes.packs ? kSetApart : 0);
}

// More than these nobody can use: every tick that can be read, and every future, has every page.
std::uint64_t RingCore::useful_slots(const StateRingOptions& options, const RingSizes& sizes) noexcept {
    const std::uint64_t ticks = std::uint64_t{sizes.ticks} + sizes.thinned_groups + 1;
    const std::uint64_t readers = LeaseTable::kReaderCells + LeaseTable::kMaxKept * ticks;
    const std::uint64_t asked = options.reader_bytes >> kStatePageShift;
    return present_slots(sizes) + (asked != 0 ? asked : sizes.pages * readers);
}

// What no bound is large enough for is refused as such.
Status RingCore::check_least(const StateRingOptions& options, const RingSizes& sizes,
                             RingRefusal& why) noexcept {
    const std::uint64_t least = least_slots(options, sizes);
    const std::uint64_t most = most_slots(sizes);
    if (least <= most) return Status::ok;
    return refuse(why, Status::size_overflow, RingFault::history_pages, {}, least, most);
}

Expected<std::uint64_t> RingCore::least_bytes(const StateRingOptions& options, std::uint32_t pages,
                                              RingRefusal& why) noexcept {
    auto sizes = begin_sizes(options, pages, why);
    if (!sizes) return sizes.status();
    if (const Status status = check_least(options, *sizes, why); status != Status::ok) return status;
    divide(options, least_slots(options, *sizes), *sizes);
    return sizes->bytes;
}

Expected<RingSizes> RingCore::measure(const StateRingOptions& options, std::uint32_t pages,
                                      RingRefusal& why) noexcept {
    const auto begun = begin_sizes(options, pages, why);
    if (!begun) return begun;
    RingSizes sizes = *begun;
    if (const Status status = check_least(options, sizes, why); status != Status::ok) return status;
    // As many slots as the bound holds; each costs nearly the same.
    std::uint64_t low = 0;
    std::uint64_t high =
        std::min({options.history_bytes >> kStatePageShift, most_slots(sizes), useful_slots(options, sizes)});
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        divide(options, middle, sizes);
        if (sizes.bytes <= options.history_bytes)
            low = middle;
        else
            high = middle - 1;
    }
    const std::uint64_t least = least_slots(options, sizes);
    divide(options, std::max(low, least), sizes);
    if (low < least)
        return refuse(why, Status::budget_exceeded, RingFault::history_bytes, {}, options.history_bytes,
                      sizes.bytes);
    return sizes;
}

// What it takes to have so many slots: whole pages, as the system gives no others.
void RingCore::divide(const StateRingOptions& options, std::uint64_t slots, RingSizes& sizes) noexcept {
    const std::uint64_t twice = 2 * std::uint64_t{sizes.pages} + (sizes.packs ? kSetApart : 0);
    const std::uint64_t spare = slots > twice ? slots - twice : 0;
    const std::uint64_t present = present_slots(sizes);
    const std::uint64_t others = std::max(spare / 2, slots > present ? slots - present : 0);
    const std::uint64_t asked = options.reader_bytes >> kStatePageShift;
    sizes.slots = static_cast<std::uint32_t>(slots);
    sizes.versions = slots * (sizes.fine ? kFineVersionsPerSlot : sizes.packs ? kVersionsPerSlot : 1);
    sizes.pinned = static_cast<std::uint32_t>(std::min(asked != 0 ? asked : others, spare));
    const std::uint64_t unpacked = options.unpacked_bytes >> kStatePageShift;
    if (sizes.packs)
        sizes.unpacked = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            unpacked != 0 ? unpacked : 2 * std::uint64_t{sizes.pages}, PackedStore::kMaxSlots));
    Carver carver;
    RingCore(LiveImage()).carve(carver, sizes);
    const std::uint64_t bytes = carver.used_bytes() + align_up(sizeof(RingCore), Carver::kAlignment);
    const std::uint64_t page = os::page_size();
    sizes.bytes = (bytes + page - 1) / page * page;
}

Status RingCore::start(const StateRingOptions& options, const RingSizes& sizes, MemoryBlock memory,
                       RingRefusal& why) noexcept {
    Carver carver(memory);
    carve(carver, sizes);
    marks_ =
        DirtyMap(image_.block().data, image_.block().size, page_marks_, group_marks_, line_marks_, &drains_);
    leases_.set_quota(sizes.pinned);
    leases_.set_unpacked_quota(sizes.unpacked);
    hashes_ = options.hashes;
    jobs_ = options.jobs;
    verifier_ = options.verifier;
    packs_ = sizes.packs;
    if (packs_) slots_.spare(readers_);
    fine_ = sizes.fine;
    // Where nothing else is to be packed, no tick is old enough for it.
    dense_ticks_ = options.packing ? options.dense_ticks : UINT32_MAX / 2;
    whole_ticks_ = options.history_ticks;
    thin_every_ = sizes.thinned_groups != 0 ? options.thin_every : 0;
    packer_.start({.index = &index_,
                   .slots = &slots_,
                   .packed = &packed_,
                   .leases = &leases_,
                   .line_runs = line_runs_,
                   .has_hashes = hashes_});
    std::ranges::fill(kinds_, static_cast<std::uint8_t>(SegmentKind::portable));
    std::ranges::fill(line_runs_, kNotFine);
    for (const Segment& segment : image_.segments()) {
        std::ranges::fill(kinds_.subspan(segment.first_page(), segment.page_count()),
                          static_cast<std::uint8_t>(segment.kind));
        if (segment.fine)
            std::ranges::fill(line_runs_.subspan(segment.first_page(), segment.page_count()),
                              std::uint8_t{0});
    }
    if (const Status status = finder_.start(image_, why); status != Status::ok) return status;
    stats_.slots = slots_.free_count();
    stats_.history_bytes = sizes.bytes;
    // Tick 0 is the fresh image: its header, and zeros.
    const std::uint32_t header = 0;
    const auto slots = slots_.take(1);
    publish({&header, 1}, slots, capture_only({&header, 1}, slots));
    return Status::ok;
}

Status RingCore::status_of(Tick tick) const noexcept {
    if (tick > newest()) return Status::out_of_range;
    if (tick < oldest_.load(std::memory_order_seq_cst)) return Status::tick_gone;
    const bool is_thinned =
        thins() && tick < whole_from_.load(std::memory_order_seq_cst) && tick % thin_every_ != 0;
    return is_thinned ? Status::tick_thinned : Status::ok;
}

void RingCore::collect() noexcept {
    stats_.failed_scans +=
        finder_.collect(image_, {.tick = newest(), .index = index_, .slots = slots_}, marks_);
}

Expected<std::uint64_t> RingCore::hash(Tick tick, SegmentKind kind) const noexcept {
    if (!hashes_) return Status::not_supported;
    const Status status = status_of(tick);
    if (status != Status::ok && status != Status::tick_thinned) return status;
    const TickHashes& hashes = log_.holds(tick) ? log_.hashes(static_cast<std::uint32_t>(tick))
                                                : thinned_hashes_[tick % thinned_hashes_.size()];
    return kind == SegmentKind::portable ? hashes.portable : hashes.process_bound;
}

// The lease is taken before the history is looked at: see LeaseTable. Where going back began meanwhile, the
// tick may be gone, or there again with more pages than were reserved.
Expected<TickView> RingCore::view(Tick tick) noexcept {
    for (;;) {
        const std::uint32_t turn = timeline_.turn();
        if (const Status status = status_of(tick); status != Status::ok) return status;
        const std::uint32_t pages = touched_pages_.load(std::memory_order_relaxed);
        const auto cell = leases_.take(static_cast<std::uint32_t>(tick), 0, pages);
        if (!cell) return cell.status();
        // Lines that are being changed in place may be of this tick; later ones will not be.
        if (fine_) (void)gate_.wait_until_open();
        const bool has_room = set_aside(*cell, pages);
        Status status = status_of(tick);
        if (status == Status::ok && !has_room) status = Status::budget_exceeded;
        const bool is_sure = timeline_.turn() == turn;
        if (is_sure && status == Status::ok) {
            leases_.settle(*cell);
            return TickView(*this, tick, *cell);
        }
        end_view(*cell);
        if (is_sure) return status;
    }
}

Expected<TickView> RingCore::view(KeptFuture future, Tick tick) noexcept {
    const auto number = futures_.future_of(future, tick);
    if (!number) return number.status();
    const std::uint32_t pages = futures_.page_count(*number);
    const auto cell = leases_.take(static_cast<std::uint32_t>(tick), *number, pages);
    if (!cell) return cell.status();
    const bool has_room = set_aside(*cell, pages);
    const bool is_there = futures_.future_of(future).has_value();
    if (is_there && has_room) {
        leases_.settle(*cell);
        return TickView(*this, tick, *cell);
    }
    end_view(*cell);
    return is_there ? Status::budget_exceeded : Status::stale_handle;
}

// What is packed will have to be unpacked for the reader. A tick of which nothing is packed now stays so
// while it is read.
bool RingCore::set_aside(std::uint32_t cell, std::uint32_t pages) noexcept {
    if (!packs_) return true;
    const LeaseTable::Lease lease = leases_.lease(cell);
    const std::uint32_t packed_before = packed_before_.load(std::memory_order_seq_cst);
    const bool has_packed =
        lease.future != 0 ? futures_.has_packed(lease.future) : std::uint64_t{lease.tick} + 1 < packed_before;
    return !has_packed || leases_.set_aside(cell, pages);
}

// A future that did not change the page has it from where it began, which may be in another one. While the
// index changes, links can lead in a circle: whoever follows them finds out later, but must come to an end.
std::uint32_t RingCore::find_slot(std::uint32_t page, LeaseTable::Lease at) const noexcept {
    for (std::uint32_t steps = 0; at.future != 0 && steps <= FutureStore::kMaxFutures; ++steps) {
        const std::uint32_t slot = futures_.find(at.future, page, at.tick);
        if (slot != FutureStore::kNone) return slot;
        at = leases_.lease(LeaseTable::cell_of(at.future));
    }
    return index_.find(page, at.tick).slot;
}

void RingCore::end_view(std::uint32_t cell) noexcept {
    if (!packs_) return leases_.end(cell);
    if (!leases_.leave(cell)) return;
    pause_read(ReadPause::view_left);
    // However many pages these are, nobody waits: none is added for a cell that is not held, and what was set
    // aside for it counts until they are free.
    unpacked_.end(cell);
    leases_.give_back(cell);
}

std::uint32_t RingCore::slot_at(std::uint32_t page, std::uint32_t cell) const noexcept {
    for (os::GiveWay way;; way.once()) {
        const std::uint32_t state = index_.state();
        const std::uint32_t slot = find_slot(page, leases_.lease(cell));
        if (index_.is_unchanged(state)) return slot;
    }
}

// The index first: what is unpacked for a reader is so before the index stops leading to it. The other way
// about, both could happen in between, and the reader would be led to another version.
const std::byte* RingCore::page_at(std::uint32_t page, std::uint32_t cell) noexcept {
    const std::uint32_t word = slot_at(page, cell);
    if (packs_) {
        if (const std::byte* unpacked = unpacked_.find(cell, page); unpacked != nullptr) return unpacked;
        if (is_packed(word)) return unpack_at(page, cell);
    }
    return whole_page(word);
}

const std::byte* RingCore::whole_page(std::uint32_t slot) const noexcept {
    return slot == 0 ? kZeroPage.data() : slots_.page(slot);
}

StateRingStats RingCore::stats() const noexcept {
    StateRingStats stats = stats_;
    stats.free_slots = slots_.free_count();
    stats.pinned_slots = pin_count_;
    stats.versions = log_.room();
    stats.free_versions = log_.room() - log_.change_count();
    stats.packed_versions = packed_.record_count();
    stats.packed_bytes = packed_.record_bytes();
    return stats;
}

}  // namespace ouro::detail
