#include "heap_core_units.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <new>

namespace ouro::detail {
namespace {

constexpr std::size_t kUnitBytes = UnitMap::kUnitBytes;
// Below this many units, however few of them are usable yet, threads keep less.
constexpr std::size_t kRoomyUnits = 1024;
// What a thread keeps for large blocks.
constexpr std::size_t kMostKeptUnits = 128;

constinit std::atomic<std::uint64_t> g_taken_ids = 0;

// Where shared libraries bring copies of this library, a thread's notes may be one for all of them: each
// counts from somewhere else, so that no core is taken for one of another copy.
std::uint64_t take_id() noexcept {
    return mix_bits(reinterpret_cast<std::uintptr_t>(&g_taken_ids)) +
           g_taken_ids.fetch_add(1, std::memory_order_relaxed);
}

// So many that a look at all of them costs little beside the making.
constexpr std::uint32_t kHeapsPerLook = 64;

// How long whoever found the heap full waits for another who empties the caches.
constexpr std::uint64_t kPatienceNs = 20'000'000;

unsigned cache_shift_for(std::size_t units) noexcept {
    return units >= kRoomyUnits ? 0 : ThreadHeap::kMostCacheShift;
}

// A small part of what there is, and of what may stay free at all.
std::size_t units_to_keep(const HeapCore::Memory& memory, const HeapCore::Layout& layout,
                          std::size_t purge_threshold_bytes) noexcept {
    if (layout.units < kRoomyUnits) return 0;
    const std::size_t most = std::min(kMostKeptUnits, layout.units / 64);
    return memory.grows ? std::min(most, purge_threshold_bytes / kUnitBytes / 4) : most;
}

std::size_t huge_units_from(const HeapCore::Memory& memory) noexcept {
    if (!memory.grows || memory.huge_from_bytes >= memory.units.size) return UnitMap::kNoUnit;
    return align_up(memory.huge_from_bytes, HeapCore::kHugeBytes) / kUnitBytes;
}

// Commits the pages that hold a part of an array.
Expected<void> commit_pages_of(const void* begin, const void* end) noexcept {
    const auto first = align_down(reinterpret_cast<std::uintptr_t>(begin), os::page_size());
    const auto behind = align_up(reinterpret_cast<std::uintptr_t>(end), os::page_size());
    return os::commit({reinterpret_cast<std::byte*>(first), behind - first});
}

}  // namespace

HeapCore::Layout HeapCore::layout_for(std::size_t units, std::size_t page_bytes,
                                      std::size_t owner_bytes) noexcept {
    const std::size_t words = (units + UnitMap::kUnitsPerWord - 1) / UnitMap::kUnitsPerWord;
    Layout layout{.units = units};
    layout.kinds_offset = align_up(sizeof(HeapCore) + owner_bytes, page_bytes);
    layout.taken_offset = align_up(layout.kinds_offset + units, page_bytes);
    layout.dirty_offset = align_up(layout.taken_offset + words * sizeof(UnitMap::Word), page_bytes);
    layout.slabs_offset = align_up(layout.dirty_offset + words * sizeof(UnitMap::Word), page_bytes);
    layout.bitmaps_offset = align_up(layout.slabs_offset + units * sizeof(Slab), page_bytes);
    layout.arrivals_offset = align_up(layout.bitmaps_offset + units * sizeof(SlabBitmap), page_bytes);
    layout.bytes = align_up(layout.arrivals_offset + units * sizeof(Arrivals), page_bytes);
    return layout;
}

bool HeapCore::is_enough(std::size_t units) noexcept {
    return units > units_for(ThreadHeap::bytes_with(cache_shift_for(units)));
}

HeapCore::HeapCore(const Memory& memory, const Layout& layout, std::size_t purge_threshold_bytes,
                   std::size_t largest_small_bytes) noexcept
    : units_({.units = memory.units,
              .taken = reinterpret_cast<UnitMap::Word*>(memory.metadata.data + layout.taken_offset),
              .dirty = reinterpret_cast<UnitMap::Word*>(memory.metadata.data + layout.dirty_offset),
              .usable_units = memory.grows ? 0 : layout.units},
             {.make_usable = memory.grows ? commit_units : nullptr,
              .has_grown = memory.on_growth != nullptr ? tell_growth : nullptr,
              .context = this,
              .huge_from_units = huge_units_from(memory)}),
      slabs_(reinterpret_cast<Slab*>(memory.metadata.data + layout.slabs_offset)),
      bitmaps_(reinterpret_cast<SlabBitmap*>(memory.metadata.data + layout.bitmaps_offset)),
      arrivals_(reinterpret_cast<Arrivals*>(memory.metadata.data + layout.arrivals_offset)),
      kinds_(reinterpret_cast<std::atomic<UnitKind>*>(memory.metadata.data + layout.kinds_offset)),
      id_(take_id()),
      name_(memory.name),
      purge_threshold_units_(purge_threshold_bytes / kUnitBytes),
      most_kept_units_(units_to_keep(memory, layout, purge_threshold_bytes)),
      all_kept_units_(memory.grows ? purge_threshold_units_ : layout.units / 8),
      unpromised_units_(all_kept_units_),
      huge_from_units_(huge_units_from(memory)),
      slab_classes_(class_of_size(largest_small_bytes) + 1),
      cache_shift_(cache_shift_for(layout.units)),
      on_growth_(memory.on_growth),
      on_use_(memory.on_use),
      listing_(memory.listing) {}

Expected<void> HeapCore::commit_units(void* core, std::size_t first, std::size_t end) noexcept {
    const HeapCore& self = *static_cast<HeapCore*>(core);
    auto committed = commit_pages_of(self.slabs_ + first, self.slabs_ + end);
    if (committed) committed = commit_pages_of(self.bitmaps_ + first, self.bitmaps_ + end);
    if (committed) committed = commit_pages_of(self.arrivals_ + first, self.arrivals_ + end);
    if (committed) committed = os::commit({self.units_.address_of(first), (end - first) * kUnitBytes});
    if (committed) self.ask_for_huge_pages(first, end);
    return committed;
}

// A system that has none to give leaves the memory as it is.
void HeapCore::ask_for_huge_pages(std::size_t first, std::size_t end) const noexcept {
    first = std::max(first, huge_from_units_);
    if (first >= end) return;
    static_cast<void>(os::advise_huge({units_.address_of(first), (end - first) * kUnitBytes}, true));
}

Expected<void> HeapCore::prewarm(std::size_t bytes) noexcept {
    if (bytes == 0) return {};
    return units_.prewarm(units_for(bytes));
}

void HeapCore::tell_growth(void* core) noexcept {
    const HeapCore& self = *static_cast<HeapCore*>(core);
    self.on_growth_(self.listing_);
}

Expected<ThreadHeap*> HeapCore::heap_of_this_thread(Search search) noexcept {
    const std::uint64_t thread = os::this_thread_id();
    const bool may_have_one = search == Search::all || may_be_left();
    if (may_have_one) {
        if (ThreadHeap* const heap = find_heap_of(thread)) return heap;
    }
    if (ThreadHeap* const heap = adopt_heap(thread)) return heap;
    if (!may_have_one) {
        if (ThreadHeap* const heap = find_left_heap(thread)) return heap;
    }
    return make_heap(thread);
}

ThreadHeap* HeapCore::find_heap_of(std::uint64_t thread) const noexcept {
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap)
        if (heap->thread_id.load(std::memory_order_acquire) == thread) return heap;
    return nullptr;
}

