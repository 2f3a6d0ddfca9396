#pragma once

#include <ouro/ecs/detail/change_planes.hpp>
#include <ouro/ecs/layout.hpp>

#include <cstdint>

namespace ouro::detail {

// The first row of an archetype that came in this tick or, if that is asked for, in the one before; all
// behind it did so too. None: UINT32_MAX.
[[nodiscard]] inline std::uint32_t first_that_came(const ArchetypeRecord& archetype, std::uint32_t now,
                                                   bool only_now) noexcept {
    const std::uint32_t age = now - archetype.added_tick;
    if (age > 1 || (age == 1 && only_now)) return UINT32_MAX;
    return age == 0 && !only_now ? archetype.added_before : archetype.added_from;
}

// Of 64 rows from `first` on, those from another one on.
[[nodiscard]] inline std::uint64_t rows_from(std::uint32_t from, std::uint32_t first) noexcept {
    if (from <= first) return ~std::uint64_t{0};
    return from - first >= 64 ? 0 : ~std::uint64_t{0} << (from - first);
}

// Of 64 rows from `first` on, those that came in this tick or, if that is asked for, in the one before.
[[nodiscard]] inline std::uint64_t rows_that_came(const ArchetypeRecord& archetype, std::uint32_t now,
                                                  bool only_now, std::uint32_t first) noexcept {
    return rows_from(first_that_came(archetype, now, only_now), first);
}

// Which rows of a block a term lets pass, 64 at a time. What holds for the whole block is looked up once.
class RowFilter {
public:
    // Those that were changed, or came from row `came` of the block on.
    RowFilter(const ChangePlanes::Bits& bits, std::uint32_t came) noexcept : bits_(bits), came_(came) {}
    // Those that are not switched off.
    explicit RowFilter(const std::uint64_t* disabled) noexcept
        : bits_{disabled, nullptr, 0}, inverts_(~std::uint64_t{0}) {}

    [[nodiscard]] std::uint64_t word(std::uint32_t number) const noexcept {
        std::uint64_t word = bits_.all;
        // Others may set bits of other rows meanwhile.
        if (bits_.one != nullptr) word |= __atomic_load_n(bits_.one + number, __ATOMIC_RELAXED);
        if (bits_.other != nullptr) word |= __atomic_load_n(bits_.other + number, __ATOMIC_RELAXED);
        word ^= inverts_;
        if (came_ != UINT32_MAX) word |= rows_from(came_, number * 64);
        return word;
    }
    // Whether none can pass of the first `rows`.
    [[nodiscard]] bool is_closed(std::uint32_t rows) const noexcept {
        return inverts_ == 0 && bits_.all == 0 && bits_.one == nullptr && bits_.other == nullptr &&
               came_ >= rows;
    }
    // Whether all do, without looking at bits.
    [[nodiscard]] bool is_open() const noexcept {
        return inverts_ == 0 ? bits_.all != 0 || came_ == 0 : bits_.one == nullptr;
    }

private:
    ChangePlanes::Bits bits_;
    std::uint64_t inverts_ = 0;
    std::uint32_t came_ = UINT32_MAX;
};

}  // namespace ouro::detail
