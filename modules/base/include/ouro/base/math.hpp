#pragma once

// Elementary functions for simulation code: the same bits from every compiler, optimisation level and
// platform.
//
// Contract of every function here
// - The result depends on the arguments alone. Requires round-to-nearest, subnormals not flushed (both are
//   what a program starts with) and -ffp-contract=off, which linking to this library sets.
// - A NaN result is always the same one: 0x7fc00000 (float), 0x7ff8000000000000 (double). A NaN argument
// gives
//   NaN except where pow says otherwise.
// - No errno, no global state, no allocation; safe to call anywhere. All but sqrt, rsqrt, asin and acos are
//   constexpr.
//
// Error bounds, in units of the last place of the exact result:
//   sqrt, floor, ceil, trunc, round, round_even    0.5, that is correctly rounded
//   every other function of float                  0.502
//   exp, exp2 and pow of double                    0.56, and 0.80 where the result is subnormal
//   every other function of double                 0.52
//
// Symmetries hold to the bit: sin, tan, asin, atan and wrap_angle are odd, cos is even.

#include <ouro/base/detail/math_atan.hpp>
#include <ouro/base/detail/math_core.hpp>
#include <ouro/base/detail/math_exp_log.hpp>
#include <ouro/base/detail/math_round.hpp>
#include <ouro/base/detail/math_trig.hpp>

namespace ouro::math {

template <class T>
struct SinCos {
    T sin;
    T cos;
};

// The sine of an angle in radians, of any size. sin(±0) = ±0; NaN for infinities.
constexpr double sin(double x) {
    const double size = detail::magnitude(x);
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<double>;
    const detail::Reduced r = detail::reduce(size);
    const double value = detail::rounded(detail::sin_of(detail::near_sixteenth(r.rest), r.quadrant));
    return detail::flip_sign(value, detail::sign_of(x));
}

constexpr float sin(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<float>;
    const detail::Reduced r = detail::reduce_short(size);
    const double value = detail::turn(detail::sin_short(r.rest.hi), detail::cos_short(r.rest.hi), r.quadrant);
    return detail::flip_sign(static_cast<float>(value), detail::sign_of(x));
}

// The cosine of an angle in radians, of any size. NaN for infinities.
constexpr double cos(double x) {
    const double size = detail::magnitude(x);
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<double>;
    const detail::Reduced r = detail::reduce(size);
    return detail::rounded(detail::sin_of(detail::near_sixteenth(r.rest), r.quadrant + 1));
}

constexpr float cos(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<float>;
    const detail::Reduced r = detail::reduce_short(size);
    return static_cast<float>(
        detail::turn(detail::sin_short(r.rest.hi), detail::cos_short(r.rest.hi), r.quadrant + 1));
}

// Both at once, with the bits of sin(x) and cos(x); the reduction of the angle is shared.
constexpr SinCos<double> sincos(double x) {
    const double size = detail::magnitude(x);
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return {detail::kNan<double>, detail::kNan<double>};
    const detail::Reduced r = detail::reduce(size);
    const detail::NearSixteenth y = detail::near_sixteenth(r.rest);
    return {detail::flip_sign(detail::rounded(detail::sin_of(y, r.quadrant)), detail::sign_of(x)),
            detail::rounded(detail::sin_of(y, r.quadrant + 1))};
}

constexpr SinCos<float> sincos(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return {detail::kNan<float>, detail::kNan<float>};
    const detail::Reduced r = detail::reduce_short(size);
    const double s = detail::sin_short(r.rest.hi);
    const double c = detail::cos_short(r.rest.hi);
    return {detail::flip_sign(static_cast<float>(detail::turn(s, c, r.quadrant)), detail::sign_of(x)),
            static_cast<float>(detail::turn(s, c, r.quadrant + 1))};
}

// The tangent of an angle in radians, of any size. tan(±0) = ±0; NaN for infinities.
constexpr double tan(double x) {
    const double size = detail::magnitude(x);
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<double>;
    return detail::flip_sign(detail::tan_of(detail::reduce(size)), detail::sign_of(x));
}

constexpr float tan(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<float>;
    const detail::Reduced r = detail::reduce_short(size);
    const double s = detail::sin_short(r.rest.hi);
    const double c = detail::cos_short(r.rest.hi);
    const double value = (r.quadrant & 1) != 0 ? -c / s : s / c;
    return detail::flip_sign(static_cast<float>(value), detail::sign_of(x));
}

// The angle within [-pi, pi] (pi rounded to the type) that differs from x by whole turns of the exact 2 pi,
// for x of any size. Angles already within come back unchanged, so wrapping twice is wrapping once.
// NaN for infinities.
constexpr double wrap_angle(double x) {
    const double size = detail::magnitude(x);
    if (size <= detail::kPi.hi) return x;
    if (!(size < detail::kInf<double>)) [[unlikely]]
        return detail::kNan<double>;
    return detail::flip_sign(detail::wrap_of(size), detail::sign_of(x));
}

constexpr float wrap_angle(float x) {
    const float size = detail::magnitude(x);
    if (size <= static_cast<float>(detail::kPi.hi)) return x;
    if (!(size < detail::kInf<float>)) [[unlikely]]
        return detail::kNan<float>;
    return detail::flip_sign(static_cast<float>(detail::wrap_of(static_cast<double>(size))),
                             detail::sign_of(x));
}

// The angle in [-pi/2, pi/2] whose tangent is x. atan(±0) = ±0, atan(±inf) = ±pi/2.
constexpr double atan(double x) {
    // Larger arguments are pi/2 to the last bit, and would overflow inside.
    const double size = detail::magnitude(x) > 0x1p100 ? 0x1p100 : detail::magnitude(x);
    const bool swapped = size > 1.0;
    const double angle = detail::atan_quotient({swapped ? 1.0 : size, 0}, {swapped ? size : 1.0, 0},
                                               detail::octant_pair(swapped, false));
    return detail::canonical(detail::flip_sign(angle, detail::sign_of(x)));
}

constexpr float atan(float x) {
    const double wide = static_cast<double>(detail::magnitude(x));
    const double size = wide > 0x1p100 ? 0x1p100 : wide;
    const double angle = detail::atan2_finite_short(size, 1.0, false);
    return detail::canonical(detail::flip_sign(static_cast<float>(angle), detail::sign_of(x)));
}

// The angle in [-pi, pi] of the point (x, y); its sign is the sign of y. The origin is no error:
// atan2(±0, x) is ±0 for x = +0 and ±pi for x = -0. Infinities give the diagonals and axes they point at.
constexpr double atan2(double y, double x) {
    if (x != x || y != y) [[unlikely]]
        return detail::kNan<double>;
    const double across = detail::magnitude(x);
    const double up = detail::magnitude(y);
    const bool behind = detail::sign_of(x) != 0;
    const bool ordinary =
        across < detail::kInf<double> && up < detail::kInf<double> && (across != 0 || up != 0);
    const double angle =
        ordinary ? detail::atan2_finite(up, across, behind) : detail::atan2_degenerate(up, across, behind);
    return detail::flip_sign(angle, detail::sign_of(y));
}

constexpr float atan2(float y, float x) {
    if (x != x || y != y) [[unlikely]]
        return detail::kNan<float>;
    const double across = static_cast<double>(detail::magnitude(x));
    const double up = static_cast<double>(detail::magnitude(y));
    const bool behind = detail::sign_of(x) != 0;
    const bool ordinary =
        across < detail::kInf<double> && up < detail::kInf<double> && (across != 0 || up != 0);
    const double angle = ordinary ? detail::atan2_finite_short(up, across, behind)
                                  : detail::atan2_degenerate(up, across, behind);
    return detail::flip_sign(static_cast<float>(angle), detail::sign_of(y));
}

// The angle in [-pi/2, pi/2] whose sine is x. asin(±0) = ±0; NaN for |x| > 1.
inline double asin(double x) {
    const double size = detail::magnitude(x);
    if (!(size <= 1.0)) [[unlikely]]
        return detail::kNan<double>;
    const detail::Dd adjacent = detail::cosine_of_sine(size);
    const detail::Dd opposite{size, 0};
    const bool swapped = size > adjacent.hi;
    const double angle = detail::atan_quotient(swapped ? adjacent : opposite, swapped ? opposite : adjacent,
                                               detail::octant_pair(swapped, false));
    return detail::flip_sign(angle, detail::sign_of(x));
}

inline float asin(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size <= 1.0)) [[unlikely]]
        return detail::kNan<float>;
    const double adjacent = detail::hardware_sqrt(1.0 - size * size);
    return detail::flip_sign(static_cast<float>(detail::atan2_finite_short(size, adjacent, false)),
                             detail::sign_of(x));
}