// Not every thread whose hook was accepted lives to see it run: the C library frees, and hooks of others may
// allocate, after the last round. Each would leave one more heap behind, for ever.
ThreadHeap* HeapCore::find_left_heap(std::uint64_t thread) noexcept {
    const std::uint32_t wanted = wanted_heaps_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (wanted % kHeapsPerLook != 0) return nullptr;
    ThreadHeap* const heap = find_heap_of(thread);
    if (heap != nullptr) expect_left_heaps();
    return heap;
}

Expected<ThreadHeap*> HeapCore::make_heap(std::uint64_t thread) noexcept {
    const auto run = units_.take(units_for(ThreadHeap::bytes_with(cache_shift_)));
    if (!run) return run.status();
    set_kinds(run->first, run->count, UnitKind::heap, UnitKind::heap);
    // What was a free block until now, in the eyes of sanitizers, is the heap's own.
    annotate::permit({units_.address_of(run->first), run->count * kUnitBytes});
    auto* const heap = new (units_.address_of(run->first)) ThreadHeap(*this, thread, cache_shift_);
    heap->next_heap = heaps_.load(std::memory_order_relaxed);
    while (!heaps_.compare_exchange_weak(heap->next_heap, heap, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return heap;
}

void HeapCore::abandon_heap(ThreadHeap& heap, std::uint64_t thread) noexcept {
    if (heap.thread_id.load(std::memory_order_acquire) != thread) return;
    if (!heap.end_as_owner()) return;
    heap.thread_id.store(0, std::memory_order_relaxed);
    make_orphan(heap);
}

void HeapCore::abandon_heaps_of(std::uint64_t thread) noexcept {
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap)
        abandon_heap(*heap, thread);
}

Expected<Slab*> HeapCore::make_slab(unsigned size_class, ThreadHeap& owner) noexcept {
    auto run = units_.take(slab_units(size_class));
    if (!run && slab_units(size_class) != 1) run = units_.take(1);
    if (!run) return run.status();
    Slab* const slab = slabs_ + run->first;
    slab->next = slab->previous = nullptr;
    slab->returned = 0;
    slab->used.store(0, std::memory_order_relaxed);
    slab->first_fresh = 0;
    slab->units = static_cast<std::uint8_t>(run->count);
    slab->set_capacity(slab_capacity(size_class, slab->units));
    slab->is_listed = false;
    slab->is_freed_elsewhere = false;
    for (std::uint8_t back = 0; back < slab->units; ++back) {
        slab[back].units_back.store(back, std::memory_order_relaxed);
        slab[back].size_class = static_cast<std::uint8_t>(size_class);
    }
    slab->owner.store(&owner, std::memory_order_release);
    set_kinds(run->first, run->count, kind_of_class(size_class), kind_of_class(size_class));
    note_taken(run->count);
    // Until they are handed out, its blocks are nobody's.
    annotate::forbid({units_.address_of(run->first), run->count * kUnitBytes});
    return slab;
}

void HeapCore::release_slab(Slab& slab) noexcept {
    slab.owner.store(nullptr, std::memory_order_relaxed);
    const std::uint8_t units = slab.units;
    for (std::uint8_t back = 0; back < units; ++back) {
        (&slab)[back].units_back.store(0, std::memory_order_relaxed);
        (&slab)[back].size_class = kNoClass;
    }
    give_back(static_cast<std::size_t>(&slab - slabs_), units);
}

void HeapCore::reset() noexcept {
    // As if all was freed now.
    const Counts before = count();
    other_operations_.store(before.operations + before.live_blocks, std::memory_order_relaxed);
    id_ = take_id();
    heaps_.store(nullptr, std::memory_order_relaxed);
    orphan_lists_.clear();
    adoptable_.clear();
    unpromised_units_.store(all_kept_units_, std::memory_order_relaxed);
    taken_bytes_.store(0, std::memory_order_relaxed);
    for (std::atomic<std::uint32_t>& blocks : arrived_blocks_)
        blocks.store(0, std::memory_order_relaxed);
    annotate::forbid({units_.units().data, units_.usable_units() * kUnitBytes});
    for (std::size_t unit = 0; unit < units_.usable_units(); ++unit) {
        kinds_[unit].store(UnitKind::none, std::memory_order_relaxed);
        slabs_[unit].owner.store(nullptr, std::memory_order_relaxed);
        slabs_[unit].units_back.store(0, std::memory_order_relaxed);
        slabs_[unit].size_class = kNoClass;
        if (had_arrivals_.load(std::memory_order_relaxed)) forget_arrivals(unit);
        if (units_.is_taken(unit)) units_.give_back(unit, 1);
    }
    tell_use();
}

HeapCore::Purged HeapCore::purge() noexcept {
    Purged purged;
    if (!try_begin_purge()) return purged;
    purged.skipped_heaps = empty_caches();
    purged.bytes = units_.purge();
    end_purge();
    return purged;
}

bool HeapCore::take_back(std::size_t wanted_bytes, std::uint64_t purges_before) noexcept {
    if (is_purging_.load(std::memory_order_acquire)) return wait_for_purge();
    std::size_t kept = 0;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        kept += std::size_t{arrived_blocks(size_class)} * kClassBytes[size_class];
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap) {
        // Nobody can empty it; or somebody is just doing so.
        if (heap->is_lost()) continue;
        kept += heap->empty_slab_bytes() + heap->kept_units() * kUnitBytes;
        for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
            kept += std::size_t{heap->cached_blocks(size_class) + heap->queued_blocks(size_class)} *
                    kClassBytes[size_class];
    }
    // Little would not be worth it: whoever asks again and again of a full heap shall not pay for it each
    // time.
    if (kept < std::min(wanted_bytes, kUnitBytes))
        return is_purging_.load(std::memory_order_acquire) ? wait_for_purge()
                                                           : ended_purges() != purges_before;
    if (!try_begin_purge()) return wait_for_purge();
    empty_caches();
    end_purge();
    return true;
}

