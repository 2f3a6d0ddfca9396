#pragma once

// Exponentials, logarithms and powers of positive finite numbers.

#include <ouro/base/detail/math_core.hpp>
#include <ouro/base/detail/math_tables.hpp>

#include <bit>
#include <cstdint>

namespace ouro::math::detail {

// x held within [low, high]; NaN stays NaN.
constexpr double clamped(double x, double low, double high) {
    const double below = x > high ? high : x;
    return below < low ? low : below;
}

// The integer that adding kRoundShift left in the low bits of `shifted`.
constexpr std::int32_t rounded_part(double shifted) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits_of(shifted)));
}

// 2^(k/16) * exp(r), for |r.hi| <= ln(2)/32. Two factors scale, because one alone may overflow or lose bits.
constexpr double exp_scaled(Dd r, std::int32_t k) {
    const Dd root = kRootsOfTwo[static_cast<std::uint32_t>(k) & 15];
    const double growth = r.hi + (r.lo + (r.hi * r.hi) * poly(r.hi, kExp));
    const double value = root.hi + (root.lo + root.hi * growth);
    const std::int32_t exponent = k >> 4;
    const std::int32_t half = exponent >> 1;
    return value * power_of_two(half) * power_of_two(exponent - half);
}

// Beyond these bounds exp is infinite or zero anyway, and exponents stay in the range of power_of_two.
inline constexpr double kExpLow = -760.0;
inline constexpr double kExpHigh = 720.0;

// exp(x + tail). NaN in, some NaN out.
constexpr double exp_of(double x, double tail) {
    const double held = clamped(x, kExpLow, kExpHigh);
    const double shifted = held * (16 * kLog2E.hi) + kRoundShift;
    const double k = shifted - kRoundShift;
    const double tail_held = held == x ? tail : 0.0;
    return exp_scaled(fast_two_sum(held - k * (kLn2Hi / 16), tail_held - k * (kLn2Lo / 16)),
                      rounded_part(shifted));
}

constexpr double exp2_of(double x) {
    constexpr double kSixteenthShift = kRoundShift / 16;
    const double held = clamped(x, -1100.0, 1040.0);
    const double shifted = held + kSixteenthShift;
    const double r = held - (shifted - kSixteenthShift);
    const double upper = upper_half(r);
    const double rest = (r - upper) * kLn2Upper + r * kLn2Lower;
    return exp_scaled(fast_two_sum(upper * kLn2Upper, rest), rounded_part(shifted));
}

// The same three for floats, good to about 2^-39; the caller's rounding to float makes the infinities.
constexpr double exp_scaled_short(double r, std::int32_t k) {
    return (1.0 + (r + (r * r) * poly(r, kExpShort))) * power_of_two(k);
}

constexpr double exp_short(double x) {
    const double held = clamped(x, -110.0, 100.0);
    const double shifted = held * kLog2E.hi + kRoundShift;
    const double k = shifted - kRoundShift;
    return exp_scaled_short((held - k * kLn2Hi) - k * kLn2Lo, rounded_part(shifted));
}

constexpr double exp2_short(double x) {
    const double held = clamped(x, -160.0, 140.0);
    const double shifted = held + kRoundShift;
    return exp_scaled_short((held - (shifted - kRoundShift)) * (kLn2Upper + kLn2Lower),
                            rounded_part(shifted));
}

// x = 2^k * (1 + f) / slice.factor, for positive finite x.
struct LogSplit {
    double k;
    Dd f;
    const LogSlice* slice;
};

