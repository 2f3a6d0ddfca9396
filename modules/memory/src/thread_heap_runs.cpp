// The runs of units that a thread keeps for its next large blocks. The owner enters as for a small block, and
// so each is counted. The records of the units are written in such an order that a fork at any moment finds
// every large block whole.
#include "heap_core_units.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <algorithm>
#include <bit>

namespace ouro::detail {
namespace {

constexpr std::size_t kUnitBytes = UnitMap::kUnitBytes;
// Larger ones are not kept: whoever writes to them does not notice the way to the units.
constexpr std::size_t kMostRunUnits = KeptRuns::kMostUnits;

}  // namespace

inline void HeapCore::mark_kept(KeptRun run, unsigned place, ThreadHeap& keeper) noexcept {
    Slab& record = slabs_[run.first];
    record.set_capacity(run.units);
    record.owner.store(&keeper, std::memory_order_relaxed);
    record.run_place.store(static_cast<std::uint8_t>(place), std::memory_order_relaxed);
    slabs_[run.first + run.units - 1].run_place.store(static_cast<std::uint8_t>(place),
                                                      std::memory_order_relaxed);
    record.run_part.store(RunPart::kept, std::memory_order_release);
    if (kinds_[run.first].load(std::memory_order_relaxed) != UnitKind::large_head)
        kinds_[run.first].store(UnitKind::large_head, std::memory_order_release);
}

// The kind is right already.
inline void HeapCore::mark_large(std::size_t first, std::size_t units) noexcept {
    Slab& record = slabs_[first];
    record.set_capacity(static_cast<std::uint32_t>(units));
    record.owner.store(nullptr, std::memory_order_relaxed);
    record.run_part.store(RunPart::live, std::memory_order_release);
}

// Takes units off the front of a run; the rest stays one.
inline void ThreadHeap::cut_run(unsigned place, std::size_t units) noexcept {
    const KeptRun run = runs_.at(place);
    const auto taken = static_cast<std::uint32_t>(units);
    if (run.units == taken) return runs_.remove(place);
    const KeptRun rest{run.first + taken, run.units - taken};
    core_.mark_kept(rest, place, *this);
    runs_.change(place, rest);
}

void ThreadHeap::ask_to_keep_more() noexcept {
    if (const std::uint32_t wanted = runs_.wanted_units(); wanted != 0)
        runs_.raise_limit(core_.let_keep(wanted));
}

std::size_t ThreadHeap::take_run(std::size_t units) noexcept {
    const std::uint64_t sequence = enter_fast();
    const bool is_open = are_runs_open_.load(std::memory_order_acquire);
    const unsigned place = is_open ? runs_.find(units) : KeptRuns::kNone;
    if (place == KeptRuns::kNone) {
        if (is_open && runs_.limit_units() != 0) ask_to_keep_more();
        sequence_.store(sequence, std::memory_order_release);
        return UnitMap::kNoUnit;
    }
    const std::size_t first = runs_.at(place).first;
    cut_run(place, units);
    core_.mark_large(first, units);
    sequence_.store(sequence + 2, std::memory_order_release);
    return first;
}

std::size_t ThreadHeap::kept_units_at(std::size_t first, std::size_t most) noexcept {
    const std::uint64_t sequence = enter_fast();
    const bool is_open = are_runs_open_.load(std::memory_order_acquire);
    const unsigned place = is_open ? core_.run_place(first) : KeptRuns::kNone;
    const std::size_t units = runs_.begins_at(place, first) ? runs_.at(place).units : 0;
    sequence_.store(sequence, std::memory_order_release);
    return std::min(units, most);
}

bool ThreadHeap::take_run_at(std::size_t first, std::size_t units) noexcept {
    const std::uint64_t sequence = enter_fast();
    const bool is_open = are_runs_open_.load(std::memory_order_acquire);
    const unsigned place = is_open ? core_.run_place(first) : KeptRuns::kNone;
    const bool fits = runs_.begins_at(place, first) && runs_.at(place).units >= units;
    if (fits) {
        cut_run(place, units);
        core_.mark_inside(first);
    }
    sequence_.store(sequence, std::memory_order_release);
    return fits;
}

// The place of a neighbour serves the joined run.
inline void ThreadHeap::join_and_add(KeptRun run) noexcept {
    const std::size_t end = std::size_t{run.first} + run.units;
    const unsigned after = core_.run_place(end);
    const unsigned before = core_.run_place(std::size_t{run.first} - 1);
    const bool joins_before = runs_.ends_at(before, run.first);
    unsigned place = before;
    if (runs_.begins_at(after, end)) {
        core_.mark_inside(end);
        run.units += runs_.at(after).units;
        if (joins_before)
            runs_.remove(after);
        else
            place = after;
    } else if (!joins_before) {
        return core_.mark_kept(run, runs_.add(run), *this);
    }
    if (joins_before) {
        core_.mark_inside(run.first);
        run.units += run.first - runs_.at(before).first;
        run.first = runs_.at(before).first;
    }
    core_.mark_kept(run, place, *this);
    runs_.change(place, run);
}

bool ThreadHeap::keep_run(std::size_t first, std::size_t units) noexcept {
    const std::uint64_t sequence = enter_fast();
    const bool is_open = are_runs_open_.load(std::memory_order_acquire);
    if (is_open && runs_.limit_units() == 0) ask_to_keep_more();
    const bool has_room = is_open && runs_.has_room_for(units);
    if (!has_room) {
        sequence_.store(sequence, std::memory_order_release);
        return false;
    }
    join_and_add({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(units)});
    sequence_.store(sequence + 2, std::memory_order_release);
    return true;
}

KeptRun ThreadHeap::give_up_run(std::size_t units) noexcept {
    const std::uint64_t sequence = enter_fast();
    KeptRun run;
    if (are_runs_open_.load(std::memory_order_acquire) && runs_.places() != 0 &&
        units <= runs_.limit_units()) {
        const unsigned place = runs_.next_to_give_up();
        run = runs_.at(place);
        runs_.remove(place);
        core_.mark_nobodys(run.first);
    }
    sequence_.store(sequence, std::memory_order_release);
    return run;
}

void ThreadHeap::give_up_runs() noexcept {
    while (runs_.places() != 0) {
        const auto place = static_cast<unsigned>(std::countr_zero(runs_.places()));
        const KeptRun run = runs_.at(place);
        runs_.remove(place);
        core_.mark_nobodys(run.first);
        core_.give_back(run.first, run.units);
    }
    core_.let_others_keep(runs_.end_limit());
}

MemoryBlock HeapCore::allocate_kept(std::size_t size, std::size_t alignment, ThreadHeap& heap) noexcept {
    if (size > kMostRunUnits * kUnitBytes || alignment > kUnitBytes) return {};
    const std::size_t first = heap.take_run(units_for(size));
    if (first == UnitMap::kNoUnit) return {};
    return {units_.address_of(first), units_for(size) * kUnitBytes};
}

bool HeapCore::keep_large(std::byte* block, ThreadHeap& heap) noexcept {
    const std::size_t first = unit_of_block(block);
    const std::size_t count = slabs_[first].capacity;
    // Before anything is given up for it.
    if (count > std::min(kMostRunUnits, most_kept_units_)) return false;
    while (!heap.keep_run(first, count)) {
        const KeptRun other = heap.give_up_run(count);
        if (other.units == 0) return false;
        give_back(other.first, other.units);
    }
    return true;
}

}  // namespace ouro::detail
