#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Tells a heap which of its blocks another thread has freed, as bits of its bitmaps: neither side looks into
// the blocks, and neighbours that were freed one after the other take one entry together. Parcels belong to
// the sender, who has a few, and uses each again when it has been read.
struct alignas(64) Parcel {
    struct Entry {
        // Blocks that lie in one word of the bitmaps of all units.
        std::uint64_t blocks;
        std::size_t word;
    };
    static constexpr std::uint32_t kEntries = 39;

    // Below it in the receiver's queue.
    Parcel* next;
    std::uint32_t count;
    // Set by the sender when it begins, cleared by the receiver when it has read everything.
    std::atomic<bool> is_taken;
    Entry entries[kEntries];
};
static_assert(sizeof(Parcel) == 640);

}  // namespace ouro::detail
