#pragma once

// Which free block is taken: on the way of every allocation that no kept block serves.
#include <ouro/memory/detail/tlsf_control.hpp>

#include <bit>
#include <cstdint>

namespace ouro::detail {

// Zones of the class that holds blocks both smaller and larger than asked, tried before the classes above.
inline constexpr int kTlsfProbes = 2;

// The class of a size also holds smaller blocks: looks at a few, so that a block freed is found again by the
// next request of its size.
[[gnu::always_inline]] inline std::uint32_t TlsfControl::probe(std::uint32_t index,
                                                               std::uint32_t units) const noexcept {
    std::uint64_t zones = zones_of(index);
    for (int step = 0; zones != 0 && step < kTlsfProbes; ++step, zones &= zones - 1) {
        const std::uint32_t record = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
        if (load(record, kUnits) >= units) return record;
    }
    return 0;
}

// The lowest block of a level or of any above it, as exactly as zones tell.
[[gnu::always_inline]] inline std::uint32_t TlsfControl::lowest_from(std::uint32_t level) const noexcept {
    const std::uint64_t zones = reach_[level];
    if (zones == 0) return 0;
    const auto zone = static_cast<std::uint32_t>(std::countr_zero(zones));
    while (slots_of(level, zone) == 0)
        ++level;
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(slots_of(level, zone)));
    return head_of(level * kSlots + slot, zone);
}

// Of the blocks that fit well the lowest one. Where none does, a larger one must be cut: the lowest of those
// that leave a rest which is larger than what is taken, and so is of use to others. None when there is only
// what leaves less.
[[gnu::always_inline]] inline std::uint32_t TlsfControl::choose(std::uint32_t units) const noexcept {
    const std::uint32_t exact = class_of(units);
    const std::uint32_t fitting = class_fitting(units);
    const std::uint32_t level = fitting / kSlots;
    if (level >= level_count_) return 0;
    if (exact != fitting) {
        if (const std::uint32_t record = probe(exact, units); record != 0) return record;
    }
    if (zones_of(fitting) != 0) return lowest_of(fitting);
    return lowest_from(level + kRoomyLevels);
}

}  // namespace ouro::detail
