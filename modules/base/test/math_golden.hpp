#pragma once

// One number that stands for the bits of a million results of ouro::math. Shared by the golden test and by
// whoever wants to compare a platform by hand; needs neither heap nor test framework.

#include <ouro/base/math.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace ouro::math_golden {

inline constexpr std::uint32_t kResults = 1'000'000;

// A bijection of 64-bit words that leaves no visible pattern of a counter.
constexpr std::uint64_t scramble(std::uint64_t word) {
    word ^= word >> 32;
    word *= 0xd6e8feb86659fd93u;
    word ^= word >> 29;
    word *= 0xa0761d6478bd642fu;
    return word ^ (word >> 32);
}

constexpr std::uint64_t fold(std::uint64_t hash, std::uint64_t bits) {
    return std::rotl(hash ^ scramble(bits), 23) * 0x9e3779b97f4a7c15u + 1;
}

// An argument from 64 random bits; the lowest three choose its kind.
constexpr double argument(std::uint64_t word) {
    constexpr std::array<double, 16> kSpecial = {0.0,
                                                 -0.0,
                                                 1.0,
                                                 -1.0,
                                                 0.5,
                                                 2.0,
                                                 -3.0,
                                                 0x1p-1074,
                                                 -0x1p-1022,
                                                 0x1p-149,
                                                 0x1.fffffep127,
                                                 0x1.fffffffffffffp1023,
                                                 0x1.921fb54442d18p+0,
                                                 math::detail::kInf<double>,
                                                 -math::detail::kInf<double>,
                                                 math::detail::kNan<double>};
    const std::uint64_t kind = word & 7;
    const std::uint64_t rest = word >> 3;
    // In (-1, 1), a multiple of 2^-52.
    const double unit =
        static_cast<double>(static_cast<std::int64_t>(rest & 0x1f'ffff'ffff'ffffu) - 0x10'0000'0000'0000) *
        0x1p-52;
    if (kind == 0) return std::bit_cast<double>(scramble(rest));
    if (kind == 1) return kSpecial[rest & 15];
    if (kind == 2) return unit * 0x1p-40;
    if (kind == 3) return unit * 0x1p60;
    if (kind == 4) return unit * 700.0;
    if (kind == 5) return unit * 16.0;
    return kind == 6 ? unit : 1.0 + unit * 0x1p-10;
}

template <class T>
struct Result {
    T first;
    T second = 0;
};

template <class T>
Result<T> circular(std::uint32_t function, T x, T y) {
    switch (function) {
        case 0:
            return {math::sin(x)};
        case 1:
            return {math::cos(x)};
        case 2: {
            const math::SinCos<T> both = math::sincos(x);
            return {both.sin, both.cos};
        }
        case 3:
            return {math::tan(x)};
        case 4:
            return {math::atan(x)};
        case 5:
            return {math::atan2(x, y)};
        case 6:
            return {math::asin(x)};
        case 7:
            return {math::acos(x)};
        default:
            return {math::wrap_angle(x)};
    }
}

template <class T>
Result<T> exponential(std::uint32_t function, T x, T y) {
    switch (function) {
        case 0:
            return {math::exp(x)};
        case 1:
            return {math::exp2(x)};
        case 2:
            return {math::log(x)};
        case 3:
            return {math::log2(x)};
        case 4:
            return {math::pow(x, y)};
        case 5:
            return {math::sqrt(x)};
        case 6:
            return {math::rsqrt(x)};
        case 7:
            return {math::floor(x), math::ceil(x)};
        case 8:
            return {math::trunc(x), math::round(x)};
        default:
            return {math::round_even(x)};
    }
}

inline constexpr std::uint32_t kCircular = 9;
inline constexpr std::uint32_t kFunctions = kCircular + 10;

template <class T>
std::uint64_t folded_result(std::uint64_t hash, std::uint32_t function, double x, double y) {
    const T first = static_cast<T>(x);
    const T second = static_cast<T>(y);
    const Result<T> result = function < kCircular ? circular(function, first, second)
                                                  : exponential(function - kCircular, first, second);
    hash = fold(hash, math::detail::bits_of(result.first));
    return fold(hash, math::detail::bits_of(result.second));
}

}  // namespace ouro::math_golden

// The hash of ouro::math_golden::kResults results: every function in turn, for float and for double, of
// ordinary, tiny, huge, special and arbitrary arguments that depend on nothing but integers.
inline std::uint64_t math_golden_hash() {
    namespace golden = ouro::math_golden;
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < golden::kResults; ++i) {
        const double x = golden::argument(golden::scramble(2 * std::uint64_t{i} + 1));
        const double y = golden::argument(golden::scramble(2 * std::uint64_t{i} + 2));
        const std::uint32_t function = (i / 2) % golden::kFunctions;
        hash = i % 2 == 0 ? golden::folded_result<float>(hash, function, x, y)
                          : golden::folded_result<double>(hash, function, x, y);
    }
    return hash;
}
