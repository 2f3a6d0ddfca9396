// Heaps of threads that have ended: who looks into them, and when.
//
// An orphan is in the list kToEmpty from when it became one, and from when blocks came home to it, until
// somebody who needs a slab empties it; and in the list of each class that it has slabs of afterwards. Who
// takes it out of a list in vain, because somebody else holds it, may forget it: the holder looks once more
// after letting go. For that, the state is changed and mail is put down before the other of the two is read,
// in one order for all.
//
// It is in the stack of those that the next thread without a heap may have as well, under the same rule.
#include <ouro/memory/detail/heap_core.hpp>

#include <bit>

namespace ouro::detail {

void OrphanLists::add(unsigned list, ThreadHeap& heap) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << list;
    OrphanPlaces& places = heap.orphan_places;
    // Whoever takes it out clears the bit before looking into the heap.
    if ((places.listed.fetch_or(bit, std::memory_order_seq_cst) & bit) != 0) return;
    std::atomic<ThreadHeap*>& first = first_[list];
    places.next[list] = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(places.next[list], &heap, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
}

ThreadHeap* OrphanLists::take_out(unsigned list, ThreadHeap& heap) noexcept {
    ThreadHeap* const next = heap.orphan_places.next[list];
    heap.orphan_places.listed.fetch_and(~(std::uint64_t{1} << list), std::memory_order_seq_cst);
    return next;
}

void OrphanLists::clear() noexcept {
    for (std::atomic<ThreadHeap*>& first : first_)
        first.store(nullptr, std::memory_order_relaxed);
}

void HeapCore::make_orphan(ThreadHeap& heap) noexcept {
    heap.state.store(ThreadHeap::State::orphan, std::memory_order_seq_cst);
    list_for_emptying(heap);
    list_for_adoption(heap);
}

void HeapCore::list_for_adoption(ThreadHeap& orphan) noexcept {
    adoptable_.add(orphan.orphan_places, static_cast<std::uint32_t>(units_.unit_of(&orphan) + 1));
}

ThreadHeap* HeapCore::adopt_heap(std::uint64_t thread) noexcept {
    const auto heap_of = [this](std::uint32_t number) {
        return reinterpret_cast<ThreadHeap*>(units_.address_of(number - 1));
    };
    for (;;) {
        const std::uint32_t number = adoptable_.take(
            [&](std::uint32_t each) -> OrphanPlaces& { return heap_of(each)->orphan_places; });
        if (number == 0) return nullptr;
        ThreadHeap* const heap = heap_of(number);
        auto expected = ThreadHeap::State::orphan;
        if (!heap->state.compare_exchange_strong(expected, ThreadHeap::State::owned,
                                                 std::memory_order_seq_cst))
            continue;
        heap->thread_id.store(thread, std::memory_order_release);
        return heap;
    }
}

bool HeapCore::try_hold(ThreadHeap& heap) noexcept {
    auto expected = ThreadHeap::State::orphan;
    if (!heap.state.compare_exchange_strong(expected, ThreadHeap::State::held, std::memory_order_seq_cst))
        return false;
    orphan_visits_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void HeapCore::let_go(ThreadHeap& heap, ThreadHeap::Remains remains) noexcept {
    heap.state.store(ThreadHeap::State::orphan, std::memory_order_seq_cst);
    for (std::uint64_t classes = remains.classes; classes != 0; classes &= classes - 1)
        orphan_lists_.add(static_cast<unsigned>(std::countr_zero(classes)), heap);
    // Whoever has revoked it lists it in the end.
    if (remains.was_entered ? heap.has_mail() : !heap.is_revoked()) list_for_emptying(heap);
    list_for_adoption(heap);
}

void HeapCore::adopt_slabs(unsigned size_class, ThreadHeap& heap) noexcept {
    orphan_lists_.take_all(kToEmpty, [this](ThreadHeap& orphan) {
        if (try_hold(orphan)) let_go(orphan, orphan.empty_as_holder());
    });
    orphan_lists_.take_all(size_class, [this, size_class, &heap](ThreadHeap& orphan) {
        if (try_hold(orphan)) let_go(orphan, orphan.move_slabs(size_class, heap));
    });
}

bool HeapCore::empty_other(ThreadHeap& heap) noexcept {
    if (try_hold(heap)) {
        const ThreadHeap::Remains remains = heap.empty_as_holder();
        let_go(heap, remains);
        return remains.was_entered;
    }
    const bool is_owned = heap.state.load(std::memory_order_relaxed) == ThreadHeap::State::owned;
    if (!is_owned || !heap.try_revoke()) return false;
    heap.empty();
    heap.restore();
    return true;
}

void HeapCore::list_orphans_again() noexcept {
    orphan_lists_.clear();
    adoptable_.clear();
    for (ThreadHeap* heap = heaps_.load(std::memory_order_relaxed); heap != nullptr; heap = heap->next_heap) {
        heap->orphan_places.listed.store(0, std::memory_order_relaxed);
        heap->orphan_places.is_stacked.store(false, std::memory_order_relaxed);
        if (heap->state.load(std::memory_order_relaxed) != ThreadHeap::State::orphan) continue;
        list_for_emptying(*heap);
        list_for_adoption(*heap);
    }
}

}  // namespace ouro::detail
