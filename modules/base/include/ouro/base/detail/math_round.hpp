#pragma once

// Rounding to integers without library calls.

#include <ouro/base/detail/math_core.hpp>

namespace ouro::math::detail {

// From here on every value of T is an integer; adding and subtracting it rounds smaller ones.
template <class T>
inline constexpr T kAllIntegers = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);

// The integer nearest to x >= 0, ties to even.
template <class T>
constexpr T round_even_size(T size) {
    const T rounded = size + kAllIntegers<T> - kAllIntegers<T>;
    return size < kAllIntegers<T> ? rounded : size;
}

// The largest integer that is not above x >= 0.
template <class T>
constexpr T floor_size(T size) {
    const T rounded = round_even_size(size);
    return rounded > size ? rounded - 1 : rounded;
}

template <class T>
constexpr T ceil_size(T size) {
    const T rounded = round_even_size(size);
    return rounded < size ? rounded + 1 : rounded;
}

template <class T>
constexpr T round_size(T size) {
    const T whole = floor_size(size);
    return size - whole >= T(0.5) ? whole + 1 : whole;
}

template <class T>
constexpr T floor_of(T x) {
    const T size = magnitude(x);
    const T rounded = sign_of(x) != 0 ? ceil_size(size) : floor_size(size);
    return canonical(flip_sign(rounded, sign_of(x)));
}

}  // namespace ouro::math::detail