bool HeapCore::wait_for_purge() noexcept {
    const std::uint64_t number = ended_purges() + 1;
    const std::uint64_t begin_ns = os::monotonic_ns();
    while (is_purging_.load(std::memory_order_acquire) && ended_purges() < number) {
        // Once is enough for a thread that is stopped.
        if (stuck_purge_.load(std::memory_order_relaxed) == number) return false;
        if (os::monotonic_ns() - begin_ns > kPatienceNs) {
            stuck_purge_.store(number, std::memory_order_relaxed);
            return false;
        }
        os::yield_thread();
    }
    return true;
}

std::size_t HeapCore::empty_caches() noexcept {
    const std::uint64_t thread = os::this_thread_id();
    std::size_t skipped = 0;
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap) {
        if (heap->thread_id.load(std::memory_order_acquire) == thread) {
            if (!heap->empty_as_owner()) ++skipped;
        } else if (!empty_other(*heap)) {
            ++skipped;
        }
    }
    return skipped;
}

void HeapCore::set_kinds(std::size_t first, std::size_t count, UnitKind head, UnitKind body) noexcept {
    kinds_[first].store(head, std::memory_order_relaxed);
    for (std::size_t unit = first + 1; unit < first + count; ++unit)
        kinds_[unit].store(body, std::memory_order_relaxed);
}

