#pragma once

#include <ouro/ecs/layout.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// A number below 32 that all rows of a block share and no others do, by one instruction; which one is the
// process's own. For tables outside the image that are filled by it as well.
//
// The baseline of x86-64 has nothing but bsr, which takes eight steps in many processors. The same bytes
// behind a `rep` are lzcnt to those that know it, which counts from the other end, in one step.
[[nodiscard]] inline std::size_t block_key(std::uint32_t row) noexcept {
    const std::uint32_t bits = row | (kFirstBlockRows - 1);
#if defined(__x86_64__) && !defined(__LZCNT__)
    std::size_t key = 0;
    asm("rep bsrl %1, %k0" : "=r"(key) : "r"(bits) : "cc");
    return key;
#else
    return static_cast<std::size_t>(std::countl_zero(bits));
#endif
}

// place_of_row() by the same instruction.
class RowPlacer {
public:
    [[nodiscard]] RowPlace place(std::uint32_t row) const noexcept {
        const auto block = static_cast<std::uint32_t>(block_key(row) ^ turn_) - kLowest;
        return {block, row - (kFirstBlockRows / 2 << block & ~(kFirstBlockRows - 1))};
    }

private:
    static constexpr std::uint32_t kLowest = kFirstBlockShift - 1;

    // 31 where keys count from the other end.
    std::size_t turn_ = block_key(0) ^ kLowest;
};

}  // namespace ouro::detail