// The angle in [0, pi] whose cosine is x. acos(1) = +0; NaN for |x| > 1.
inline double acos(double x) {
    const double size = detail::magnitude(x);
    if (!(size <= 1.0)) [[unlikely]]
        return detail::kNan<double>;
    const detail::Dd opposite = detail::cosine_of_sine(size);
    const detail::Dd adjacent{size, 0};
    const bool swapped = opposite.hi > size;
    return detail::atan_quotient(swapped ? adjacent : opposite, swapped ? opposite : adjacent,
                                 detail::octant_pair(swapped, detail::sign_of(x) != 0));
}

inline float acos(float x) {
    const double size = static_cast<double>(detail::magnitude(x));
    if (!(size <= 1.0)) [[unlikely]]
        return detail::kNan<float>;
    const double opposite = detail::hardware_sqrt(1.0 - size * size);
    return static_cast<float>(detail::atan2_finite_short(opposite, size, detail::sign_of(x) != 0));
}

// e^x. exp(-inf) = +0, exp(+inf) = +inf; rounds to +inf or to subnormals and +0 where it must.
constexpr double exp(double x) {
    return detail::canonical(detail::exp_of(x, 0.0));
}

constexpr float exp(float x) {
    return detail::canonical(static_cast<float>(detail::exp_short(static_cast<double>(x))));
}

// 2^x, exact for integers. Infinities and range as exp.
constexpr double exp2(double x) {
    return detail::canonical(detail::exp2_of(x));
}

