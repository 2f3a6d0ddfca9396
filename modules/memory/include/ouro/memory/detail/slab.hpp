#pragma once

#include <ouro/memory/detail/size_classes.hpp>
#include <ouro/memory/detail/unit_map.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

class ThreadHeap;

// In records of units that are no slab's.
inline constexpr std::uint8_t kNoClass = 0xff;

// What a unit of the kind large_head is: the first of a large block; of a run that a thread keeps; or
// neither, after it was once. Threads that keep runs change this, in a line for each unit, and the kinds, of
// which many share a line, only where a run begins for the first time, and where one goes back.
enum class RunPart : std::uint8_t { live, kept, inside };

// A few units cut into blocks of one class. Its record lies apart from the blocks, one a unit, so that blocks
// fill whole units, lie at multiples of their size, and cannot be overrun into it.
struct alignas(64) Slab {
    // The heap that may touch everything below. Others only read this, to know where to send a block. For a
    // kept run, the heap that keeps it.
    std::atomic<ThreadHeap*> owner;
    // Its neighbours among the owner's slabs of the class with blocks to give.
    Slab* next;
    Slab* previous;
    // Which blocks are in the slab and were out before: a bit each where there are few; otherwise a bit for
    // each word of its bitmap that is not zero.
    std::uint64_t returned;
    // Blocks out of the slab: with users, in caches, on their way back. Written by the owner only.
    std::atomic<std::uint32_t> used;
    // Blocks from here on were never out.
    std::uint32_t first_fresh;
    // Blocks; for a large block or a kept run, its units. Whoever counts reads the latter at any time: see
    // set_capacity.
    std::uint32_t capacity;
    std::uint8_t size_class;
    std::uint8_t units;
    // How many units before this one the slab begins. Whoever counts reads it at any time.
    std::atomic<std::uint8_t> units_back;
    bool is_listed;
    // Other threads have freed blocks of it.
    bool is_freed_elsewhere;
    // For units of the kind large_head. Whoever counts reads it at any time.
    std::atomic<RunPart> run_part;
    // The place of a kept run among those of its thread, in the records of its first and last unit; anything
    // elsewhere. Neighbours read it at any time.
    std::atomic<std::uint8_t> run_place;

    void set_capacity(std::uint32_t blocks_or_units) noexcept {
        std::atomic_ref(capacity).store(blocks_or_units, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint32_t seen_capacity() noexcept {
        return std::atomic_ref(capacity).load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool has_blocks() const noexcept { return returned != 0 || first_fresh < capacity; }
    [[nodiscard]] bool has_few() const noexcept { return capacity <= 64; }
};

// For a slab of many blocks, one bit each: set when it is in the slab and was out before. Apart from the
// blocks too, so that free memory is not touched, and a block that comes back twice is noticed.
struct SlabBitmap {
    static constexpr std::uint32_t kBlocks = 4096;
    static constexpr std::uint32_t kWords = kBlocks / 64;

    std::uint64_t words[kWords];
};

// What a unit is used for: a class of blocks is its number plus one.
enum class UnitKind : std::uint8_t {
    none = 0,
    first_class = 1,
    heap = 253,
    // Perhaps the first of a large block: the record of the unit says what it is.
    large_head = 254,
    large_body = 255
};

[[nodiscard]] constexpr UnitKind kind_of_class(unsigned size_class) noexcept {
    return static_cast<UnitKind>(size_class + 1);
}
[[nodiscard]] constexpr bool is_slab(UnitKind kind) noexcept {
    return kind >= UnitKind::first_class && static_cast<unsigned>(kind) <= kClassCount;
}
// Requires: is_slab(kind).
[[nodiscard]] constexpr unsigned class_of_kind(UnitKind kind) noexcept {
    return static_cast<unsigned>(kind) - 1;
}

// Blocks too large for eight to a unit share several units; or lie in one, when there are not as many free
// side by side.
[[nodiscard]] constexpr std::uint8_t slab_units(unsigned size_class) noexcept {
    return kClassBytes[size_class] <= UnitMap::kUnitBytes / 8 ? 1 : 4;
}

// As many as fit, and as a bitmap has bits for: of the smallest class that is half of the unit.
[[nodiscard]] constexpr std::uint32_t slab_capacity(unsigned size_class, std::uint8_t units) noexcept {
    const std::size_t fitting = units * UnitMap::kUnitBytes / kClassBytes[size_class];
    return fitting < SlabBitmap::kBlocks ? static_cast<std::uint32_t>(fitting) : SlabBitmap::kBlocks;
}

// What offsets in a slab are multiplied with and shifted by to be divided by the size of a block.
inline constexpr unsigned kReciprocalShift = 40;
[[nodiscard]] constexpr std::array<std::uint64_t, kClassCount> make_reciprocals() noexcept {
    std::array<std::uint64_t, kClassCount> reciprocals{};
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        reciprocals[size_class] = (std::uint64_t{1} << kReciprocalShift) / kClassBytes[size_class] + 1;
    return reciprocals;
}
inline constexpr std::array<std::uint64_t, kClassCount> kClassReciprocals = make_reciprocals();

// Which block of a slab an offset lies in.
[[nodiscard]] constexpr std::uint32_t block_index(unsigned size_class, std::size_t offset) noexcept {
    return static_cast<std::uint32_t>((offset * kClassReciprocals[size_class]) >> kReciprocalShift);
}

// How many free blocks of a class a thread keeps at most: two megabytes, and not many. More would save
// some ways to the slabs, but blocks come from there in the order of their addresses, and from here in the
// order in which they were freed: a program that builds something anew finds more of it in the processor's
// cache.
[[nodiscard]] constexpr std::uint32_t cache_capacity(unsigned size_class) noexcept {
    constexpr std::size_t kBytes = std::size_t{2} << 20;
    constexpr std::size_t kMost = 512;
    const std::size_t fitting = kBytes / kClassBytes[size_class];
    return static_cast<std::uint32_t>(fitting > kMost ? kMost : fitting);
}

// Where each class's slots begin in a thread's cache, and at the end where the last one's end.
[[nodiscard]] constexpr std::array<std::uint32_t, kClassCount + 1> make_slot_offsets() noexcept {
    std::array<std::uint32_t, kClassCount + 1> offsets{};
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        offsets[size_class + 1] = offsets[size_class] + cache_capacity(size_class);
    return offsets;
}
inline constexpr std::array<std::uint32_t, kClassCount + 1> kSlotOffsets = make_slot_offsets();

}  // namespace ouro::detail
