#pragma once

// Argument reduction by pi/2 and the sine and cosine of what remains.

#include <ouro/base/detail/math_core.hpp>
#include <ouro/base/detail/math_tables.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ouro::math::detail {

// An angle less the nearest multiple of pi/2, and that multiple modulo 4.
struct Reduced {
    Dd rest;
    std::uint32_t quadrant;
};

// Up to here the multiple of pi/2 has 20 bits, and its products with kHalfPi1 and kHalfPi2 are exact.
inline constexpr double kReduceFastLimit = 0x1p20;
// A rest below this has lost too many bits to the subtractions of the fast reduction.
inline constexpr double kReduceFastFloor = 0x1p-24;

// The upper 64 bits of a * b, in multiplications that every platform has.
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t a_lo = a & 0xffff'ffffu;
    const std::uint64_t a_hi = a >> 32;
    const std::uint64_t b_lo = b & 0xffff'ffffu;
    const std::uint64_t b_hi = b >> 32;
    const std::uint64_t cross = a_hi * b_lo + ((a_lo * b_lo) >> 32);
    const std::uint64_t other = a_lo * b_hi + (cross & 0xffff'ffffu);
    return a_hi * b_hi + (cross >> 32) + (other >> 32);
}

// 192 bits, of which the first two stand before the binary point.
struct QuarterTurns {
    std::uint64_t top;
    std::uint64_t middle;
    std::uint64_t bottom;
};

// significand * 2^exponent * 2/pi, modulo 4. Only the bits of 2/pi that matter are multiplied: those further
// up make multiples of 4.
constexpr QuarterTurns quarter_turns(std::uint64_t significand, std::int32_t exponent) {
    const auto first_bit = static_cast<std::uint32_t>(exponent + 62);
    const std::size_t word = first_bit / 64;
    const std::uint32_t shift = first_bit % 64;
    const auto window = [&](std::size_t i) {
        return (kTwoOverPiWords[word + i] << shift) | ((kTwoOverPiWords[word + i + 1] >> 1) >> (63 - shift));
    };
    const std::uint64_t bottom_window = window(2);
    const std::uint64_t middle_window = window(1);
    const std::uint64_t carry = multiply_high(significand, bottom_window);
    const std::uint64_t middle = significand * middle_window + carry;
    const std::uint64_t top = significand * window(0) + multiply_high(significand, middle_window);
    return {top + (middle < carry ? 1u : 0u), middle, significand * bottom_window};
}

