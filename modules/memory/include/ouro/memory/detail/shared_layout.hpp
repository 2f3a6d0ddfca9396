#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/detail/size_classes.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What a SharedRegion is made of, as bytes that mean the same in every process and in wasm32: a header, a bit
// a unit that says whether it is taken, a record a unit, the caches, then the units themselves. Nothing of
// this lies in blocks, and no link leads through them.
namespace ouro::detail::shared {

inline constexpr unsigned kUnitShift = 12;
inline constexpr std::size_t kUnitBytes = std::size_t{1} << kUnitShift;
// Larger blocks take whole units of their own.
inline constexpr std::size_t kLargestSmallBytes = 8192;
inline constexpr unsigned kClasses = class_of_size(kLargestSmallBytes) + 1;
// The first class has more blocks a unit than a record has bits.
inline constexpr unsigned kFirstClass = 1;
inline constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

[[nodiscard]] constexpr std::uint32_t slab_units(unsigned size_class) noexcept {
    return kClassBytes[size_class] <= 1024 ? 4 : 16;
}
[[nodiscard]] constexpr std::uint32_t slab_blocks(unsigned size_class) noexcept {
    return slab_units(size_class) * static_cast<std::uint32_t>(kUnitBytes) / kClassBytes[size_class];
}
// How many blocks a cache keeps at most.
inline constexpr std::uint32_t kCacheBlocks = 32;
[[nodiscard]] constexpr std::uint32_t cache_limit(unsigned size_class) noexcept {
    const std::uint32_t wanted = 16384 / kClassBytes[size_class];
    return wanted < 2 ? 2 : wanted < kCacheBlocks ? wanted : kCacheBlocks;
}

// What a unit is, in the lower byte of its kind; the rest is a number that goes with it.
enum class UnitKind : std::uint8_t {
    // Nothing, or the inside of a large block.
    none = 0,
    // The first of a slab, with its size class.
    slab = 1,
    // Another one of a slab, with the distance to the first.
    slab_part = 2,
    // The first of a large block, with the count of units.
    large = 3,
};
[[nodiscard]] constexpr std::uint32_t kind_word(UnitKind kind, std::uint32_t number) noexcept {
    return (number << 8U) | static_cast<std::uint32_t>(kind);
}
[[nodiscard]] constexpr UnitKind kind_of(std::uint32_t word) noexcept {
    return static_cast<UnitKind>(word & 0xFFU);
}
[[nodiscard]] constexpr std::uint32_t number_of(std::uint32_t word) noexcept {
    return word >> 8U;
}

// Whose a slab is. Only who holds it takes blocks out of it; anybody may put some in.
inline constexpr std::uint32_t kStateNone = 0;
inline constexpr std::uint32_t kStateUnlisted = 1;
inline constexpr std::uint32_t kStateListed = 2;
// This and the number of the cache that holds it.
inline constexpr std::uint32_t kStateHeld = 3;

struct Unit {
    static constexpr std::uint32_t kWords = 4;

    std::atomic<std::uint32_t> kind;
    // Of a slab's first unit, and kStateNone of all others.
    std::atomic<std::uint32_t> state;
    // The next slab of a list, plus one.
    std::atomic<std::uint32_t> next;
    std::uint32_t unused;
    // A bit for each free block. Those of a slab go on in the records of its further units.
    std::array<std::atomic<std::uint64_t>, kWords> free;
};
static_assert(sizeof(Unit) == 48);

// A size class's slabs with free blocks: in the lower half of the head the first one, plus one, in the upper
// half a number that each change raises, so that nobody takes a new list for the one it has looked at.
struct alignas(64) SlabList {
    std::atomic<std::uint64_t> head;
    std::array<std::uint64_t, 7> unused;
};

// What a thread keeps for itself. Its counts of use are never reset: they are of all that ever had it.
struct alignas(64) Cache {
    // Zero when nobody has it.
    std::atomic<std::uint64_t> owner;
    std::atomic<std::uint64_t> allocations;
    std::atomic<std::uint64_t> allocated_bytes;
    std::atomic<std::uint64_t> deallocations;
    std::atomic<std::uint64_t> freed_bytes;
    std::atomic<std::uint64_t> failures;
    std::array<std::uint64_t, 2> unused;
    std::array<std::atomic<std::uint32_t>, 48> counts;
    // Offsets of free blocks.
    std::array<std::array<std::atomic<std::uint32_t>, kCacheBlocks>, kClasses> blocks;
};
static_assert(kClasses == 45 && sizeof(Cache) == 6016);

// Where the parts lie.
struct Geometry {
    std::uint64_t bytes;
    std::uint32_t cache_count;
    std::uint32_t unit_count;
    std::uint32_t taken_offset;
    std::uint32_t records_offset;
    std::uint32_t caches_offset;
    std::uint32_t units_offset;

    friend constexpr bool operator==(const Geometry&, const Geometry&) noexcept = default;
};

struct Header {
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 's', 'h', 'r', '\0'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t unused;
    Geometry geometry;
    std::array<std::uint32_t, 4> unused_too;
    // Of the bits of taken units: see RunBits.
    alignas(64) std::atomic<std::uint64_t> hint;
    std::atomic<std::uint64_t> taken_units;
    std::atomic<std::uint64_t> peak_units;
    alignas(64) std::array<SlabList, kClasses> lists;
};
static_assert(offsetof(Header, hint) == 64 && offsetof(Header, lists) == 128 &&
              sizeof(Header) == 128 + 64 * kClasses);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace ouro::detail::shared
