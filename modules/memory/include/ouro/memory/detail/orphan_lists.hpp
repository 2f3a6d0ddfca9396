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
    // The same for the stack of those that the next thread may have: whether it is there, or about to be, and
    // what lies below it.
    std::atomic<bool> is_stacked = false;
    std::atomic<std::uint32_t> below = 0;
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

// Heaps without a thread, the newest on top: so that a thread that begins need not ask all there are. Each
// has a number, from one on, by which it is found again. A heap may be there in vain, because somebody holds
// it: who does adds it anew afterwards.
class OrphanStack {
public:
    // The heap is there afterwards, or whoever has just taken it out has not looked at its state yet.
    void add(OrphanPlaces& places, std::uint32_t number) noexcept {
        if (places.is_stacked.exchange(true, std::memory_order_seq_cst)) return;
        std::uint64_t top = top_.load(std::memory_order_relaxed);
        do
            places.below.store(static_cast<std::uint32_t>(top), std::memory_order_relaxed);
        while (!top_.compare_exchange_weak(top, later(top, number), std::memory_order_release,
                                           std::memory_order_relaxed));
    }
    // The number of one that is not there any more; none where there was none. `places_of` finds the places
    // by a number.
    template <class PlacesOf>
    [[nodiscard]] std::uint32_t take(PlacesOf places_of) noexcept {
        std::uint64_t top = top_.load(std::memory_order_acquire);
        for (;;) {
            const auto number = static_cast<std::uint32_t>(top);
            if (number == 0) return 0;
            OrphanPlaces& places = places_of(number);
            // Whatever it is where somebody else was first: no top comes twice.
            const std::uint32_t below = places.below.load(std::memory_order_relaxed);
            if (!top_.compare_exchange_weak(top, later(top, below), std::memory_order_acquire)) continue;
            places.is_stacked.store(false, std::memory_order_seq_cst);
            return number;
        }
    }
    // Requires: nobody uses the stack meanwhile.
    void clear() noexcept { top_.store(0, std::memory_order_relaxed); }

private:
    [[nodiscard]] static std::uint64_t later(std::uint64_t top, std::uint32_t number) noexcept {
        return ((top >> 32) + 1) << 32 | number;
    }

    // In the upper half a count of all changes.
    std::atomic<std::uint64_t> top_ = 0;
};

}  // namespace ouro::detail
