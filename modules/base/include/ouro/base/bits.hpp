#pragma once

#include <ouro/base/assert.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace ouro {

template <std::unsigned_integral T>
inline constexpr unsigned kBitsOf = std::numeric_limits<T>::digits;

// A word with the lowest `count` bits set. Requires: count <= the word's bits.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T low_mask(unsigned count) noexcept {
    OURO_DEBUG_ASSERT(count <= kBitsOf<T>, "a word has fewer bits");
    return count == kBitsOf<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

// Requires: value is not zero.
template <std::unsigned_integral T>
[[nodiscard]] constexpr unsigned log2_floor(T value) noexcept {
    OURO_DEBUG_ASSERT(value != 0, "zero has no logarithm");
    return static_cast<unsigned>(std::bit_width(value)) - 1;
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr unsigned log2_ceil(T value) noexcept {
    OURO_DEBUG_ASSERT(value != 0, "zero has no logarithm");
    return static_cast<unsigned>(std::bit_width(static_cast<T>(value - 1)));
}

// Calls visit(index) for each set bit, lowest first.
template <std::unsigned_integral T, class Visit>
constexpr void for_each_bit(T word, Visit&& visit) {
    while (word != 0) {
        visit(static_cast<unsigned>(std::countr_zero(word)));
        word = static_cast<T>(word & (word - 1));
    }
}

// Bit arrays are spans of 64-bit words, least significant bit first, so that their bytes mean the same
// everywhere.
[[nodiscard]] constexpr std::size_t words_for_bits(std::size_t bits) noexcept {
    return bits / 64 + (bits % 64 != 0 ? 1 : 0);
}

[[nodiscard]] constexpr bool test_bit(std::span<const std::uint64_t> words, std::size_t index) noexcept {
    return (words[index / 64] >> (index % 64) & 1) != 0;
}

constexpr void set_bit(std::span<std::uint64_t> words, std::size_t index) noexcept {
    words[index / 64] |= std::uint64_t{1} << (index % 64);
}

constexpr void clear_bit(std::span<std::uint64_t> words, std::size_t index) noexcept {
    words[index / 64] &= ~(std::uint64_t{1} << (index % 64));
}

// Sets bits [first, first + count). Requires: they lie in the span.
constexpr void set_bits(std::span<std::uint64_t> words, std::size_t first, std::size_t count) noexcept {
    while (count != 0) {
        const auto shift = static_cast<unsigned>(first % 64);
        const unsigned here = count < 64 - shift ? static_cast<unsigned>(count) : 64 - shift;
        words[first / 64] |= low_mask<std::uint64_t>(here) << shift;
        first += here;
        count -= here;
    }
}

// The lowest set bit at or after `from`, or `words.size() * 64` when there is none.
[[nodiscard]] constexpr std::size_t find_set_bit(std::span<const std::uint64_t> words,
                                                 std::size_t from = 0) noexcept {
    const std::size_t end = words.size() * 64;
    if (from >= end) return end;
    std::size_t word = from / 64;
    std::uint64_t rest = words[word] & ~low_mask<std::uint64_t>(static_cast<unsigned>(from % 64));
    while (rest == 0) {
        if (++word == words.size()) return end;
        rest = words[word];
    }
    return word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
}

}  // namespace ouro
