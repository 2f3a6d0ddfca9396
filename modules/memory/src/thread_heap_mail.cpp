// How free blocks get from the thread that has freed them to the heap that owns them.
#include "thread_heap_mail.hpp"

#include <ouro/memory/detail/block_assert.hpp>

namespace ouro::detail {

void ThreadHeap::Mail::open(Place& place, ThreadHeap& target) noexcept {
    deliver(place);
    place.target = &target;
    place.blocks = 0;
    place.parcel = sender_.take_parcel();
    place.parcel_target = place.parcel != nullptr ? &target : nullptr;
    if (place.parcel == nullptr) return;
    place.parcel->count = 0;
    for (Parcel::Entry*& entry : place.recent)
        entry = place.parcel->entries;
}

void ThreadHeap::Mail::add_entry(Place& place, ThreadHeap& target, std::size_t word, std::uint64_t blocks,
                                 std::uint32_t count) noexcept {
    const bool is_full = place.parcel != nullptr && place.parcel->count == Parcel::kEntries;
    if (place.target != &target || is_full) open(place, target);
    if (place.parcel != nullptr) {
        Parcel::Entry& entry = place.parcel->entries[place.parcel->count++];
        entry = {blocks, word};
        place.recent[word % kRecent] = &entry;
        place.blocks += count;
        return;
    }
    sender_.core_.arrive(target, size_class_, word, blocks, count);
}

void ThreadHeap::Mail::deliver(Place& place) const noexcept {
    if (place.parcel != nullptr) place.target->receive(size_class_, *place.parcel, place.blocks);
}

Parcel* ThreadHeap::take_parcel() noexcept {
    for (unsigned tried = 0; tried < kParcels; ++tried) {
        Parcel& parcel = parcels()[next_parcel_++ % kParcels];
        if (parcel.is_taken.load(std::memory_order_acquire)) continue;
        parcel.is_taken.store(true, std::memory_order_relaxed);
        return &parcel;
    }
    return nullptr;
}

void ThreadHeap::receive(unsigned size_class, Parcel& parcel, std::uint32_t blocks) noexcept {
    Queue& queue = queue_[size_class];
    queue.blocks.fetch_add(blocks, std::memory_order_relaxed);
    parcel.next = queue.parcels.load(std::memory_order_relaxed);
    while (!queue.parcels.compare_exchange_weak(parcel.next, &parcel, std::memory_order_seq_cst,
                                                std::memory_order_relaxed)) {
    }
    tell_if_orphan();
}

void ThreadHeap::receive(unsigned size_class, Arrivals& arrivals) noexcept {
    std::atomic<Arrivals*>& first = queue_[size_class].arrivals;
    arrivals.next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(arrivals.next, &arrivals, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
    }
    tell_if_orphan();
}

void ThreadHeap::tell_if_orphan() noexcept {
    if (state.load(std::memory_order_seq_cst) != State::owned) core_.list_for_emptying(*this);
}

bool ThreadHeap::has_mail() const noexcept {
    for (const Queue& queue : queue_) {
        if (queue.parcels.load(std::memory_order_seq_cst) != nullptr ||
            queue.arrivals.load(std::memory_order_seq_cst) != nullptr)
            return true;
    }
    return false;
}

void ThreadHeap::forget_arrivals() noexcept {
    for (Queue& queue : queue_)
        queue.arrivals.store(nullptr, std::memory_order_relaxed);
}

void ThreadHeap::take_arrivals(unsigned size_class) noexcept {
    std::atomic<Arrivals*>& first = queue_[size_class].arrivals;
    if (first.load(std::memory_order_relaxed) == nullptr) return;
    for (Arrivals* arrivals = first.exchange(nullptr, std::memory_order_acquire); arrivals != nullptr;) {
        // It may be in another queue as soon as it is taken.
        Arrivals* const next = arrivals->next;
        take_arrivals(*arrivals);
        arrivals = next;
    }
}

// Puts the blocks into their slab, or sends them on. As long as there is one, the slab is what it was.
void ThreadHeap::take_arrivals(Arrivals& arrivals) noexcept {
    Slab& slab = core_.slab_of(arrivals);
    for (std::uint64_t summary = arrivals.summary.exchange(0, std::memory_order_acq_rel); summary != 0;
         summary &= summary - 1) {
        const auto word = static_cast<std::size_t>(std::countr_zero(summary));
        const std::uint64_t blocks = arrivals.words[word].exchange(0, std::memory_order_acquire);
        if (blocks == 0) continue;
        const std::size_t number = core_.first_word_of(slab) + word;
        ThreadHeap* const owner = slab.owner.load(std::memory_order_acquire);
        OURO_BLOCK_ASSERT(owner != nullptr && slab.size_class < kClassCount, "freed twice", core_.name(),
                          core_.address_of(slab));
        const auto count = static_cast<std::uint32_t>(std::popcount(blocks));
        core_.note_collected(slab.size_class, count);
        if (owner == this) {
            slab.is_freed_elsewhere = true;
            return_to_slab(slab, word, blocks, count);
        } else {
            core_.arrive(*owner, slab.size_class, number, blocks, count);
        }
    }
}

// Puts the blocks of all parcels into their slabs, or sends them on.
void ThreadHeap::open_parcels(unsigned size_class, Mail& mail) noexcept {
    Queue& queue = queue_[size_class];
    if (queue.parcels.load(std::memory_order_relaxed) == nullptr) return;
    std::uint32_t blocks = 0;
    for (Parcel* parcel = queue.parcels.exchange(nullptr, std::memory_order_acquire); parcel != nullptr;) {
        Parcel* const next = parcel->next;
        for (std::uint32_t index = 0; index < parcel->count; ++index) {
            const Parcel::Entry entry = parcel->entries[index];
            const bool is_one = (entry.blocks & (entry.blocks - 1)) == 0;
            const auto count = is_one ? 1 : static_cast<std::uint32_t>(std::popcount(entry.blocks));
            blocks += count;
            Slab& slab = core_.slab_of_word(entry.word);
            ThreadHeap* const owner = slab.owner.load(std::memory_order_acquire);
            OURO_BLOCK_ASSERT(owner != nullptr && slab.size_class == size_class, "freed twice", core_.name(),
                              core_.block_at(size_class, entry.word, entry.blocks));
            if (owner == this) {
                slab.is_freed_elsewhere = true;
                return_to_slab(slab, entry.word % SlabBitmap::kWords, entry.blocks, count);
            } else {
                mail.add(*owner, entry.word, entry.blocks, count);
            }
        }
        parcel->is_taken.store(false, std::memory_order_release);
        parcel = next;
    }
    queue.blocks.fetch_sub(blocks, std::memory_order_relaxed);
}

}  // namespace ouro::detail
