#pragma once

#include <ouro/memory/detail/slab.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Which blocks of a slab other threads have freed that had no parcel to send them in: a bit each, one record
// a unit, apart from the blocks, which nobody looks into. It is in the queue of one heap, or about to be,
// while its summary is not zero. Only the queue of the slab's owner empties it; what lies in another is sent
// on.
struct alignas(64) Arrivals {
    // Which words are not zero. Set after the word; who clears it empties the words afterwards.
    std::atomic<std::uint64_t> summary;
    // Below it in the queue.
    Arrivals* next;
    std::atomic<std::uint64_t> words[SlabBitmap::kWords];
};

}  // namespace ouro::detail
