#include <ouro/base/math.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

namespace math = ouro::math;

constexpr double kPi = 0x1.921fb54442d18p+1;

template <class T>
constexpr T kInf = math::detail::kInf<T>;

// Comparing bits tells zeros of different signs and NaNs of different payloads apart.
constexpr std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}
constexpr std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

constexpr std::uint64_t kNanBits = 0x7ff8000000000000;
constexpr std::uint32_t kNanBitsFloat = 0x7fc00000;

// NaNs of both signs, quiet and signalling, with a payload.
constexpr std::array kNans = {std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}),
                              std::bit_cast<double>(std::uint64_t{0xfff8000000000000}),
                              std::bit_cast<double>(std::uint64_t{0x7ff0000000000001}),
                              std::bit_cast<double>(std::uint64_t{0xfff123456789abcd})};
constexpr std::array kNansFloat = {std::bit_cast<float>(0x7fc00000u), std::bit_cast<float>(0xffc00000u),
                                   std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0xff923456u)};

struct Known {
    double x;
    double result;
};

template <std::size_t N, class Function>
void expect_known(const char* name, const std::array<Known, N>& table, Function function) {
    for (const Known& row : table)
        EXPECT_EQ(bits(function(row.x)), bits(row.result)) << name << " of " << row.x;
}

// The correctly rounded results, computed with 2,600 bits. 0x1.6ac5b262ca1ffp849 is the double that comes
// nearest to a multiple of pi/2.
TEST(Math, SinesAndCosinesOfKnownAngles) {
    expect_known("sin",
                 std::to_array<Known>({{0.5, 0x1.eaee8744b05fp-2},
                                       {1.0, 0x1.aed548f090ceep-1},
                                       {3.0, 0x1.210386db6d55bp-3},
                                       {100.0, -0x1.03425b78c4db8p-1},
                                       {1e5, 0x1.24daa9c527e96p-5},
                                       {1e22, -0x1.b453ab76bf397p-1},
                                       {0x1.6ac5b262ca1ffp849, 1.0},
                                       {0x1.fffffffffffffp1023, 0x1.452fc98b34e97p-8}}),
                 [](double x) { return math::sin(x); });
    expect_known("cos",
                 std::to_array<Known>({{0.5, 0x1.c1528065b7d5p-1},
                                       {1.0, 0x1.14a280fb5068cp-1},
                                       {3.0, -0x1.fae04be85e5d2p-1},
                                       {100.0, 0x1.b981dbf665fdfp-1},
                                       {1e5, -0x1.ffac3841b3da7p-1},
                                       {1e22, 0x1.0be2cef01c8f4p-1},
                                       {0x1.6ac5b262ca1ffp849, -0x1.14ae72e6ba22fp-61},
                                       {0x1.fffffffffffffp1023, -0x1.fffe62ecfab75p-1}}),
                 [](double x) { return math::cos(x); });
    expect_known("tan",
                 std::to_array<Known>({{0.5, 0x1.17b4f5bf3474ap-1},
                                       {1.0, 0x1.8eb245cbee3a6p+0},
                                       {3.0, -0x1.23ef71254b86fp-3},
                                       {1e22, -0x1.a0f79c1b6b257p+0},
                                       {kPi / 2, 0x1.d02967c31cdb5p+53}}),
                 [](double x) { return math::tan(x); });
}

TEST(Math, FloatSinesOfKnownAngles) {
    EXPECT_EQ(math::sin(1.0F), 0x1.aed548p-1F);
    EXPECT_EQ(math::sin(100.0F), -0x1.03425cp-1F);
    EXPECT_EQ(math::sin(1e10F), -0x1.f334c8p-2F);
    EXPECT_EQ(math::sin(3e38F), 0x1.bff388p-1F);
    EXPECT_EQ(math::cos(1.0F), 0x1.14a28p-1F);
    EXPECT_EQ(math::cos(1e10F), 0x1.bf098ap-1F);
    EXPECT_EQ(math::cos(3e38F), -0x1.efeaf8p-2F);
}

