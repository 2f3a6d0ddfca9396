#pragma once

// The arc tangent of a quotient, which serves atan, atan2, asin and acos.

#include <ouro/base/detail/math_core.hpp>
#include <ouro/base/detail/math_tables.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro::math::detail {

// Which of the angles atan q, pi/2 - atan q, pi/2 + atan q, pi - atan q is wanted, for q in [0, 1]:
// an index into kAtanBase.
constexpr std::size_t octant_pair(bool swapped, bool behind) {
    return swapped ? (behind ? 2 : 1) : (behind ? 3 : 0);
}

constexpr double octant_direction(std::size_t octant) {
    return (octant & 1) != 0 ? -1.0 : 1.0;
}

// The pivot c = kAtanPivots[result] that leaves atan((q - c) / (1 + q c)) small, for q = v / u.
constexpr std::size_t nearest_pivot(double v, double u) {
    return std::size_t{v > 0.125 * u} + std::size_t{v > 0.37 * u} + std::size_t{v > 0.72 * u};
}

// atan(v / u), seen from `octant`. Requires 0 <= v <= u and u within [2^-500, 2^500]; unless u >= 1, v must
// not be so much smaller that the products with v underflow.
constexpr double atan_quotient(Dd v, Dd u, std::size_t octant) {
    const std::size_t pivot = nearest_pivot(v.hi, u.hi);
    const double c = kAtanPivots[pivot];
    Dd top = two_sum(v.hi, -(c * u.hi));
    top.lo += v.lo - c * u.lo;
    Dd bottom = fast_two_sum(u.hi, c * v.hi);
    bottom.lo += u.lo + c * v.lo;

    const double t = top.hi / bottom.hi;
    const Dd back = two_prod(t, bottom.hi);
    const double t_rest = (((top.hi - back.hi) - back.lo) + (top.lo - t * bottom.lo)) / bottom.hi;
    const double z = t * t;
    const double correction = (t * z) * poly(z, kAtan) + (t_rest - t_rest * z);

    const double direction = octant_direction(octant);
    const Dd base = kAtanBase[octant][pivot];
    const Dd sum = fast_two_sum(base.hi, direction * t);
    return sum.hi + (sum.lo + (base.lo + direction * correction));
}

// The same for floats, good to about 2^-38. Requires 0 <= v <= u, u > 0, u and 1/u finite.
constexpr double atan_quotient_short(double v, double u, std::size_t octant) {
    const std::size_t pivot = nearest_pivot(v, u);
    const double c = kAtanPivots[pivot];
    const double t = (v - c * u) / (u + c * v);
    const double z = t * t;
    const double angle = t + (t * z) * poly(z, kAtanShort);
    return kAtanBase[octant][pivot].hi + octant_direction(octant) * angle;
}

// |atan2(y, x)| for finite magnitudes x and y that are not both zero; `behind` tells that x was negative.
constexpr double atan2_finite(double y, double x, bool behind) {
    const bool swapped = y > x;
    const std::size_t octant = octant_pair(swapped, behind);
    const double v = swapped ? x : y;
    const double u = swapped ? y : x;
    const double scale = u > 0x1p500 ? 0x1p-600 : (u < 0x1p-500 ? 0x1p600 : 1.0);
    const double v_scaled = v * scale;
    const double u_scaled = u * scale;
    if (!(v_scaled > u_scaled * 0x1p-54)) [[unlikely]] {
        const double quotient = v / u;
        if (octant == 0) return quotient;
        const Dd base = kAtanBase[octant][0];
        return base.hi + (base.lo + octant_direction(octant) * quotient);
    }
    return atan_quotient({v_scaled, 0}, {u_scaled, 0}, octant);
}

constexpr double atan2_finite_short(double y, double x, bool behind) {
    const bool swapped = y > x;
    return atan_quotient_short(swapped ? x : y, swapped ? y : x, octant_pair(swapped, behind));
}

// |atan2(y, x)| where both are zero or one is infinite, as double: a multiple of pi/4.
constexpr double atan2_degenerate(double y, double x, bool behind) {
    if (x == y && x != 0) return behind ? kAtanBase[3][3].hi : kAtanBase[0][3].hi;
    if (y > x) return kHalfPi.hi;
    return behind ? kPi.hi : 0.0;
}

// sqrt(1 - x^2) for |x| <= 1.
inline Dd cosine_of_sine(double x) {
    const Dd square = two_prod(x, x);
    const Dd leading = fast_two_sum(1.0, -square.hi);
    const Dd w = fast_two_sum(leading.hi, leading.lo - square.lo);
    const double root = hardware_sqrt(w.hi);
    const Dd back = two_prod(root, root);
    const double rest = ((w.hi - back.hi) - back.lo) + w.lo;
    return {root, root > 0 ? rest / (2 * root) : 0.0};
}

}  // namespace ouro::math::detail