constexpr LogSplit split_for_log(double x) {
    const bool subnormal = x < 0x1p-1022;
    const std::uint64_t bits = bits_of(subnormal ? x * 0x1p54 : x);
    const std::uint64_t above = bits - kLogFirstSlice;
    const double significand = std::bit_cast<double>(bits - (above & 0xfff0'0000'0000'0000u));
    const auto exponent = static_cast<std::int32_t>(static_cast<std::int64_t>(above) >> 52);
    const LogSlice& slice = kLogSlices[(above >> 46) & 63];
    const double upper = upper_half(significand);
    const Dd f = fast_two_sum(upper * slice.factor - 1.0, (significand - upper) * slice.factor);
    return {static_cast<double>(exponent - (subnormal ? 54 : 0)), f, &slice};
}

// log(x) rounded once at the end.
constexpr double log_of(double x) {
    const LogSplit s = split_for_log(x);
    const double f = s.f.hi;
    const Dd leading = fast_two_sum(s.k * kLn2Hi + s.slice->hi, f);
    const double small = s.f.lo + (s.k * kLn2Lo + s.slice->lo);
    const double f2 = f * f;
    return leading.hi + ((leading.lo + small) + (f2 * (f * poly(f, kLog)) - 0.5 * f2));
}

// log(x) to about 2^-66 of itself, less k * ln 2 where `k` is given as 0.
constexpr Dd log_of_split(const LogSplit& s, double k) {
    const double f = s.f.hi;
    const double upper = upper_half(f);
    const double half_square = 0.5 * upper * upper;
    const double half_square_rest = 0.5 * (f - upper) * (f + upper) + f * s.f.lo;
    const Dd leading = fast_two_sum(k * kLn2Hi + s.slice->hi, f);
    const Dd next = fast_two_sum(leading.hi, -half_square);
    const double small = s.f.lo + (k * kLn2Lo + s.slice->lo);
    const double curve = f * f * (f * poly(f, kLog));
    return fast_two_sum(next.hi, next.lo + (leading.lo + (small + (curve - half_square_rest))));
}

// log2(x): exact for powers of two.
constexpr double log2_of(double x) {
    const LogSplit s = split_for_log(x);
    const Dd natural = log_of_split(s, 0.0);
    const Dd scaled = two_prod(natural.hi, kLog2E.hi);
    const Dd sum = fast_two_sum(s.k, scaled.hi);
    return sum.hi + (sum.lo + (scaled.lo + (natural.hi * kLog2E.lo + natural.lo * kLog2E.hi)));
}

// For floats, whose significand times the factor is exact, good to about 2^-49: log(x) - k * ln 2 - slice.
struct LogSplitShort {
    double k;
    double fraction;
    const LogSlice* slice;
};

// Requires x positive, finite and normal, with a significand of at most 24 bits.
constexpr LogSplitShort split_for_log_short(double x) {
    const std::uint64_t above = bits_of(x) - kLogFirstSlice;
    const double significand = std::bit_cast<double>(bits_of(x) - (above & 0xfff0'0000'0000'0000u));
    const auto exponent = static_cast<std::int32_t>(static_cast<std::int64_t>(above) >> 52);
    const LogSlice& slice = kLogSlices[(above >> 46) & 63];
    const double f = significand * slice.factor - 1.0;
    const double f2 = f * f;
    return {static_cast<double>(exponent), f + (f2 * (f * poly(f, kLogShort)) - 0.5 * f2), &slice};
}

constexpr double log_short(double x) {
    const LogSplitShort s = split_for_log_short(x);
    return (s.k * kLn2Hi + s.slice->hi) + (s.fraction + (s.k * kLn2Lo + s.slice->lo));
}

constexpr double log2_short(double x) {
    const LogSplitShort s = split_for_log_short(x);
    return s.k + (s.slice->hi + (s.fraction + s.slice->lo)) * kLog2E.hi;
}

// log or log2 of what is not positive and finite.
template <class T>
constexpr T log_degenerate(T x) {
    if (x == 0) return -kInf<T>;
    return x > 0 ? x : kNan<T>;
}

// x^y for positive finite x and finite y.
constexpr double pow_positive(double x, double y) {
    // A larger exponent changes nothing: 2^64 already takes every x but 1 to zero or infinity.
    const double y_held = clamped(y, -0x1p64, 0x1p64);
    const LogSplit s = split_for_log(x);
    const Dd natural = log_of_split(s, s.k);
    const Dd product = two_prod(natural.hi, y_held);
    return exp_of(product.hi, product.lo + natural.lo * y_held);
}

constexpr double pow_positive_short(double x, double y) {
    return exp_short(y * log_short(x));
}

enum class Parity : std::uint8_t { fraction, even, odd };

// Whether a finite y is an integer, and which kind.
constexpr Parity parity_of(double y) {
    const double size = magnitude(y);
    if (size >= 0x1p53) return Parity::even;
    const auto whole = static_cast<std::int64_t>(size);
    if (static_cast<double>(whole) != size) return Parity::fraction;
    return (whole & 1) != 0 ? Parity::odd : Parity::even;
}

// x^y where x is zero or infinite, or an argument is NaN or y infinite, with the results C gives pow.
constexpr double pow_degenerate(double x, double y) {
    if (y == 0 || x == 1) return 1.0;
    if (x != x || y != y) return kNan<double>;
    const double size = magnitude(x);
    if (magnitude(y) == kInf<double>) {
        if (size == 1) return 1.0;
        return (size > 1) == (y > 0) ? kInf<double> : 0.0;
    }
    const double result = (size > 1) == (y > 0) ? kInf<double> : 0.0;
    return parity_of(y) == Parity::odd ? flip_sign(result, sign_of(x)) : result;
}

}  // namespace ouro::math::detail
