// Blocks of a small-object heap that come home without a parcel.
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>

#include <bit>
#include <iterator>

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
    if (!had_arrivals_.load(std::memory_order_relaxed)) had_arrivals_.store(true, std::memory_order_relaxed);
    arrived_blocks_[size_class].fetch_add(count, std::memory_order_relaxed);
    const std::uint64_t before = arrivals.words[local].fetch_or(blocks, std::memory_order_acq_rel);
    OURO_BLOCK_ASSERT((before & blocks) == 0, "freed twice", name_,
                      block_at(size_class, word, before & blocks));
    const std::uint64_t bit = std::uint64_t{1} << local;
    if (arrivals.summary.fetch_or(bit, std::memory_order_acq_rel) == 0) owner.receive(size_class, arrivals);
}

void HeapCore::forget_arrivals(std::size_t unit) noexcept {
    Arrivals& arrivals = arrivals_[unit];
    // Whatever the summary says: a thread that a fork has left behind may have been between the two.
    if (arrivals.summary.load(std::memory_order_relaxed) != 0)
        arrivals.summary.store(0, std::memory_order_relaxed);
    for (std::atomic<std::uint64_t>& word : arrivals.words)
        if (word.load(std::memory_order_relaxed) != 0) word.store(0, std::memory_order_relaxed);
}

std::uint64_t HeapCore::sum_up(Arrivals& arrivals, std::uint32_t& blocks) noexcept {
    std::uint64_t summary = 0;
    for (std::size_t word = 0; word < std::size(arrivals.words); ++word) {
        const std::uint64_t bits = arrivals.words[word].load(std::memory_order_relaxed);
        if (bits == 0) continue;
        summary |= std::uint64_t{1} << word;
        blocks += static_cast<std::uint32_t>(std::popcount(bits));
    }
    arrivals.summary.store(summary, std::memory_order_relaxed);
    return summary;
}

void HeapCore::queue_arrivals_again() noexcept {
    // As in most processes: then there is nothing to look at, which would take long in a large heap.
    if (!had_arrivals_.load(std::memory_order_relaxed)) return;
    for (ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_heap)
        heap->forget_arrivals();
    for (std::atomic<std::uint32_t>& blocks : arrived_blocks_)
        blocks.store(0, std::memory_order_relaxed);
    // By the words alone: summaries and counts are behind them where a thread was lost.
    for (std::size_t unit = 0; unit < units_.usable_units(); ++unit) {
        const Slab& slab = slabs_[unit];
        ThreadHeap* const owner = slab.owner.load(std::memory_order_relaxed);
        const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
        std::uint32_t blocks = 0;
        // A kept run has an owner too, and may have the class of a slab that was there before.
        if (owner == nullptr || !is_slab(kind) || slab.size_class >= kClassCount) {
            forget_arrivals(unit);
        } else if (sum_up(arrivals_[unit], blocks) != 0) {
            arrived_blocks_[slab.size_class].fetch_add(blocks, std::memory_order_relaxed);
            owner->receive(slab.size_class, arrivals_[unit]);
        }
    }
}

}  // namespace ouro::detail