TEST(Math, InverseFunctionsOfKnownArguments) {
    expect_known("atan",
                 std::to_array<Known>({{1e-3, 0x1.0624d77516e16p-10},
                                       {0.25, 0x1.f5b75f92c80ddp-3},
                                       {1.0, 0x1.921fb54442d18p-1},
                                       {3.0, 0x1.3fc176b7a856p+0},
                                       {1e10, 0x1.921fb543d4dep+0}}),
                 [](double x) { return math::atan(x); });
    expect_known("asin",
                 std::to_array<Known>({{1e-3, 0x1.0624e00c1cb16p-10},
                                       {0.5, 0x1.0c152382d7366p-1},
                                       {0.999, 0x1.86ac9ad18f803p+0},
                                       {1.0, kPi / 2}}),
                 [](double x) { return math::asin(x); });
    expect_known("acos",
                 std::to_array<Known>({{-1.0, kPi},
                                       {-0.5, 0x1.0c152382d7366p+1},
                                       {1e-3, 0x1.91de2c0c3fca6p+0},
                                       {0.999, 0x1.6e634e566a29ep-5},
                                       {1.0, 0.0}}),
                 [](double x) { return math::acos(x); });
    EXPECT_EQ(math::atan2(1.0, 2.0), 0x1.dac670561bb4fp-2);
    EXPECT_EQ(math::atan2(-3.0, 4.0), -0x1.4978fa3269ee1p-1);
    EXPECT_EQ(math::atan2(5.0, -12.0), 0x1.5f97315254857p+1);
    EXPECT_EQ(math::atan2(-1.0, -1.0), -0x1.2d97c7f3321d2p+1);
}

TEST(Math, ExponentialsOfKnownArguments) {
    expect_known("exp",
                 std::to_array<Known>({{-745.0, 0x1p-1074},
                                       {-1.0, 0x1.78b56362cef38p-2},
                                       {0.5, 0x1.a61298e1e069cp+0},
                                       {1.0, 0x1.5bf0a8b145769p+1},
                                       {10.0, 0x1.5829dcf95056p+14},
                                       {709.0, 0x1.d422d2be5dc9bp+1022}}),
                 [](double x) { return math::exp(x); });
    expect_known(
        "exp2",
        std::to_array<Known>(
            {{-1.5, 0x1.6a09e667f3bcdp-2}, {0.5, 0x1.6a09e667f3bcdp+0}, {10.25, 0x1.306fe0a31b715p+10}}),
        [](double x) { return math::exp2(x); });
    EXPECT_EQ(math::pow(2.0, 0.5), 0x1.6a09e667f3bcdp+0);
    EXPECT_EQ(math::pow(10.0, -3.0), 1e-3);
    EXPECT_EQ(math::pow(1.5, 100.0), 0x1.69194f299cddap+58);
    EXPECT_EQ(math::pow(0.1, 300.0), 0x1.56e1fc2f8f3bdp-997);
}

TEST(Math, LogarithmsAndRootsOfKnownArguments) {
    expect_known("log",
                 std::to_array<Known>({{0x1p-1074, -0x1.74385446d71c3p+9},
                                       {0.1, -0x1.26bb1bbb55515p+1},
                                       {0.999, -0x1.064670d979b73p-10},
                                       {1.001, 0x1.060354f8c3cc4p-10},
                                       {10.0, 0x1.26bb1bbb55516p+1},
                                       {1e300, 0x1.5963447f87fb5p+9}}),
                 [](double x) { return math::log(x); });
    expect_known("log2",
                 std::to_array<Known>({{0.1, -0x1.a934f0979a371p+1},
                                       {0.999, -0x1.7a6210ffb7151p-10},
                                       {3.0, 0x1.95c01a39fbd68p+0},
                                       {1e300, 0x1.f24a09f1a8b89p+9}}),
                 [](double x) { return math::log2(x); });
    expect_known("rsqrt",
                 std::to_array<Known>({{0x1p-1074, 0x1p537},
                                       {0.1, 0x1.94c583ada5b52p+1},
                                       {2.0, 0x1.6a09e667f3bcdp-1},
                                       {3.0, 0x1.279a74590331cp-1},
                                       {1e300, 0x1.a2fe76a3f9475p-499}}),
                 [](double x) { return math::rsqrt(x); });
}

