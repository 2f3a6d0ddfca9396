// Blocks of a small-object heap that come home without a parcel.
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>

namespace ouro::detail {

void HeapCore::send_home(unsigned size_class, void* block) noexcept {
    ThreadHeap* const owner = slab_of(block).owner.load(std::memory_order_acquire);
    OURO_BLOCK_ASSERT(owner != nullptr, "freed twice", name_, block);
    // As the push to a cache would have counted.
    other_operations_.fetch_add(1, std::memory_order_relaxed);
    const Slab& slab = slab_of(block);
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - address_of(slab));
    const std::uint32_t index = block_index(size_class, offset);
    arrive(*owner, size_class, first_word_of(slab) + index / 64, std::uint64_t{1} << index % 64, 1);
}

// Once the bits are there, the slab may be another one at any time: its owner may find them by an older bit
// of the summary. What is put into the queue then is empty, or of another slab, and whoever finds it looks
// whose.
void HeapCore::arrive(ThreadHeap& owner, unsigned size_class, std::size_t word, std::uint64_t blocks,
                      std::uint32_t count) noexcept {
    Arrivals& arrivals = arrivals_[word / SlabBitmap::kWords];
    const std::size_t local = word % SlabBitmap::kWords;
    arrived_blocks_[size_class].fetch_add(count, std::memory_order_relaxed);
    const std::uint64_t before = arrivals.words[local].fetch_or(blocks, std::memory_order_acq_rel);
    OURO_BLOCK_ASSERT((before & blocks) == 0, "freed twice", name_,
                      block_at(size_class, word, before & blocks));
    const std::uint64_t bit = std::uint64_t{1} << local;
    if (arrivals.summary.fetch_or(bit, std::memory_order_acq_rel) == 0) owner.receive(size_class, arrivals);
}

void HeapCore::forget_arrivals(std::size_t unit) noexcept {
    Arrivals& arrivals = arrivals_[unit];
    if (arrivals.summary.load(std::memory_order_relaxed) == 0) return;
    arrivals.summary.store(0, std::memory_order_relaxed);
    for (std::atomic<std::uint64_t>& word : arrivals.words)
        word.store(0, std::memory_order_relaxed);
}

void HeapCore::queue_arrivals_again() noexcept {
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap)
        heap->forget_arrivals();
    for (std::size_t unit = 0; unit < units_.usable_units(); ++unit) {
        if (arrivals_[unit].summary.load(std::memory_order_relaxed) == 0) continue;
        Slab& slab = slabs_[unit];
        ThreadHeap* const owner = slab.owner.load(std::memory_order_relaxed);
        if (owner != nullptr && slab.size_class < kClassCount) {
            owner->receive(slab.size_class, arrivals_[unit]);
        } else {
            forget_arrivals(unit);
        }
    }
}

}  // namespace ouro::detail
