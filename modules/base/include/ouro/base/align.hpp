#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

// Size and alignment arithmetic that cannot wrap around unnoticed. The checked_ functions take sizes that
// nobody has looked at and answer with a Status; the plain ones are for sizes already known to be sound, and
// assert in debug.
namespace ouro {

[[nodiscard]] constexpr bool is_alignment(std::size_t alignment) noexcept {
    // Not by counting bits: processors at the baseline have no instruction for that, and each allocation
    // whose alignment is not a constant comes by here.
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

template <std::unsigned_integral T>
[[nodiscard]] inline Expected<T> checked_add(T a, T b) noexcept {
    T sum{};
    if (__builtin_add_overflow(a, b, &sum)) return Status::size_overflow;
    return sum;
}

template <std::unsigned_integral T>
[[nodiscard]] inline Expected<T> checked_multiply(T a, T b) noexcept {
    T product{};
    if (__builtin_mul_overflow(a, b, &product)) return Status::size_overflow;
    return product;
}

// Requires: alignment is a power of two.
[[nodiscard]] constexpr std::size_t align_down(std::size_t value, std::size_t alignment) noexcept {
    OURO_DEBUG_ASSERT(is_alignment(alignment), "an alignment is a power of two");
    return value & ~(alignment - 1);
}

// Requires: alignment is a power of two, and the result fits.
[[nodiscard]] constexpr std::size_t align_up(std::size_t value, std::size_t alignment) noexcept {
    OURO_DEBUG_ASSERT(is_alignment(alignment), "an alignment is a power of two");
    OURO_DEBUG_ASSERT(value <= std::numeric_limits<std::size_t>::max() - (alignment - 1),
                      "the rounded size overflows");
    return (value + (alignment - 1)) & ~(alignment - 1);
}

// bad_alignment or size_overflow instead of the asserts.
[[nodiscard]] inline Expected<std::size_t> checked_align_up(std::size_t value,
                                                            std::size_t alignment) noexcept {
    if (!is_alignment(alignment)) return Status::bad_alignment;
    if (value > std::numeric_limits<std::size_t>::max() - (alignment - 1)) return Status::size_overflow;
    return align_up(value, alignment);
}

[[nodiscard]] constexpr bool is_aligned(std::size_t value, std::size_t alignment) noexcept {
    OURO_DEBUG_ASSERT(is_alignment(alignment), "an alignment is a power of two");
    return (value & (alignment - 1)) == 0;
}

[[nodiscard]] inline bool is_aligned(const void* pointer, std::size_t alignment) noexcept {
    return is_aligned(static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(pointer)), alignment);
}

// How many bytes to skip from the pointer to the next aligned address.
[[nodiscard]] inline std::size_t padding_to(const void* pointer, std::size_t alignment) noexcept {
    const auto address = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(pointer));
    return (~address + 1) & (alignment - 1);
}

// How many units of the given size cover the value; rounds up, cannot overflow. Requires: unit is not zero.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T units_of(T value, T unit) noexcept {
    return static_cast<T>(value / unit + (value % unit != 0 ? 1 : 0));
}

}  // namespace ouro