constexpr float exp2(float x) {
    return detail::canonical(static_cast<float>(detail::exp2_short(static_cast<double>(x))));
}

// The natural logarithm. log(±0) = -inf, log(1) = +0, log(+inf) = +inf; NaN for x < 0.
constexpr double log(double x) {
    if (!(x > 0 && x < detail::kInf<double>)) [[unlikely]]
        return detail::log_degenerate(x);
    return detail::log_of(x);
}

constexpr float log(float x) {
    if (!(x > 0 && x < detail::kInf<float>)) [[unlikely]]
        return detail::log_degenerate(x);
    return static_cast<float>(detail::log_short(static_cast<double>(x)));
}

// The logarithm to base 2, exact for powers of two. Special cases as log.
constexpr double log2(double x) {
    if (!(x > 0 && x < detail::kInf<double>)) [[unlikely]]
        return detail::log_degenerate(x);
    return detail::log2_of(x);
}

constexpr float log2(float x) {
    if (!(x > 0 && x < detail::kInf<float>)) [[unlikely]]
        return detail::log_degenerate(x);
    return static_cast<float>(detail::log2_short(static_cast<double>(x)));
}

// x^y. A negative x needs an integer y, otherwise NaN. Special cases are those of C's pow: 1 for y = ±0 or
// x = 1 whatever the other argument is, NaN included; zeros and infinities as the limits, with the sign of x
// where y is an odd integer; 1 for x = -1 and y infinite.
constexpr double pow(double x, double y) {
    const bool finite_power = detail::magnitude(y) < detail::kInf<double>;
    const double size = detail::magnitude(x);
    if (!(size > 0 && size < detail::kInf<double> && finite_power)) [[unlikely]]
        return detail::pow_degenerate(x, y);
    const double result = detail::pow_positive(size, y);
    if (x > 0) [[likely]]
        return result;
    const detail::Parity parity = detail::parity_of(y);
    if (parity == detail::Parity::fraction) return detail::kNan<double>;
    return parity == detail::Parity::odd ? -result : result;
}

constexpr float pow(float x, float y) {
    const bool finite_power = detail::magnitude(y) < detail::kInf<float>;
    const float size = detail::magnitude(x);
    const double wide_y = static_cast<double>(y);
    if (!(size > 0 && size < detail::kInf<float> && finite_power)) [[unlikely]]
        return static_cast<float>(detail::pow_degenerate(static_cast<double>(x), wide_y));
    const auto result = static_cast<float>(detail::pow_positive_short(static_cast<double>(size), wide_y));
    if (x > 0) [[likely]]
        return result;
    const detail::Parity parity = detail::parity_of(wide_y);
    if (parity == detail::Parity::fraction) return detail::kNan<float>;
    return parity == detail::Parity::odd ? -result : result;
}

// The square root. sqrt(-0) = -0; NaN for x < 0.
inline double sqrt(double x) {
    return detail::canonical(detail::hardware_sqrt(x));
}

inline float sqrt(float x) {
    return detail::canonical(detail::hardware_sqrt(x));
}

// 1 / sqrt(x). rsqrt(±0) = ±inf, rsqrt(+inf) = +0; NaN for x < 0.
inline double rsqrt(double x) {
    if (!(x > 0 && x < detail::kInf<double>)) [[unlikely]]
        return detail::canonical(1.0 / detail::hardware_sqrt(x));
    return detail::rsqrt_of(x);
}

inline float rsqrt(float x) {
    return detail::canonical(static_cast<float>(1.0 / detail::hardware_sqrt(static_cast<double>(x))));
}

// The nearest integer towards minus infinity, plus infinity and zero. Zeros, infinities and the sign of a
// zero result are kept.
constexpr double floor(double x) {
    return detail::floor_of(x);
}
constexpr float floor(float x) {
    return detail::floor_of(x);
}
constexpr double ceil(double x) {
    return detail::canonical(-detail::floor_of(-x));
}
constexpr float ceil(float x) {
    return detail::canonical(-detail::floor_of(-x));
}
constexpr double trunc(double x) {
    return detail::canonical(detail::flip_sign(detail::floor_size(detail::magnitude(x)), detail::sign_of(x)));
}
constexpr float trunc(float x) {
    return detail::canonical(detail::flip_sign(detail::floor_size(detail::magnitude(x)), detail::sign_of(x)));
}

// The nearest integer, halves away from zero.
constexpr double round(double x) {
    return detail::canonical(detail::flip_sign(detail::round_size(detail::magnitude(x)), detail::sign_of(x)));
}
constexpr float round(float x) {
    return detail::canonical(detail::flip_sign(detail::round_size(detail::magnitude(x)), detail::sign_of(x)));
}

// The nearest integer, halves to the even one.
constexpr double round_even(double x) {
    return detail::canonical(
        detail::flip_sign(detail::round_even_size(detail::magnitude(x)), detail::sign_of(x)));
}
constexpr float round_even(float x) {
    return detail::canonical(
        detail::flip_sign(detail::round_even_size(detail::magnitude(x)), detail::sign_of(x)));
}

}  // namespace ouro::math
