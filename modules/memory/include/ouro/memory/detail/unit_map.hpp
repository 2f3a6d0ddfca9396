#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Hands out runs of units (64 KiB, aligned to their size) from one range of addresses, lowest first. One bit
// a unit says whether it is taken, another whether it may hold old bytes. There is no lock: a run is claimed
// and released with atomic operations on the bits themselves, so that neighbours join by being free, and a
// thread that stops half-way stops nobody else.
class UnitMap {
public:
    static constexpr unsigned kUnitShift = 16;
    static constexpr std::size_t kUnitBytes = std::size_t{1} << kUnitShift;
    static constexpr std::size_t kUnitsPerWord = 64;
    static constexpr std::size_t kNoUnit = ~std::size_t{0};
    // A huge page of most systems.
    static constexpr std::size_t kHugeUnits = 32;

    using Word = std::atomic<std::uint64_t>;

    struct Run {
        std::size_t first = kNoUnit;
        std::size_t count = 0;
        // Memory of the system that was never written, or was given back since.
        bool reads_zero = false;
    };

    struct Memory {
        // The units; starts at a multiple of kUnitBytes.
        MemoryBlock units;
        // One bit a unit each, zero at first, as far as units are usable.
        Word* taken = nullptr;
        Word* dirty = nullptr;
        // Units that are usable from the start.
        std::size_t usable_units = 0;
    };

    // Makes more units usable, and their share of the metadata with them. May be called by several threads
    // at once, also for the same units.
    using Grow = Expected<void> (*)(void* context, std::size_t first_unit, std::size_t end_unit);

    struct Growth {
        // Without it the units that are usable are all there will ever be.
        Grow make_usable = nullptr;
        // Told when there are more than before, by the thread that grew; may be null.
        void (*has_grown)(void* context) = nullptr;
        void* context = nullptr;
        // Beyond so many units, as many become usable as fill huge pages. Requires then: the first unit lies
        // at a multiple of one.
        std::size_t huge_from_units = kNoUnit;
    };

    UnitMap(const Memory& memory, const Growth& growth) noexcept;

    // A run of `count` units. Fails with capacity_exhausted, with sealed, or as growing does. Before it
    // grows or fails it waits for units that a purge holds, a moment or a few of them, never longer.
    [[nodiscard]] Expected<Run> take(std::size_t count) noexcept;
    // The units right behind a run, if they are free now.
    [[nodiscard]] bool take_at(std::size_t first, std::size_t count) noexcept;
    void give_back(std::size_t first, std::size_t count) noexcept;
    // The same for units whose memory has gone elsewhere: they read zero.
    void give_back_empty(std::size_t first, std::size_t count) noexcept { unclaim(first, count); }

    // Brings the memory of a free run of so many units into memory; they are free as before. Fails as take
    // and os::prefault do.
    [[nodiscard]] Expected<void> prewarm(std::size_t count) noexcept;

    // Returns the memory of all free units that may hold some to the system; how many bytes that were.
    // None where the units are a fixed region, whose memory is not ours to return, and none while memory is
    // sealed.
    std::size_t purge() noexcept;
    // In the child of a fork, whose other threads are gone: what they were in the middle of is not counted
    // on any more. The units they held stay taken, unless somebody who knows them gives them back before.
    void forget_threads() noexcept;

    [[nodiscard]] std::byte* address_of(std::size_t unit) const noexcept {
        return units_.data + (unit << kUnitShift);
    }
    // Requires: owns(address).
    [[nodiscard]] std::size_t unit_of(const void* address) const noexcept {
        return (reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(units_.data)) >>
               kUnitShift;
    }
    [[nodiscard]] bool owns(const void* address) const noexcept { return units_.contains(address); }

    [[nodiscard]] std::size_t unit_count() const noexcept { return units_.size >> kUnitShift; }
    [[nodiscard]] std::size_t usable_units() const noexcept {
        return usable_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool can_grow() const noexcept { return growth_.make_usable != nullptr; }
    [[nodiscard]] std::size_t free_dirty_units() const noexcept {
        return free_dirty_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_taken(std::size_t unit) const noexcept;
    [[nodiscard]] MemoryBlock units() const noexcept { return units_; }

private:
    [[nodiscard]] std::size_t find_and_claim(std::size_t count, std::size_t usable) noexcept;
    [[nodiscard]] bool claim(std::size_t first, std::size_t count) noexcept;
    void unclaim(std::size_t first, std::size_t count) noexcept;
    // Clears the dirty bits of a claimed run; how many there were.
    std::size_t clear_dirty(std::size_t first, std::size_t count) noexcept;
    // Whether a run of so many could ever be there if nothing was given back any more.
    [[nodiscard]] bool can_fit(std::size_t count, std::size_t usable) const noexcept;
    [[nodiscard]] Expected<void> grow(std::size_t count, std::size_t usable) noexcept;
    [[nodiscard]] std::uint32_t version() const noexcept {
        return static_cast<std::uint32_t>(hint_.load(std::memory_order_acquire) >> 32U);
    }
    // What a search that found nothing goes by.
    struct Search {
        std::uint32_t version = 0;
        std::uint64_t purges = 0;
        unsigned retries = 0;
        std::uint64_t begin_ns = 0;
    };
    void begin(Search& search) const noexcept;
    // Whether to search again, after a while: units were given back since it began, or a purge holds some.
    [[nodiscard]] bool should_retry(Search& search, std::uint64_t patience_ns) noexcept;
    std::size_t purge_word(std::size_t word) noexcept;

    MemoryBlock units_;
    Word* taken_;
    Word* dirty_;
    Growth growth_;
    std::atomic<std::size_t> usable_;
    // Whoever takes or gives back units writes from here on; all others read what stands before, and behind.
    //
    // In the lower half a word before which none has a free unit, except for moments; in the upper half a
    // version, which changes whenever units are given back. So whoever found that all before a word is taken
    // can tell whether that is still true.
    alignas(64) std::atomic<std::uint64_t> hint_ = 0;
    // Purges under way in the lower half, and in the upper half those that have ended; and what this was when
    // somebody waited for them in vain: once is enough for a thread that is stopped.
    std::atomic<std::uint64_t> purges_ = 0;
    std::atomic<std::uint64_t> stuck_purges_ = 0;
    std::atomic<std::size_t> free_dirty_ = 0;
};

}  // namespace ouro::detail
