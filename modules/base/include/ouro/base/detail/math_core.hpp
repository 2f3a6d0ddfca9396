#pragma once

// The arithmetic under ouro::math: bit access, error-free sums and products, polynomials, square roots.
//
// Everything here is built from IEEE + - * / and sqrt in round-to-nearest, comparisons and integer
// operations, in an order fixed by the source, so that every conforming compiler produces the same bits.

#include <array>
#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__SSE2__) && !defined(__clang__)
#    include <emmintrin.h>
#endif

#ifdef __FAST_MATH__
#    error "ouro::math needs IEEE arithmetic: compile without -ffast-math (and without -Ofast)"
#endif

static_assert(FLT_EVAL_METHOD == 0, "ouro::math needs float and double evaluated in their own precision");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

namespace ouro::math::detail {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
inline constexpr BitsOf<T> kSignBit = BitsOf<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
inline constexpr T kInf = std::numeric_limits<T>::infinity();

// The one NaN that functions return: quiet, positive, no payload.
template <class T>
inline constexpr T kNan = std::bit_cast<T>(sizeof(T) == 4 ? static_cast<BitsOf<T>>(0x7fc00000u)
                                                          : static_cast<BitsOf<T>>(0x7ff8000000000000u));

template <class T>
constexpr BitsOf<T> bits_of(T x) {
    return std::bit_cast<BitsOf<T>>(x);
}

template <class T>
constexpr T magnitude(T x) {
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits_of(x) & ~kSignBit<T>));
}

template <class T>
constexpr BitsOf<T> sign_of(T x) {
    return bits_of(x) & kSignBit<T>;
}

// x with its sign flipped where `sign` has the sign bit set.
template <class T>
constexpr T flip_sign(T x, BitsOf<T> sign) {
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits_of(x) ^ sign));
}

template <class T>
constexpr T canonical(T x) {
    return x == x ? x : kNan<T>;
}

// Adding it rounds a double below 2^51 in magnitude to an integer, left in the low bits of the sum.
inline constexpr double kRoundShift = 0x1.8p52;

// An unevaluated sum hi + lo, with lo small beside hi.
struct Dd {
    double hi;
    double lo;
};

// a + b exactly; requires a == 0 or |a| >= |b|.
constexpr Dd fast_two_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

// a + b exactly.
constexpr Dd two_sum(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    const double a_part = sum - b_part;
    return {sum, (a - a_part) + (b - b_part)};
}

// The upper 26 significant bits of x: products of two such numbers are exact.
constexpr double upper_half(double x) {
    return std::bit_cast<double>(bits_of(x) & 0xffff'ffff'f800'0000u);
}

// a * b to about 106 bits.
constexpr Dd two_prod(double a, double b) {
    const double product = a * b;
    const double a_hi = upper_half(a);
    const double a_lo = a - a_hi;
    const double b_hi = upper_half(b);
    const double b_lo = b - b_hi;
    return {product, ((a_hi * b_hi - product) + (a_hi * b_lo + a_lo * b_hi)) + a_lo * b_lo};
}

// 2^exponent, for exponents of normal numbers.
constexpr double power_of_two(std::int32_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(std::int64_t{exponent} + 1023) << 52);
}

// c[0] + c[1] x + c[2] x^2 + ..., as a balanced tree: a third of Horner's latency.
template <std::size_t First, std::size_t Count, std::size_t N, std::size_t Powers>
constexpr double poly_tree(const std::array<double, N>& c, const std::array<double, Powers>& squares) {
    if constexpr (Count == 1) {
        return c[First];
    } else {
        constexpr std::size_t kLow = std::bit_ceil(Count) / 2;
        return poly_tree<First, kLow>(c, squares) +
               squares[std::countr_zero(kLow)] * poly_tree<First + kLow, Count - kLow>(c, squares);
    }
}

template <std::size_t N>
constexpr double poly(double x, const std::array<double, N>& c) {
    const double x2 = x * x;
    const double x4 = x2 * x2;
    const std::array<double, 4> squares{x, x2, x4, x4 * x4};
    static_assert(N <= 16);
    return poly_tree<0, N>(c, squares);
}

// IEEE square roots as one instruction. The plain builtins keep a library call for negative
// arguments (it sets errno), which a freestanding program does not have.
inline double hardware_sqrt(double x) {
#if defined(__clang__)
    return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__)
    const __m128d v = _mm_set_sd(x);
    return _mm_cvtsd_f64(_mm_sqrt_sd(v, v));
#else
    return __builtin_sqrt(x);
#endif
}

inline float hardware_sqrt(float x) {
#if defined(__clang__)
    return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__)
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
#else
    return __builtin_sqrtf(x);
#endif
}

// 1 / sqrt(x) for positive finite x. One step on the exact remainders of root and quotient takes out
// their two roundings.
inline double rsqrt_of(double x) {
    const bool tiny = x < 0x1p-500;
    const double scaled = tiny ? x * 0x1p600 : x;
    const double root = hardware_sqrt(scaled);
    const Dd square = two_prod(root, root);
    const double square_rest = (scaled - square.hi) - square.lo;
    const double inverse = 1.0 / root;
    const Dd one = two_prod(inverse, root);
    const double one_rest = (1.0 - one.hi) - one.lo;
    const double result = inverse + inverse * (one_rest - 0.5 * square_rest * inverse * inverse);
    return tiny ? result * 0x1p300 : result;
}

}  // namespace ouro::math::detail