TEST(Math, WrappedAnglesOfKnownAngles) {
    expect_known("wrap_angle",
                 std::to_array<Known>({{4.0, -0x1.243f6a8885a31p+1},
                                       {10.0, -0x1.487ed5110b461p+1},
                                       {1e6, -0x1.6e254d0f6b398p-2},
                                       {1e22, -0x1.052a587928eacp+0},
                                       {kPi, kPi},
                                       {-kPi, -kPi},
                                       {-0.0, -0.0}}),
                 [](double x) { return math::wrap_angle(x); });
}

template <class T>
std::uint64_t nan_results(T x, std::uint64_t nan_bits) {
    const std::array results = {
        math::sin(x),         math::cos(x),         math::sincos(x).sin, math::sincos(x).cos,
        math::tan(x),         math::atan(x),        math::asin(x),       math::acos(x),
        math::exp(x),         math::exp2(x),        math::log(x),        math::log2(x),
        math::sqrt(x),        math::rsqrt(x),       math::floor(x),      math::ceil(x),
        math::trunc(x),       math::round(x),       math::round_even(x), math::wrap_angle(x),
        math::atan2(x, T(1)), math::atan2(T(1), x), math::pow(x, T(2)),  math::pow(T(2), x)};
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (bits(results[i]) != nan_bits) different |= std::uint64_t{1} << i;
    return different;
}

TEST(Math, EveryNanBecomesTheSameNan) {
    for (const double nan : kNans)
        EXPECT_EQ(nan_results(nan, kNanBits), 0u) << "bits " << bits(nan);
    for (const float nan : kNansFloat)
        EXPECT_EQ(nan_results(nan, kNanBitsFloat), 0u) << "bits " << bits(nan);
}

template <class T>
void expect_domain_errors(std::uint64_t nan_bits) {
    const T inf = kInf<T>;
    const T above_one = T(1) + std::numeric_limits<T>::epsilon();
    for (const T x : {inf, -inf}) {
        EXPECT_EQ(bits(math::sin(x)), nan_bits);
        EXPECT_EQ(bits(math::cos(x)), nan_bits);
        EXPECT_EQ(bits(math::sincos(x).sin), nan_bits);
        EXPECT_EQ(bits(math::sincos(x).cos), nan_bits);
        EXPECT_EQ(bits(math::tan(x)), nan_bits);
        EXPECT_EQ(bits(math::wrap_angle(x)), nan_bits);
    }
    for (const T x : {above_one, -above_one, inf, -inf}) {
        EXPECT_EQ(bits(math::asin(x)), nan_bits);
        EXPECT_EQ(bits(math::acos(x)), nan_bits);
    }
    for (const T x : {T(-1), -std::numeric_limits<T>::denorm_min(), -inf}) {
        EXPECT_EQ(bits(math::log(x)), nan_bits);
        EXPECT_EQ(bits(math::log2(x)), nan_bits);
        EXPECT_EQ(bits(math::sqrt(x)), nan_bits);
        EXPECT_EQ(bits(math::rsqrt(x)), nan_bits);
    }
    EXPECT_EQ(bits(math::pow(T(-2), T(0.5))), nan_bits);
}

TEST(Math, DomainErrorsGiveTheNan) {
    expect_domain_errors<double>(kNanBits);
    expect_domain_errors<float>(kNanBitsFloat);
}

template <class T>
void expect_limits() {
    const T inf = kInf<T>;
    const T zero = 0;
    EXPECT_EQ(bits(math::exp(-inf)), bits(zero));
    EXPECT_EQ(math::exp(inf), inf);
    EXPECT_EQ(bits(math::exp2(-inf)), bits(zero));
    EXPECT_EQ(math::exp2(inf), inf);
    EXPECT_EQ(math::exp(T(-0.0)), T(1));
    EXPECT_EQ(math::log(zero), -inf);
    EXPECT_EQ(math::log(-zero), -inf);
    EXPECT_EQ(math::log2(zero), -inf);
    EXPECT_EQ(bits(math::log(T(1))), bits(zero));
    EXPECT_EQ(bits(math::log2(T(1))), bits(zero));
    EXPECT_EQ(math::log(inf), inf);
    EXPECT_EQ(math::log2(inf), inf);
    EXPECT_EQ(math::sqrt(inf), inf);
    EXPECT_EQ(bits(math::sqrt(-zero)), bits(-zero));
    EXPECT_EQ(math::rsqrt(zero), inf);
    EXPECT_EQ(math::rsqrt(-zero), -inf);
    EXPECT_EQ(bits(math::rsqrt(inf)), bits(zero));
    EXPECT_EQ(math::atan(inf), static_cast<T>(kPi / 2));
    EXPECT_EQ(math::atan(-inf), -static_cast<T>(kPi / 2));
    EXPECT_EQ(bits(math::acos(T(1))), bits(zero));
    EXPECT_EQ(math::cos(zero), T(1));
}

