// Whether each free block of a small-object heap lies in one place only: in its slab, in one cache, or on its
// way home. One that was freed twice lies in two.
#include "heap_core_free_blocks.hpp"

#include <ouro/memory/detail/heap_core.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace ouro::detail {

bool FreeBlocks::next() noexcept {
    unit_ = next_unit_;
    next_unit_ = kNone;
    if (unit_ == kNone) return false;
    const Slab& slab = core_.slab_of_word(unit_ * SlabBitmap::kWords);
    std::fill(std::begin(words_), std::end(words_), 0);
    if (slab.has_few()) {
        words_[0] = slab.returned;
        return true;
    }
    for (std::size_t word = 0; word < std::size(words_); ++word)
        if ((slab.returned >> word) % 2 != 0) words_[word] = core_.bitmap_of(slab).words[word];
    return true;
}

void FreeBlocks::add(const void* block) noexcept {
    const Slab& slab = core_.slab_of(block);
    const std::size_t unit = core_.first_word_of(slab) / SlabBitmap::kWords;
    if (unit_ == kNone || unit > unit_) next_unit_ = std::min(next_unit_, unit);
    if (unit != unit_) return;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(block) - core_.address_of(slab));
    const std::uint32_t index = block_index(size_class_, offset);
    std::uint64_t& word = words_[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    are_sound_ &= index < slab.first_fresh && (word & bit) == 0;
    word |= bit;
}

void ThreadHeap::add_free_blocks(unsigned size_class, FreeBlocks& blocks) const noexcept {
    const void* const* const first = slots(size_class);
    for (std::uint32_t index = 0; index < cached_blocks(size_class); ++index)
        blocks.add(first[index]);
    const Queue& queue = queue_[size_class];
    for (const Parcel* parcel = queue.parcels.load(std::memory_order_acquire); parcel != nullptr;
         parcel = parcel->next) {
        for (std::uint32_t index = 0; index < parcel->count; ++index) {
            const Parcel::Entry& entry = parcel->entries[index];
            for (std::uint64_t bits = entry.blocks; bits != 0; bits &= bits - 1)
                blocks.add(core_.block_at(size_class, entry.word, bits));
        }
    }
    // Of slabs that have become another's on the way, in the queue of another class.
    for (const Queue& any : queue_) {
        for (const Arrivals* arrivals = any.arrivals.load(std::memory_order_acquire); arrivals != nullptr;
             arrivals = arrivals->next) {
            const Slab& slab = core_.slab_of(*arrivals);
            if (slab.size_class != size_class) continue;
            for (std::size_t word = 0; word < std::size(arrivals->words); ++word) {
                const std::size_t number = core_.first_word_of(slab) + word;
                for (std::uint64_t bits = arrivals->words[word].load(std::memory_order_relaxed); bits != 0;
                     bits &= bits - 1)
                    blocks.add(core_.block_at(size_class, number, bits));
            }
        }
    }
}

Status HeapCore::check_free_blocks() const noexcept {
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        FreeBlocks blocks(*this, size_class);
        do {
            for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
                 heap = heap->next_heap)
                heap->add_free_blocks(size_class, blocks);
            if (!blocks.are_sound()) return Status::corrupt_data;
        } while (blocks.next());
    }
    return Status::ok;
}

bool ThreadHeap::is_free_here(unsigned size_class, const void* block) const noexcept {
    const void* const* const first = slots(size_class);
    const void* const* const end = first + cached_blocks(size_class);
    if (std::find(first, end, block) != end) return true;
    const Slab& slab = core_.slab_of(block);
    // Only its owner may look.
    if (slab.owner.load(std::memory_order_relaxed) != this) return false;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(block) - core_.address_of(slab));
    const std::uint32_t index = block_index(size_class, offset);
    return !core_.are_out(size_class, core_.first_word_of(slab) + index / 64, std::uint64_t{1} << index % 64);
}

}  // namespace ouro::detail
