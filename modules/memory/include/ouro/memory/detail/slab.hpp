#pragma once

#include <ouro/memory/detail/size_classes.hpp>
#include <ouro/memory/detail/unit_map.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

class ThreadHeap;

// A few units cut into blocks of one class. Its record lies apart from the blocks, one a unit, so that blocks
// fill whole units, lie at multiples of their size, and cannot be overrun into it.
struct alignas(64) Slab {
    // The heap that may touch everything below. Others only read this, to know where to send a block.
    std::atomic<ThreadHeap*> owner;
    // Its neighbours among the owner's slabs of the class with blocks to give.
    Slab* next;
    Slab* previous;
    // Blocks that came back, linked through their first word.
    void* free;
    // Blocks out of the slab: with users, in caches, on their way back. Written by the owner only.
    std::atomic<std::uint32_t> used;
    // Blocks from here on were never out.
    std::uint32_t first_fresh;
    // Blocks; for a large block, its units.
    std::uint32_t capacity;
    std::uint8_t size_class;
    std::uint8_t units;
    // How many units before this one the slab begins.
    std::uint8_t units_back;
    bool is_listed;

    [[nodiscard]] bool has_blocks() const noexcept { return free != nullptr || first_fresh < capacity; }
};

// What a unit is used for: a class of blocks is its number plus one.
enum class UnitKind : std::uint8_t {
    none = 0,
    first_class = 1,
    heap = 253,
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

// Blocks too large for eight to a unit share several units.
[[nodiscard]] constexpr std::uint8_t slab_units(unsigned size_class) noexcept {
    return kClassBytes[size_class] <= UnitMap::kUnitBytes / 8 ? 1 : 4;
}

[[nodiscard]] constexpr std::uint32_t slab_capacity(unsigned size_class) noexcept {
    return static_cast<std::uint32_t>(slab_units(size_class) * UnitMap::kUnitBytes / kClassBytes[size_class]);
}

// How many free blocks of a class a thread keeps at most: as many as fit in two units, within bounds.
[[nodiscard]] constexpr std::uint32_t cache_capacity(unsigned size_class) noexcept {
    constexpr std::size_t kLeast = 8;
    constexpr std::size_t kMost = 320;
    const std::size_t fitting = 2 * UnitMap::kUnitBytes / kClassBytes[size_class];
    return static_cast<std::uint32_t>(fitting < kLeast ? kLeast : fitting > kMost ? kMost : fitting);
}

[[nodiscard]] constexpr std::uint32_t total_cache_capacity() noexcept {
    std::uint32_t total = 0;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        total += cache_capacity(size_class);
    return total;
}

}  // namespace ouro::detail