// Exact reduction for finite x >= 1 of any size, in integers (the method of Payne and Hanek). Kept out of
// line for the callers' sake; they do not call the branch unlikely, because gcc would then compile this for
// size.
[[gnu::noinline]] constexpr Reduced reduce_exact(double x) {
    const std::uint64_t bits = bits_of(x);
    const std::uint64_t significand = (bits & 0x000f'ffff'ffff'ffffu) | 0x0010'0000'0000'0000u;
    auto [top, middle, bottom] = quarter_turns(significand, static_cast<std::int32_t>(bits >> 52) - 1075);
    auto quadrant = static_cast<std::uint32_t>(top >> 62);
    top = (top << 2) | (middle >> 62);
    middle = (middle << 2) | (bottom >> 62);
    bottom <<= 2;
    const bool above_half = (top >> 63) != 0;
    if (above_half) {
        ++quadrant;
        top = ~top;
        middle = ~middle;
        bottom = ~bottom;
    }

    std::int32_t leading_zeros = 0;
    if (top == 0) {
        top = middle;
        middle = bottom;
        leading_zeros = 64;
    }
    const int shift = std::countl_zero(top);
    if (shift != 0) {
        top = (top << shift) | (middle >> (64 - shift));
        middle <<= shift;
        leading_zeros += shift;
    }
    const double scale = power_of_two(-53 - leading_zeros);
    const double hi = static_cast<double>(static_cast<std::int64_t>(top >> 11)) * scale;
    const std::uint64_t next = ((top & 0x7ffu) << 42) | (middle >> 22);
    const double lo = static_cast<double>(static_cast<std::int64_t>(next)) * (scale * 0x1p-53);

    const Dd angle = two_prod(hi, kHalfPi.hi);
    const Dd rest = fast_two_sum(angle.hi, angle.lo + (hi * kHalfPi.lo + lo * kHalfPi.hi));
    const std::uint64_t sign = above_half ? kSignBit<double> : 0;
    return {{flip_sign(rest.hi, sign), flip_sign(rest.lo, sign)}, quadrant & 3};
}

// For finite x >= 0. The rest is accurate to about 2^-70 of itself.
constexpr Reduced reduce(double x) {
    if (!(x < kReduceFastLimit)) return reduce_exact(x);
    const double shifted = x * kTwoOverPi + kRoundShift;
    const double count = shifted - kRoundShift;
    const Dd partial = two_sum(x - count * kHalfPi1, -(count * kHalfPi2));
    if (magnitude(partial.hi) < kReduceFastFloor && count != 0) return reduce_exact(x);
    const Dd rest = fast_two_sum(partial.hi, -(count * kHalfPi3));
    return {{rest.hi, rest.lo + partial.lo}, static_cast<std::uint32_t>(bits_of(shifted)) & 3};
}

// The same for floats: the rest's leading part is all they need.
constexpr Reduced reduce_short(double x) {
    if (!(x < kReduceFastLimit)) return reduce_exact(x);
    const double shifted = x * kTwoOverPi + kRoundShift;
    const double count = shifted - kRoundShift;
    const double rest = (x - count * kHalfPi1) - count * kHalfPi2Rest;
    return {{rest, 0}, static_cast<std::uint32_t>(bits_of(shifted)) & 3};
}

// A rest |y| <= pi/4 as k/16 + d, with what the addition theorems need of d.
struct NearSixteenth {
    std::size_t k;
    double d_upper;
    double d_lower;
    double sin_curve;  // sin d - d
    double cos_curve;  // cos d - 1
    std::uint64_t sign;
};

constexpr NearSixteenth near_sixteenth(Dd y) {
    const std::uint64_t sign = sign_of(y.hi);
    const double size = magnitude(y.hi);
    const double shifted = size * 16 + kRoundShift;
    const double d = size - (shifted - kRoundShift) * 0.0625;
    const double d_lo = flip_sign(y.lo, sign);
    const double d_upper = upper_half(d);
    const double z = d * d;
    return {static_cast<std::size_t>(bits_of(shifted) & 15),
            d_upper,
            (d - d_upper) + d_lo,
            (d * z) * poly(z, kSin),
            (z * z) * poly(z, kCos) - (0.5 * z + d * d_lo),
            sign};
}

// The sine of the rest and of `quadrant` quarter turns as an unevaluated sum, accurate to about 2^-60. The
// one product that is not small beside the result is split so that it is exact.
constexpr Dd sin_of(const NearSixteenth& y, std::uint32_t quadrant) {
    const std::size_t odd = quadrant & 1;
    const std::uint64_t descending = std::uint64_t{odd} << 63;
    const Dd level = kSixteenths[y.k][odd];
    const Dd slope_table = kSixteenths[y.k][odd ^ 1];
    const double slope = flip_sign(slope_table.hi, descending);
    const double slope_lo = flip_sign(slope_table.lo, descending);
    const double slope_upper = upper_half(slope);
    const double slope_lower = (slope - slope_upper) + slope_lo;
    const Dd leading = fast_two_sum(level.hi, slope_upper * y.d_upper);
    const double rest =
        (slope_lower * y.d_upper + slope * (y.d_lower + y.sin_curve)) + level.hi * y.cos_curve;
    const std::uint64_t sign = (std::uint64_t{quadrant & 2} << 62) ^ (odd != 0 ? 0 : y.sign);
    return {flip_sign(leading.hi, sign), flip_sign(leading.lo + (level.lo + rest), sign)};
}

constexpr double rounded(Dd x) {
    return x.hi + x.lo;
}

constexpr double sin_short(double y) {
    const double z = y * y;
    return y + (y * z) * poly(z, kSinShort);
}

constexpr double cos_short(double y) {
    const double z = y * y;
    return (1.0 - 0.5 * z) + z * z * poly(z, kCosShort);
}

// The sine of an angle whose rest has this sine and cosine, `quadrant` quarter turns further on.
constexpr double turn(double sin, double cos, std::uint32_t quadrant) {
    const double value = (quadrant & 1) != 0 ? cos : sin;
    return flip_sign(value, std::uint64_t{quadrant & 2} << 62);
}

// The quotient of sine and cosine, with the remainder of the division added.
constexpr double tan_of(const Reduced& r) {
    const NearSixteenth y = near_sixteenth(r.rest);
    const Dd s = sin_of(y, r.quadrant);
    const Dd c = sin_of(y, r.quadrant + 1);
    const Dd top = fast_two_sum(s.hi, s.lo);
    const Dd bottom = fast_two_sum(c.hi, c.lo);
    const double quotient = top.hi / bottom.hi;
    const Dd back = two_prod(quotient, bottom.hi);
    const double rest = ((top.hi - back.hi) - back.lo) + (top.lo - quotient * bottom.lo);
    return quotient + rest / bottom.hi;
}

// The angle in (-pi, pi] that differs from the finite x >= 0 by whole turns.
constexpr double wrap_of(double x) {
    const Reduced r = reduce(x);
    const double half_turn = r.rest.hi > 0 ? -1.0 : 1.0;
    constexpr std::array<double, 4> kQuarters = {0.0, 1.0, 0.0, -1.0};
    const double quarters = r.quadrant == 2 ? 2 * half_turn : kQuarters[r.quadrant];
    const Dd sum = fast_two_sum(quarters * kHalfPi.hi, r.rest.hi);
    return sum.hi + (sum.lo + (r.rest.lo + quarters * kHalfPi.lo));
}

}  // namespace ouro::math::detail
