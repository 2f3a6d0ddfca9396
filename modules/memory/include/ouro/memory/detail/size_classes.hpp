#pragma once

#include <ouro/base/bits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

// The sizes in which small blocks are made: 8, then steps of 16 up to 256, eight steps to each doubling up to
// a kilobyte, and four beyond. A request takes the smallest class it fits in, so that a ninth of a block is
// unused at most where blocks are many, and a fifth where they are large.
namespace ouro::detail {

inline constexpr std::size_t kLargestClassBytes = std::size_t{64} << 10;
// Requests up to here find their class in a table.
inline constexpr std::size_t kLargestTableBytes = 1024;
inline constexpr std::size_t kLinearStep = 16;
inline constexpr std::size_t kLinearEnd = 256;
// What every class but the first is aligned to at least.
inline constexpr std::size_t kClassAlignment = kLinearStep;
inline constexpr unsigned kFineSteps = 8;
inline constexpr unsigned kCoarseSteps = 4;

inline constexpr unsigned kLinearClasses = 1 + kLinearEnd / kLinearStep;
inline constexpr unsigned kTableClasses =
    kLinearClasses + kFineSteps * (log2_floor(kLargestTableBytes) - log2_floor(kLinearEnd));
inline constexpr unsigned kClassCount =
    kTableClasses + kCoarseSteps * (log2_floor(kLargestClassBytes) - log2_floor(kLargestTableBytes));

[[nodiscard]] constexpr std::array<std::uint32_t, kClassCount> make_class_sizes() noexcept {
    std::array<std::uint32_t, kClassCount> sizes{8};
    unsigned count = 1;
    for (std::size_t size = kLinearStep; size <= kLinearEnd; size += kLinearStep)
        sizes[count++] = static_cast<std::uint32_t>(size);
    for (std::size_t base = kLinearEnd; base < kLargestClassBytes; base *= 2) {
        const unsigned steps = base < kLargestTableBytes ? kFineSteps : kCoarseSteps;
        for (unsigned step = 1; step <= steps; ++step)
            sizes[count++] = static_cast<std::uint32_t>(base + base / steps * step);
    }
    return sizes;
}

inline constexpr std::array<std::uint32_t, kClassCount> kClassBytes = make_class_sizes();
static_assert(kClassBytes.back() == kLargestClassBytes);

[[nodiscard]] constexpr auto make_class_table() noexcept {
    std::array<std::uint8_t, kLargestTableBytes / 8 + 1> table{};
    unsigned size_class = 0;
    for (std::size_t slot = 1; slot < table.size(); ++slot) {
        while (kClassBytes[size_class] < slot * 8)
            ++size_class;
        table[slot] = static_cast<std::uint8_t>(size_class);
    }
    return table;
}

inline constexpr auto kClassTable = make_class_table();

// Requires: 1 <= size <= kLargestTableBytes.
[[nodiscard]] constexpr unsigned table_class(std::size_t size) noexcept {
    return kClassTable[(size + 7) / 8];
}

// The same for blocks aligned to kClassAlignment: none of the first class, and any size from zero on.
[[nodiscard]] constexpr auto make_aligned_class_table() noexcept {
    std::array<std::uint8_t, kLargestTableBytes / kClassAlignment + 1> table{1};
    for (std::size_t slot = 1; slot < table.size(); ++slot)
        table[slot] = static_cast<std::uint8_t>(table_class(slot * kClassAlignment));
    return table;
}

inline constexpr auto kAlignedClassTable = make_aligned_class_table();

// Requires: size <= kLargestTableBytes.
[[nodiscard]] constexpr unsigned aligned_table_class(std::size_t size) noexcept {
    return kAlignedClassTable[(size + kClassAlignment - 1) / kClassAlignment];
}

// Requires: 1 <= size <= kLargestClassBytes.
[[nodiscard]] constexpr unsigned class_of_size(std::size_t size) noexcept {
    if (size <= kLargestTableBytes) return table_class(size);
    // The step is what the three highest bits say; the first of them is always set.
    const unsigned shift = log2_floor(size - 1) - 2;
    const auto step = static_cast<unsigned>((size - 1) >> shift) - kCoarseSteps;
    return kTableClasses + kCoarseSteps * (shift + 2 - log2_floor(kLargestTableBytes)) + step;
}

// The class for a request, or kClassCount when it is too large for all of them. Blocks lie at multiples of
// their size from an address with every alignment, so that a class whose size is a multiple of the alignment
// gives it for nothing. The same for every size from the one asked to the class's own. Requires: size is not
// zero, alignment is a power of two.
[[nodiscard]] constexpr unsigned class_for(std::size_t size, std::size_t alignment) noexcept {
    if (size > kLargestClassBytes || alignment > kLargestClassBytes) return kClassCount;
    unsigned size_class = class_of_size(size < alignment ? alignment : size);
    while (size_class < kClassCount && kClassBytes[size_class] % alignment != 0)
        ++size_class;
    return size_class;
}

}  // namespace ouro::detail
