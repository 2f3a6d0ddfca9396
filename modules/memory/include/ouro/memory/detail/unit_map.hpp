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

    // Without `grow_units` the units that are usable are all there will ever be.
    UnitMap(const Memory& memory, Grow grow_units, void* context) noexcept;

    // A run of `count` units. Fails with capacity_exhausted, with sealed, or as growing does.
    [[nodiscard]] Expected<Run> take(std::size_t count) noexcept;
    // The units right behind a run, if they are free now.
    [[nodiscard]] bool take_at(std::size_t first, std::size_t count) noexcept;
    void give_back(std::size_t first, std::size_t count) noexcept;

    // Returns the memory of all free units that may hold some to the system; how many bytes that were.
    // None where the units are a fixed region, whose memory is not ours to return, and none while memory is
    // sealed.
    std::size_t purge() noexcept;

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
    [[nodiscard]] Expected<void> grow(std::size_t count, std::size_t usable) noexcept;
    std::size_t purge_word(std::size_t word) noexcept;

    MemoryBlock units_;
    Word* taken_;
    Word* dirty_;
    Grow grow_;
    void* grow_context_;
    std::atomic<std::size_t> usable_;
    // No word before this one has a free unit, except for moments.
    std::atomic<std::size_t> first_free_word_ = 0;
    std::atomic<std::size_t> free_dirty_ = 0;
};

}  // namespace ouro::detail
