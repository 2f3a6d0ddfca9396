#pragma once

#include <ouro/memory/detail/size_classes.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

class ThreadHeap;

// A list for each class, and one more.
inline constexpr unsigned kOrphanLists = kClassCount + 1;
static_assert(kOrphanLists <= 64);

// Where a heap stands in such lists.
struct OrphanPlaces {
    // A bit for each list that it is in, or about to be.
    std::atomic<std::uint64_t> listed = 0;
    ThreadHeap* next[kOrphanLists] = {};
};

// Heaps of threads that have ended and that have something to give: so that whoever looks for free blocks
// need not ask all the others. A heap may be in a list in vain, and may have become a thread's again.
class OrphanLists {
public:
    // The heap is in the list afterwards, at the latest when all others who add it have returned.
    void add(unsigned list, ThreadHeap& heap) noexcept;
    // Takes all out and calls `visit` with each. Whoever adds one of them meanwhile adds it anew.
    template <class Visit>
    void take_all(unsigned list, Visit visit) noexcept {
        if (first_[list].load(std::memory_order_relaxed) == nullptr) return;
        for (ThreadHeap* heap = first_[list].exchange(nullptr, std::memory_order_seq_cst); heap != nullptr;) {
            ThreadHeap* const next = take_out(list, *heap);
            visit(*heap);
            heap = next;
        }
    }
    // Requires: nobody uses the lists meanwhile.
    void clear() noexcept;

private:
    [[nodiscard]] static ThreadHeap* take_out(unsigned list, ThreadHeap& heap) noexcept;

    std::atomic<ThreadHeap*> first_[kOrphanLists] = {};
};

}  // namespace ouro::detail
