// How free blocks leave the cache of a thread: to the slabs of its own heap, or into the mail.
#include "thread_heap_mail.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {
namespace {

// Whether two blocks may have bits in the same word.
bool are_near(const void* one, const void* other, std::size_t word_bytes) noexcept {
    const auto distance = reinterpret_cast<std::uintptr_t>(other) - reinterpret_cast<std::uintptr_t>(one);
    return distance + word_bytes < 2 * word_bytes;
}

// Writes to a free block what it holds, so that its owner's core has no copy of the line when it writes there
// next. A copy that another core has read costs far more to write to than none: such writes wait for each
// other.
OURO_LOOKS_INTO_FREE_MEMORY void take_line(void* block) noexcept {
    const annotate::QuietScope quiet;
    void* volatile* const word = static_cast<void* volatile*>(block);
    *word = *word;
}

}  // namespace

// A block, as a bit, and the range of addresses whose blocks lie in the same word of the slab's bitmap.
struct ThreadHeap::Neighbours {
    unsigned size_class;
    std::uint64_t first;
    const std::byte* start;
    std::size_t bytes;
};

// The first block and those behind it, as bits, up to one that is no neighbour; `next` is that one.
template <bool kIsOurs>
inline std::uint64_t ThreadHeap::gather(const Neighbours& neighbours, void**& next,
                                        void** end) const noexcept {
    std::uint64_t blocks = neighbours.first;
    for (;;) {
        if constexpr (!kIsOurs) take_line(*next);
        if (++next == end) break;
        const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(*next) - neighbours.start);
        if (offset >= neighbours.bytes) break;
        const std::uint64_t bit = std::uint64_t{1} << block_index(neighbours.size_class, offset);
        OURO_BLOCK_ASSERT((blocks & bit) == 0, "freed twice", core_.name(), *next);
        blocks |= bit;
    }
    return blocks;
}

// The slab of a block, its word in the slab's bitmap and its bit there.
struct ThreadHeap::Home {
    Slab& slab;
    std::uint32_t word;
    std::uint64_t bit;
};

inline ThreadHeap::Home ThreadHeap::home_of(unsigned size_class, const void* block) const noexcept {
    Slab& slab = core_.slab_of(block);
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(block) - core_.address_of(slab));
    const std::uint32_t index = block_index(size_class, offset);
    return {slab, index / 64, std::uint64_t{1} << index % 64};
}

inline ThreadHeap::Neighbours ThreadHeap::neighbours_of(unsigned size_class,
                                                        const Home& home) const noexcept {
    const std::size_t word_bytes = std::size_t{64} * kClassBytes[size_class];
    // What lies behind the slab is not in its last word.
    return {size_class, home.bit, core_.address_of(home.slab) + home.word * word_bytes,
            std::min(word_bytes, home.slab.units * UnitMap::kUnitBytes - home.word * word_bytes)};
}

// Of a class with one unit to a slab and more blocks than a word has bits. Whoever frees in no order has no
// neighbours behind each other: then these few steps are most of what a free costs.
void** ThreadHeap::return_own_of_many(unsigned size_class, void** next, void** end) noexcept {
    const HeapCore::Records records = core_.records();
    const std::size_t word_bytes = std::size_t{64} * kClassBytes[size_class];
    while (next != end) {
        void** const first = next++;
        const auto address = reinterpret_cast<std::uintptr_t>(*first);
        const std::size_t unit = core_.units().unit_of(*first);
        Slab& slab = records.slabs[unit];
        if (slab.owner.load(std::memory_order_acquire) != this) return first;
        if (slab.size_class != size_class) [[unlikely]]
            freed_wrongly(*first);
        const std::uint32_t index = block_index(size_class, address % UnitMap::kUnitBytes);
        const std::uint32_t word = index / 64;
        std::uint64_t blocks = std::uint64_t{1} << index % 64;
        std::uint32_t count = 1;
        if (next != end && are_near(*first, *next, word_bytes)) [[unlikely]] {
            next = first;
            blocks = gather<true>(neighbours_of(size_class, {slab, word, blocks}), next, end);
            count = static_cast<std::uint32_t>(next - first);
        }
        return_to_word(slab, records.bitmaps[unit].words[word], word, blocks);
        count_returned(slab, count);
    }
    return next;
}

void** ThreadHeap::return_own_of_few(unsigned size_class, void** next, void** end) noexcept {
    while (next != end) {
        const Home home = home_of(size_class, *next);
        if (home.slab.owner.load(std::memory_order_acquire) != this) break;
        if (home.slab.size_class != size_class) [[unlikely]]
            freed_wrongly(*next);
        void** const first = next;
        const std::uint64_t blocks = gather<true>(neighbours_of(size_class, home), next, end);
        return_to_slab(home.slab, home.word, blocks, static_cast<std::uint32_t>(next - first));
    }
    return next;
}

void** ThreadHeap::post_others(unsigned size_class, void** next, void** end, Mail& mail) noexcept {
    while (next != end) {
        const Home home = home_of(size_class, *next);
        ThreadHeap* const owner = home.slab.owner.load(std::memory_order_acquire);
        // Before all else, or what lies in a slab of this heap with several units would be refused for ever.
        if (owner == nullptr || home.slab.size_class != size_class) [[unlikely]]
            freed_wrongly(*next);
        if (owner == this) break;
        void** const first = next;
        const std::uint64_t blocks = gather<false>(neighbours_of(size_class, home), next, end);
        mail.add(*owner, core_.first_word_of(home.slab) + home.word, blocks,
                 static_cast<std::uint32_t>(next - first));
    }
    return next;
}

bool ThreadHeap::send_home(unsigned size_class, void** first, void** end, Mail& mail) noexcept {
    bool any_own = false;
    while (first != end) {
        void** const others = slab_capacity(size_class, 1) > 64 ? return_own_of_many(size_class, first, end)
                                                                : return_own_of_few(size_class, first, end);
        any_own |= others != first;
        first = post_others(size_class, others, end, mail);
    }
    return any_own;
}

void ThreadHeap::freed_wrongly(const void* block) const noexcept {
    block_assert_failed("slab.owner != nullptr && slab.size_class == size_class",
                        "freed twice, or with a size not its own", __FILE__, __LINE__, core_.name(), block);
}

void ThreadHeap::freed_twice(const Slab& slab, std::size_t word, std::uint64_t blocks) const noexcept {
    block_assert_failed("a block that comes home was out", "freed twice", __FILE__, __LINE__, core_.name(),
                        core_.block_at(slab.size_class, core_.first_word_of(slab) + word, blocks));
}

}  // namespace ouro::detail
