#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/parcel.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <bit>
#include <cstdint>

namespace ouro::detail {

// Blocks of one class on their way to a few other heaps, in an open parcel for each; it is delivered when it
// is full or its place is wanted for another. While the sender has no parcel left, because the owners of
// blocks take no notice, the blocks are noted as arrivals of their slabs, where there is always room.
class ThreadHeap::Mail {
public:
    Mail(ThreadHeap& sender, unsigned size_class) noexcept : sender_(sender), size_class_(size_class) {}
    ~Mail() {
        for (Place& place : places_)
            deliver(place);
    }
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;

    // Some blocks that have bits in one word of the bitmap of a slab.
    [[gnu::always_inline]] void add(ThreadHeap& target, std::size_t word, std::uint64_t blocks,
                                    std::uint32_t count) noexcept {
        Place& place = places_[(reinterpret_cast<std::uintptr_t>(&target) >> UnitMap::kUnitShift) % kPlaces];
        if (place.parcel_target == &target) [[likely]] {
            Parcel::Entry& entry = *place.recent[word % kRecent];
            if (entry.word == word) [[likely]] {
                OURO_BLOCK_ASSERT((entry.blocks & blocks) == 0, "freed twice", sender_.core_.name(),
                                  sender_.core_.block_at(size_class_, word, entry.blocks & blocks));
                entry.blocks |= blocks;
                place.blocks += count;
                return;
            }
        }
        add_entry(place, target, word, blocks, count);
    }

private:
    static constexpr std::size_t kPlaces = 4;
    static constexpr std::size_t kRecent = 16;
    struct Place {
        ThreadHeap* target = nullptr;
        // The same, or null while there is no parcel.
        ThreadHeap* parcel_target = nullptr;
        Parcel* parcel = nullptr;
        // In the parcel.
        std::uint32_t blocks = 0;
        // Entries of the parcel that more blocks of a word may go to: threads free neighbours, but not always
        // in order.
        Parcel::Entry* recent[kRecent];
    };

    void open(Place& place, ThreadHeap& target) noexcept;
    void add_entry(Place& place, ThreadHeap& target, std::size_t word, std::uint64_t blocks,
                   std::uint32_t count) noexcept;
    void deliver(Place& place) const noexcept;

    ThreadHeap& sender_;
    unsigned size_class_;
    Place places_[kPlaces];
};

// Some blocks of a slab of this heap that were out, as bits in one word of its bitmap.
inline void ThreadHeap::return_to_slab(Slab& slab, std::size_t word, std::uint64_t blocks,
                                       std::uint32_t count) noexcept {
    if (slab.has_few()) {
        if ((slab.returned & blocks) != 0) [[unlikely]]
            freed_twice(slab, 0, slab.returned & blocks);
        slab.returned |= blocks;
    } else {
        return_to_word(slab, core_.bitmap_of(slab).words[word], word, blocks);
    }
    count_returned(slab, count);
}

inline void ThreadHeap::return_to_word(Slab& slab, std::uint64_t& bits, std::size_t word,
                                       std::uint64_t blocks) const noexcept {
    const std::uint64_t others = (slab.returned >> word) % 2 != 0 ? bits : 0;
    if ((others & blocks) != 0) [[unlikely]]
        freed_twice(slab, word, others & blocks);
    bits = others | blocks;
    slab.returned |= std::uint64_t{1} << word;
}

inline void ThreadHeap::count_returned(Slab& slab, std::uint32_t count) noexcept {
    const std::uint32_t used = slab.used.load(std::memory_order_relaxed) - count;
    slab.used.store(used, std::memory_order_relaxed);
    if (!slab.is_listed) [[unlikely]]
        list(slab);
    if (used == 0) [[unlikely]]
        keep_or_give_up(slab);
}

}  // namespace ouro::detail