TEST(Math, ZerosAndInfinitiesGiveTheLimits) {
    expect_limits<double>();
    expect_limits<float>();
}

template <class T>
void expect_odd_at_tiny_arguments() {
    for (const T x : {T(0), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), T(1e-30)}) {
        for (const T y : {x, -x}) {
            EXPECT_EQ(bits(math::sin(y)), bits(y));
            EXPECT_EQ(bits(math::tan(y)), bits(y));
            EXPECT_EQ(bits(math::atan(y)), bits(y));
            EXPECT_EQ(bits(math::asin(y)), bits(y));
            EXPECT_EQ(bits(math::wrap_angle(y)), bits(y));
            EXPECT_EQ(bits(math::atan2(y, T(1))), bits(y));
            EXPECT_EQ(math::cos(y), T(1));
        }
    }
}

TEST(Math, TinyArgumentsPassThroughOddFunctions) {
    expect_odd_at_tiny_arguments<double>();
    expect_odd_at_tiny_arguments<float>();
}

TEST(Math, ExponentialsEndWhereTheTypeEnds) {
    EXPECT_LT(math::exp(0x1.62e42fefa39efp+9), kInf<double>);
    EXPECT_EQ(math::exp(0x1.62e42fefa39fp+9), kInf<double>);
    EXPECT_EQ(math::exp(-745.13), 0x1p-1074);
    EXPECT_EQ(math::exp(-745.14), 0.0);
    EXPECT_EQ(math::exp2(1023.0), 0x1p1023);
    EXPECT_EQ(math::exp2(1024.0), kInf<double>);
    EXPECT_EQ(math::exp2(-1074.0), 0x1p-1074);
    EXPECT_EQ(math::exp2(-1075.0), 0.0);
    EXPECT_LT(math::exp(88.72283F), kInf<float>);
    EXPECT_EQ(math::exp(88.72284F), kInf<float>);
    EXPECT_EQ(math::exp2(-149.0F), 0x1p-149F);
    EXPECT_EQ(math::exp2(-150.0F), 0.0F);
}

TEST(Math, PowersOfTwoAreExact) {
    for (int k = -1074; k <= 1023; ++k) {
        const double power = math::exp2(static_cast<double>(k));
        ASSERT_EQ(power,
                  k < -1022 ? math::detail::power_of_two(k + 100) * 0x1p-100 : math::detail::power_of_two(k));
        ASSERT_EQ(math::log2(power), static_cast<double>(k));
        ASSERT_EQ(math::pow(2.0, static_cast<double>(k)), power);
    }
    for (int k = -149; k <= 127; ++k) {
        const float power = math::exp2(static_cast<float>(k));
        ASSERT_EQ(power, static_cast<float>(math::detail::power_of_two(k)));
        ASSERT_EQ(math::log2(power), static_cast<float>(k));
    }
}

// Powers that fit the significand have an exact answer, and rounding must find it.
TEST(Math, SmallIntegerPowersAreExact) {
    for (std::uint64_t base = 2; base <= 100; ++base) {
        std::uint64_t product = 1;
        for (int power = 0; product <= (std::uint64_t{1} << 53) / base; ++power, product *= base) {
            const double expected = static_cast<double>(product);
            ASSERT_EQ(math::pow(static_cast<double>(base), power), expected) << base << " to the " << power;
            const double sign = power % 2 == 0 ? 1.0 : -1.0;
            ASSERT_EQ(math::pow(-static_cast<double>(base), power), sign * expected);
            if (product < (1u << 24)) {
                ASSERT_EQ(math::pow(static_cast<float>(base), static_cast<float>(power)),
                          static_cast<float>(product));
            }
        }
    }
}