void HeapCore::note_taken(std::size_t units) noexcept {
    const std::size_t taken =
        taken_bytes_.fetch_add(units * kUnitBytes, std::memory_order_relaxed) + units * kUnitBytes;
    recent_peak_units_.note(taken / kUnitBytes);
    std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (peak < taken && !peak_bytes_.compare_exchange_weak(peak, taken, std::memory_order_relaxed)) {
    }
    tell_use();
}

void HeapCore::give_back(std::size_t first, std::size_t count) noexcept {
    set_kinds(first, count, UnitKind::none, UnitKind::none);
    taken_bytes_.fetch_sub(count * kUnitBytes, std::memory_order_relaxed);
    tell_use();
    units_.give_back(first, count);
    if (keeps_too_much()) units_.purge();
}

// Beyond the threshold may stay what is likely to be wanted again: as much as is in use, or as fell out of
// use lately; only the former where nothing shall be kept. It is taken before anything fresh.
bool HeapCore::keeps_too_much() noexcept {
    const std::size_t free = units_.free_dirty_units();
    const std::size_t taken = taken_bytes() / kUnitBytes;
    if (free <= purge_threshold_units_ + taken) return false;
    if (purge_threshold_units_ == 0) return true;
    const std::size_t recent = recent_peak_units_.at(os::monotonic_ns(), taken);
    return free > purge_threshold_units_ + std::max(taken, recent - taken);
}

}  // namespace ouro::detail
