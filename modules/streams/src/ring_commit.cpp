#include "page_copy.hpp"
#include "ring_core.hpp"

#include <algorithm>
#include <atomic>

namespace ouro::detail {
namespace {

// So many pages before it is their turn, what the index knows of them is fetched.
constexpr std::size_t kAhead = 4;

// One more; what there were before. A locked instruction waits until all that was copied past the caches has
// arrived, which nobody else does: only where several threads count.
std::uint32_t count_one(std::atomic<std::uint32_t>& count, bool is_shared) noexcept {
    if (is_shared) return count.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t before = count.load(std::memory_order_relaxed);
    count.store(before + 1, std::memory_order_relaxed);
    return before;
}

}  // namespace

Expected<Tick> RingCore::commit() noexcept {
    if (newest() >= kLastTick) return Status::capacity_exhausted;
    if (packs_) serve_readers();
    collect();
    const std::span<const std::uint32_t> pages = scratch_.first(marks_.drain(scratch_.data()));
    const auto count = static_cast<std::uint32_t>(pages.size());
    if (packs_) make_room_to_pack(count);
    make_room(count);
    if (fine_)
        commit_fine(pages);
    else
        commit_whole(pages);
    if (packs_) begin_packing();
    ++stats_.commits;
    stats_.pages_captured += count;
    stats_.last_pages = count;
    return Tick{newest()};
}

// The bound holds every page twice and what readers hold on to, so that giving up ticks always makes room in
// the end. Readers end meanwhile, and others come who count on what those had: looked at again each time.
void RingCore::make_room(std::uint32_t changes) noexcept {
    for (;;) {
        if (futures_.count() != 0) drop_futures();
        if (pin_count_ != 0) release_pins();
        const bool has_slots = slots_.free_count() >= changes;
        if (has_slots && log_.has_room(changes)) return;
        has_slots ? give_up_oldest() : free_slots();
    }
}

void RingCore::give_up_oldest() noexcept {
    if (packs_)
        give_up_packed();
    else
        give_up_unpacked();
    ++stats_.ticks_given_up;
}

void RingCore::give_up_unpacked() noexcept {
    const std::uint32_t next = log_.oldest() + 1;
    OURO_ASSERT(log_.holds(next), "the newest tick is never given up");
    oldest_.store(next, std::memory_order_seq_cst);
    const TickChanges changes = log_.changes(next);
    // What this tick replaced can be read in none that is left.
    if (leases_.is_any_held())
        give_up_pinned(changes, next);
    else
        slots_.give(changes.previous);
    log_.drop_oldest();
}

void RingCore::give_up_pinned(const TickChanges& changes, std::uint32_t until) noexcept {
    for (std::size_t index = 0; index < changes.pages.size(); ++index) {
        const std::uint32_t slot = changes.previous[index];
        if (slot == 0) continue;
        const std::uint32_t from = index_.find(changes.pages[index], until - 1).tick;
        if (!is_read(changes.pages[index], from, until)) {
            slots_.give(slot);
            continue;
        }
        pin({.page = changes.pages[index], .slot = slot, .from = from, .until = until});
    }
}

// Those of readers that ended are listed until they are released, though others have their share by now.
void RingCore::pin(const PinnedVersion& version) noexcept {
    if (pin_count_ == pins_.size()) release_pins();
    OURO_ASSERT(pin_count_ < pins_.size(), "readers pin more than their quota");
    pins_[pin_count_++] = version;
}

void RingCore::release_pins() noexcept {
    std::uint32_t kept = 0;
    for (const PinnedVersion& pin : pins_.first(pin_count_)) {
        if (is_read(pin.page, pin.from, pin.until))
            pins_[kept++] = pin;
        else
            slots_.give(pin.slot);
    }
    pin_count_ = kept;
}

// The sums of the parts can be added in any order.
template <class Note>
TickHashes RingCore::capture(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                             Note&& note) noexcept {
    if (!is_shared_out(pages.size())) return capture_some(pages, slots, {0, pages.size()}, note);
    std::atomic<std::uint64_t> portable = 0;
    std::atomic<std::uint64_t> process_bound = 0;
    share_out(pages.size(), [&](std::size_t begin, std::size_t end) {
        const TickHashes part = capture_some(pages, slots, {begin, end}, note);
        portable.fetch_add(part.portable, std::memory_order_relaxed);
        process_bound.fetch_add(part.process_bound, std::memory_order_relaxed);
    });
    return {.portable = portable.load(std::memory_order_relaxed),
            .process_bound = process_bound.load(std::memory_order_relaxed)};
}

TickHashes RingCore::capture_only(std::span<const std::uint32_t> pages,
                                  std::span<const std::uint32_t> slots) noexcept {
    return capture(pages, slots, [](std::size_t) {});
}

template <class Note>
TickHashes RingCore::capture_some(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                                  IndexRange part, Note&& note) noexcept {
    TickHashes change;
    for (std::size_t index = part.begin; index < part.end; ++index) {
        if (index + 2 * kAhead < part.end) index_.prefetch_page(pages[index + 2 * kAhead]);
        if (index + kAhead < part.end) prefetch_noted(pages[index + kAhead], slots[index + kAhead]);
        const std::uint32_t page = pages[index];
        // Neighbours are fetched by the processor, and slowed down by this.
        if (index + 1 < part.end && pages[index + 1] != page + 1) prefetch_begin(live(pages[index + 1]));
        const std::uint32_t slot = slots[index];
        const std::byte* bytes = live(page);
        // A run of pages comes faster while it is hashed, a page from elsewhere while it is copied.
        const bool follows = index != part.begin && pages[index - 1] + 1 == page;
        if (!follows) store_page(slots_.page(slot), bytes);
        if (hashes_) rehash(page, bytes, slots_.hash(index_.newest_slot(page)), slot, change);
        if (follows) store_page(slots_.page(slot), bytes);
        note(index);
    }
    finish_stores();
    return change;
}

// What will be written of a page, and the hash that it had.
void RingCore::prefetch_noted(std::uint32_t page, std::uint32_t slot) const noexcept {
    index_.prefetch_append(page);
    if (!hashes_) return;
    slots_.prefetch_hash(index_.newest_slot(page));
    slots_.prefetch_hash(slot);
}

// Whoever copies a page also notes it, while what is known of it is in the caches. Nobody looks for the tick
// before it is published. What needs a block more has to wait: those are one thread's to give.
void RingCore::commit_whole(std::span<const std::uint32_t> pages) noexcept {
    const auto slots = slots_.take(static_cast<std::uint32_t>(pages.size()));
    const TickHashes before = last_hashes();
    const TickChanges changes = log_.add(static_cast<std::uint32_t>(pages.size()));
    const std::uint32_t tick = log_.newest();
    std::atomic<std::uint32_t> later_count = 0;
    std::atomic<std::uint32_t> fresh_pages = 0;
    const bool is_shared = is_shared_out(pages.size());
    const TickHashes change = capture(pages, slots, [&](std::size_t at) {
        const std::uint32_t page = pages[at];
        const std::uint32_t previous = index_.newest_slot(page);
        note_change(changes, at, page, slots[at], previous);
        if (index_.append_in_place(page, {.tick = tick, .slot = slots[at]})) return;
        if (previous == 0) count_one(fresh_pages, is_shared);
        later_[count_one(later_count, is_shared)] = static_cast<std::uint32_t>(at);
    });
    const std::uint32_t needed = needed_tick();
    for (const std::uint32_t at : later_.first(later_count.load(std::memory_order_relaxed)))
        add_version(pages[at], {.tick = tick, .slot = slots[at]}, needed);
    finish_tick(before, change, fresh_pages.load(std::memory_order_relaxed));
}

void RingCore::rehash(std::uint32_t page, const std::byte* bytes, std::uint64_t old_hash, std::uint32_t slot,
                      TickHashes& change) noexcept {
    const std::uint64_t hash = masks_.hash(bytes, page);
    const bool is_portable = kinds_[page] == static_cast<std::uint8_t>(SegmentKind::portable);
    (is_portable ? change.portable : change.process_bound) += hash - old_hash;
    slots_.set_hash(slot, hash);
}

// One version of a page for each reader, wherever it is found: so the leases' quota is never exceeded.
bool RingCore::is_read(std::uint32_t page, std::uint32_t from, std::uint32_t until,
                       std::uint8_t future) const noexcept {
    return leases_.any_of(future, [&](LeaseTable::Lease lease, std::uint8_t holder) {
        return lease.tick >= from && lease.tick < until && (holder == 0 || needs_base(holder, page));
    });
}

// Whether somebody who reads a tick of the future has the page from where the future began.
bool RingCore::needs_base(std::uint8_t future, std::uint32_t page) const noexcept {
    const auto is_as_at_fork = [&](std::uint32_t tick) {
        return futures_.find(future, page, tick) == FutureStore::kNone;
    };
    if (futures_.is_kept(future)) return is_as_at_fork(futures_.first_tick(future));
    return leases_.any_of(future, [&](LeaseTable::Lease lease, std::uint8_t holder) {
        return is_as_at_fork(lease.tick) && (holder == 0 || needs_base(holder, page));
    });
}

void RingCore::add_version(std::uint32_t page, Version version, std::uint32_t needed_tick) noexcept {
    if (index_.append(page, version, needed_tick)) return;
    index_.compact([this](std::uint32_t each, std::uint32_t from, std::uint32_t until) {
        return is_kept(from, until) || is_read(each, from, until);
    });
    const bool is_added = index_.append(page, version, needed_tick);
    OURO_ASSERT(is_added, "the index has room for every slot");
}

void RingCore::publish(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                       TickHashes hashes) noexcept {
    const TickHashes before = last_hashes();
    const TickChanges changes = log_.add(static_cast<std::uint32_t>(pages.size()));
    const std::uint32_t tick = log_.newest();
    const std::uint32_t needed = needed_tick();
    std::uint32_t fresh_pages = 0;
    for (std::size_t index = 0; index < pages.size(); ++index) {
        const std::uint32_t page = pages[index];
        const std::uint32_t previous = index_.newest_slot(page);
        note_change(changes, index, page, slots[index], previous);
        fresh_pages += previous == 0 ? 1 : 0;
        add_version(page, {.tick = tick, .slot = slots[index]}, needed);
    }
    finish_tick(before, hashes, fresh_pages);
}

void RingCore::finish_tick(TickHashes before, TickHashes change, std::uint32_t fresh_pages) noexcept {
    if (fresh_pages != 0) touched_pages_.fetch_add(fresh_pages, std::memory_order_relaxed);
    const std::uint32_t tick = log_.newest();
    log_.hashes(tick) = {.portable = before.portable + change.portable,
                         .process_bound = before.process_bound + change.process_bound};
    timeline_.advance(tick);
}

}  // namespace ouro::detail
