// A small-object heap in the child of a fork: of its threads only one is there, and the others stopped
// wherever they were.
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/heap_core.hpp>

namespace ouro::detail {

void HeapCore::abandon_heaps_except(std::uint64_t thread) noexcept {
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap) {
        if (heap->state.load(std::memory_order_relaxed) != ThreadHeap::State::owned) continue;
        if (heap->thread_id.load(std::memory_order_relaxed) == thread) continue;
        heap->thread_id.store(0, std::memory_order_relaxed);
        // A thread that was inside left its heap as it was then: nobody can use it again.
        if (heap->is_inside()) {
            heap->state.store(ThreadHeap::State::held, std::memory_order_relaxed);
            continue;
        }
        make_orphan(*heap);
    }
    list_orphans_again();
    recover_lost_units();
    queue_arrivals_again();
    // What lost threads could keep, others may.
    unpromised_units_.store(all_kept_units_ - promised_units(), std::memory_order_relaxed);
}

std::size_t HeapCore::promised_units() const noexcept {
    std::size_t units = 0;
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap)
        if (!heap->is_lost()) units += heap->promised_units();
    return units;
}

// What those threads were taking, returning, or purging belongs to nobody. The kind of a unit is written
// after all else that makes it part of a slab or block, and taken back before all else, first unit first: so
// what is not complete was not handed out yet, or is not in use any more.
void HeapCore::recover_lost_units() noexcept {
    const std::size_t usable = units_.usable_units();
    std::size_t taken = 0;
    for (std::size_t unit = 0; unit < usable;) {
        const std::size_t count = complete_units_at(unit);
        if (count != 0) {
            if (kinds_[unit].load(std::memory_order_relaxed) != UnitKind::heap) taken += count;
            unit += count;
            continue;
        }
        if (units_.is_taken(unit)) {
            kinds_[unit].store(UnitKind::none, std::memory_order_relaxed);
            slabs_[unit].owner.store(nullptr, std::memory_order_relaxed);
            slabs_[unit].units_back.store(0, std::memory_order_relaxed);
            slabs_[unit].size_class = kNoClass;
            annotate::forbid({units_.address_of(unit), UnitMap::kUnitBytes});
            units_.give_back(unit, 1);
        }
        ++unit;
    }
    taken_bytes_.store(taken * UnitMap::kUnitBytes, std::memory_order_relaxed);
    tell_use();
    units_.forget_threads();
}

std::size_t HeapCore::complete_units_at(std::size_t unit) const noexcept {
    const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
    const Slab& slab = slabs_[unit];
    std::size_t count = kind == UnitKind::heap ? 1 : 0;
    const ThreadHeap* const owner = slab.owner.load(std::memory_order_relaxed);
    if (begins(unit, RunPart::live)) count = slab.capacity;
    // What a lost thread kept is nobody's.
    if (begins(unit, RunPart::kept) && owner != nullptr && !owner->is_lost()) count = slab.capacity;
    if (is_slab(kind) && slab.size_class == class_of_kind(kind) && owner != nullptr) count = slab.units;
    if (count > units_.usable_units() - unit) return 0;
    for (std::size_t part = unit + 1; part < unit + count; ++part)
        if (!continues(part, kind)) return 0;
    return count;
}

}  // namespace ouro::detail