template <class T>
void expect_pow_special_cases(std::uint64_t nan_bits, T nan) {
    const T inf = kInf<T>;
    const T zero = 0;
    EXPECT_EQ(math::pow(nan, zero), T(1));
    EXPECT_EQ(math::pow(T(1), nan), T(1));
    EXPECT_EQ(math::pow(inf, -zero), T(1));
    EXPECT_EQ(math::pow(T(-1), inf), T(1));
    EXPECT_EQ(math::pow(T(-1), -inf), T(1));
    EXPECT_EQ(bits(math::pow(nan, T(1))), nan_bits);
    EXPECT_EQ(bits(math::pow(zero, T(3))), bits(zero));
    EXPECT_EQ(bits(math::pow(-zero, T(3))), bits(-zero));
    EXPECT_EQ(bits(math::pow(-zero, T(2))), bits(zero));
    EXPECT_EQ(bits(math::pow(-zero, T(2.5))), bits(zero));
    EXPECT_EQ(math::pow(-zero, T(-3)), -inf);
    EXPECT_EQ(math::pow(-zero, T(-2)), inf);
    EXPECT_EQ(math::pow(zero, -inf), inf);
    EXPECT_EQ(math::pow(T(0.5), -inf), inf);
    EXPECT_EQ(bits(math::pow(T(0.5), inf)), bits(zero));
    EXPECT_EQ(math::pow(T(-2), inf), inf);
    EXPECT_EQ(bits(math::pow(T(-2), -inf)), bits(zero));
    EXPECT_EQ(math::pow(-inf, T(3)), -inf);
    EXPECT_EQ(math::pow(-inf, T(2)), inf);
    EXPECT_EQ(bits(math::pow(-inf, T(-3))), bits(-zero));
    EXPECT_EQ(bits(math::pow(inf, T(-0.5))), bits(zero));
    EXPECT_EQ(math::pow(T(1.5), T(1e30)), inf);
    EXPECT_EQ(bits(math::pow(T(1.5), T(-1e30))), bits(zero));
    EXPECT_EQ(math::pow(T(-1.5), T(1e30)), inf);
}

TEST(Math, PowHasTheSpecialCasesOfC) {
    expect_pow_special_cases<double>(kNanBits, kNans[3]);
    expect_pow_special_cases<float>(kNanBitsFloat, kNansFloat[3]);
}

template <class T>
void expect_atan2_special_cases() {
    const T inf = kInf<T>;
    const T zero = 0;
    const T tiny = std::numeric_limits<T>::denorm_min();
    const T huge = std::numeric_limits<T>::max();
    const T pi = static_cast<T>(kPi);
    const T half = static_cast<T>(kPi / 2);
    for (const T sign : {T(1), T(-1)}) {
        EXPECT_EQ(bits(math::atan2(sign * zero, zero)), bits(sign * zero));
        EXPECT_EQ(math::atan2(sign * zero, -zero), sign * pi);
        EXPECT_EQ(bits(math::atan2(sign * zero, T(3))), bits(sign * zero));
        EXPECT_EQ(math::atan2(sign * zero, T(-3)), sign * pi);
        EXPECT_EQ(math::atan2(sign * T(3), zero), sign * half);
        EXPECT_EQ(math::atan2(sign * T(3), -zero), sign * half);
        EXPECT_EQ(math::atan2(sign * T(3), inf), sign * zero);
        EXPECT_EQ(math::atan2(sign * T(3), -inf), sign * pi);
        EXPECT_EQ(math::atan2(sign * inf, T(3)), sign * half);
        EXPECT_EQ(math::atan2(sign * inf, inf), sign * static_cast<T>(kPi / 4));
        EXPECT_EQ(math::atan2(sign * inf, -inf), sign * static_cast<T>(3 * (kPi / 4)));
        EXPECT_EQ(math::atan2(sign * tiny, tiny), sign * static_cast<T>(kPi / 4));
        EXPECT_EQ(math::atan2(sign * huge, huge), sign * static_cast<T>(kPi / 4));
        EXPECT_EQ(math::atan2(sign * huge, tiny), sign * half);
        EXPECT_EQ(math::atan2(sign * tiny, -huge), sign * pi);
        EXPECT_EQ(bits(math::atan2(sign * tiny, huge)), bits(sign * zero));
    }
}

TEST(Math, Atan2KnowsAllAxesAndDiagonals) {
    expect_atan2_special_cases<double>();
    expect_atan2_special_cases<float>();
}

}  // namespace
