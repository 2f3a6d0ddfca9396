#include "ring_core.hpp"

#include "page_copy.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>

namespace ouro::detail {
namespace {

// All zeros: what a page holds that was never written.
alignas(64) constexpr std::array<std::byte, kStatePageBytes> kZeroPage{};

}  // namespace

void RingCore::carve(Carver& carver, const RingSizes& sizes) noexcept {
    const std::uint32_t groups = DirtyMap::group_count(sizes.pages);
    page_marks_ = carver.take<DirtyMap::Byte>(std::uint64_t{groups} << DirtyMap::kGroupShift);
    group_marks_ = carver.take<DirtyMap::Byte>(align_up(groups, 8));
    kinds_ = carver.take<std::uint8_t>(sizes.pages);
    scratch_ = carver.take<std::uint32_t>(sizes.pages);
    pins_ = carver.take<Pin>(sizes.pinned);
    finder_.carve(carver, sizes.pages);
    futures_.carve(carver, sizes.slots);
    log_.carve(carver, sizes.ticks, sizes.pages, sizes.slots);
    index_.carve(carver, sizes.pages, std::uint64_t{sizes.slots});
    seen_ = carver.take<std::uint8_t>(std::uint64_t{sizes.slots} + 1);
    slots_.carve(carver, sizes.slots);
}

Expected<RingSizes> RingCore::measure(const StateRingOptions& options, std::uint32_t pages) noexcept {
    if (options.history_ticks == 0) return Status::bad_argument;
    RingSizes sizes{.pages = pages, .ticks = options.history_ticks + 1};
    // As many slots as the bound holds; each costs nearly the same.
    std::uint64_t low = 0;
    std::uint64_t high = std::min<std::uint64_t>(options.history_bytes >> kStatePageShift, UINT32_MAX - 1);
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        divide(options, middle, sizes);
        if (sizes.bytes <= options.history_bytes)
            low = middle;
        else
            high = middle - 1;
    }
    divide(options, low, sizes);
    const std::uint64_t needed = 2 * std::uint64_t{pages} + (options.reader_bytes >> kStatePageShift);
    if (low < needed) return Status::budget_exceeded;
    return sizes;
}

// What it takes to have so many slots.
void RingCore::divide(const StateRingOptions& options, std::uint64_t slots, RingSizes& sizes) noexcept {
    const std::uint64_t twice = 2 * std::uint64_t{sizes.pages};
    const std::uint64_t spare = slots > twice ? slots - twice : 0;
    const std::uint64_t asked = options.reader_bytes >> kStatePageShift;
    sizes.slots = static_cast<std::uint32_t>(slots);
    sizes.pinned = static_cast<std::uint32_t>(std::min(asked != 0 ? asked : spare / 2, spare));
    Carver carver;
    RingCore(LiveImage()).carve(carver, sizes);
    sizes.bytes = carver.used_bytes() + align_up(sizeof(RingCore), Carver::kAlignment);
}

Status RingCore::start(const StateRingOptions& options, const RingSizes& sizes, MemoryBlock memory) noexcept {
    Carver carver(memory);
    carve(carver, sizes);
    marks_ = DirtyMap(image_.block().data, image_.block().size, page_marks_, group_marks_);
    leases_.set_quota(sizes.pinned);
    hashes_ = options.hashes;
    jobs_ = options.jobs;
    std::ranges::fill(kinds_, static_cast<std::uint8_t>(SegmentKind::portable));
    for (const Segment& segment : image_.segments())
        std::ranges::fill(kinds_.subspan(segment.first_page(), segment.page_count()),
                          static_cast<std::uint8_t>(segment.kind));
    if (const Status status = finder_.start(image_); status != Status::ok) return status;
    stats_.slots = sizes.slots;
    stats_.history_bytes = sizes.bytes;
    listing_ = BlockRegistration({.name = "state history",
                                  .tag = options.tag,
                                  .base = memory.data,
                                  .reserved_bytes = memory.size,
                                  .committed_bytes = memory.size});
    // Tick 0 is the fresh image: its header, and zeros.
    const std::uint32_t header = 0;
    const auto slots = slots_.take(1);
    publish({&header, 1}, slots, capture({&header, 1}, slots));
    return Status::ok;
}

Status RingCore::status_of(Tick tick) const noexcept {
    if (tick > newest()) return Status::out_of_range;
    return tick < oldest() ? Status::tick_gone : Status::ok;
}

Status RingCore::collect() noexcept {
    return finder_.collect(image_, {.tick = newest(), .index = index_, .slots = slots_}, marks_);
}

Expected<std::uint64_t> RingCore::hash(Tick tick, SegmentKind kind) const noexcept {
    if (!hashes_) return Status::not_supported;
    if (const Status status = status_of(tick); status != Status::ok) return status;
    const TickHashes& hashes = log_.hashes(static_cast<std::uint32_t>(tick));
    return kind == SegmentKind::portable ? hashes.portable : hashes.process_bound;
}

// The lease is taken before the history is looked at: see LeaseTable.
Expected<TickView> RingCore::view(Tick tick) noexcept {
    if (const Status status = status_of(tick); status != Status::ok) return status;
    const auto number = static_cast<std::uint32_t>(tick);
    const auto cell = leases_.take(number, 0, touched_pages_.load(std::memory_order_relaxed));
    if (!cell) return cell.status();
    const bool is_there =
        tick >= oldest_.load(std::memory_order_seq_cst) && tick <= newest_.load(std::memory_order_seq_cst);
    if (is_there) return TickView(*this, tick, *cell);
    leases_.end(*cell);
    return Status::tick_gone;
}

Expected<TickView> RingCore::view(KeptFuture future, Tick tick) noexcept {
    const auto number = futures_.future_of(future, tick);
    if (!number) return number.status();
    const auto cell = leases_.take(static_cast<std::uint32_t>(tick), *number,
                                   touched_pages_.load(std::memory_order_relaxed));
    if (!cell) return cell.status();
    if (futures_.future_of(future)) return TickView(*this, tick, *cell);
    leases_.end(*cell);
    return Status::stale_handle;
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

std::uint32_t RingCore::slot_at(std::uint32_t page, std::uint32_t cell) const noexcept {
    for (;;) {
        const std::uint32_t state = index_.state();
        const std::uint32_t slot = find_slot(page, leases_.lease(cell));
        if (index_.is_unchanged(state)) return slot;
        os::yield_thread();
    }
}

const std::byte* RingCore::page_at(std::uint32_t page, std::uint32_t cell) const noexcept {
    const std::uint32_t slot = slot_at(page, cell);
    return slot == 0 ? kZeroPage.data() : slots_.page(slot);
}

StateRingStats RingCore::stats() const noexcept {
    StateRingStats stats = stats_;
    stats.free_slots = slots_.free_count();
    stats.pinned_slots = pin_count_;
    return stats;
}

}  // namespace ouro::detail
