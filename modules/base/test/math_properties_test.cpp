#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>

#include <bit>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

namespace math = ouro::math;

constexpr std::uint64_t kSeed = 0x70726f70;
constexpr int kDraws = 200'000;

constexpr std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}
constexpr std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

// Any bit pattern: all sizes, both signs, NaNs and infinities among them.
template <class T>
T any(ouro::Random& random) {
    if constexpr (sizeof(T) == 4) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    } else {
        return std::bit_cast<double>(random.next());
    }
}

double within(ouro::Random& random, double low, double high) {
    return low + (high - low) * (static_cast<double>(random.next() >> 11) * 0x1p-53);
}

// Equal in bits but for the sign, or both the NaN.
template <class T>
bool opposite(T a, T b) {
    return a != a ? b != b : bits(a) == bits(-b);
}

template <class T>
void sweep_symmetries(std::uint64_t stream) {
    ouro::Random random(kSeed, stream);
    for (int i = 0; i < kDraws; ++i) {
        const T x = any<T>(random);
        const T y = any<T>(random);
        const bool odd = opposite(math::sin(x), math::sin(-x)) && opposite(math::tan(x), math::tan(-x)) &&
                         opposite(math::atan(x), math::atan(-x)) && opposite(math::asin(x), math::asin(-x)) &&
                         opposite(math::wrap_angle(x), math::wrap_angle(-x)) &&
                         opposite(math::trunc(x), math::trunc(-x)) &&
                         opposite(math::floor(x), math::ceil(-x)) &&
                         opposite(math::atan2(y, x), math::atan2(-y, x));
        ASSERT_TRUE(odd) << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(bits(math::cos(x)), bits(math::cos(-x))) << "seed " << kSeed << " draw " << i;
        const math::SinCos<T> both = math::sincos(x);
        ASSERT_EQ(bits(both.sin), bits(math::sin(x))) << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(bits(both.cos), bits(math::cos(x))) << "seed " << kSeed << " draw " << i;
    }
}

TEST(MathProperties, SymmetriesHoldToTheBit) {
    sweep_symmetries<float>(1);
    sweep_symmetries<double>(2);
}

// Results stay within the ranges of the functions, whatever the bits of the argument.
template <class T>
void sweep_ranges(std::uint64_t stream) {
    ouro::Random random(kSeed, stream);
    const T pi = static_cast<T>(0x1.921fb54442d18p+1);
    for (int i = 0; i < kDraws; ++i) {
        const T x = any<T>(random);
        const T y = any<T>(random);
        const auto at_most = [](T value, T bound) { return !(math::detail::magnitude(value) > bound); };
        const bool held = at_most(math::sin(x), 1) && at_most(math::cos(x), 1) &&
                          at_most(math::atan(x), pi / 2) && at_most(math::atan2(x, y), pi) &&
                          at_most(math::wrap_angle(x), pi) && !(math::exp(x) < 0) && !(math::exp2(x) < 0) &&
                          !(math::pow(math::detail::magnitude(x), y) < 0);
        ASSERT_TRUE(held) << "seed " << kSeed << " draw " << i;
        const T s = math::sin(x);
        const T in_range = s != s ? T(0) : s;
        ASSERT_TRUE(at_most(math::asin(in_range), pi / 2)) << "seed " << kSeed << " draw " << i;
        ASSERT_TRUE(math::acos(in_range) >= 0 && math::acos(in_range) <= pi)
            << "seed " << kSeed << " draw " << i;
    }
}

template <class T>
void sweep_wrapping(std::uint64_t stream) {
    ouro::Random random(kSeed, stream);
    for (int i = 0; i < kDraws; ++i) {
        const T x = any<T>(random);
        const T wrapped = math::wrap_angle(i % 2 == 0 ? x : static_cast<T>(within(random, -100.0, 100.0)));
        ASSERT_EQ(bits(math::wrap_angle(wrapped)), bits(wrapped)) << "seed " << kSeed << " draw " << i;
    }
}

TEST(MathProperties, WrappingTwiceIsWrappingOnce) {
    sweep_wrapping<float>(9);
    sweep_wrapping<double>(10);
}

TEST(MathProperties, ResultsStayInRange) {
    sweep_ranges<float>(3);
    sweep_ranges<double>(4);
}

// Neighbouring floats in order give results in order. Holds for floats because they are rounded from a
// double whose own error is far below their spacing.
TEST(MathProperties, FloatFunctionsAreMonotonic) {
    ouro::Random random(kSeed, 5);
    for (int i = 0; i < kDraws; ++i) {
        const auto x = static_cast<float>(within(random, 1e-6, 1.0));
        const float next = std::bit_cast<float>(bits(x) + 1);
        const bool rising = math::sin(x) <= math::sin(next) && math::tan(x) <= math::tan(next) &&
                            math::atan(x) <= math::atan(next) && math::asin(x) <= math::asin(next) &&
                            math::exp(x) <= math::exp(next) && math::log(x) <= math::log(next) &&
                            math::sqrt(x) <= math::sqrt(next);
        const bool falling = math::cos(x) >= math::cos(next) && math::acos(x) >= math::acos(next) &&
                             math::rsqrt(x) >= math::rsqrt(next);
        ASSERT_TRUE(rising && falling) << "seed " << kSeed << " draw " << i;
    }
}

// What a function does, its inverse undoes, up to the roundings of both.
TEST(MathProperties, InversesUndo) {
    ouro::Random random(kSeed, 6);
    for (int i = 0; i < kDraws; ++i) {
        const double x = within(random, -1.0, 1.0);
        const double size = math::detail::magnitude(x);
        ASSERT_NEAR(math::sin(math::asin(x)), x, 0x1p-52) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::cos(math::acos(x)), x, 0x1p-51) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::tan(math::atan(x)), x, 0x1p-51) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::log(math::exp(x)), x, 0x1p-51) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::log2(math::exp2(x)), x, 0x1p-51) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::pow(size, 2.0), x * x, 0x1p-53) << "seed " << kSeed << " draw " << i;
        ASSERT_NEAR(math::rsqrt(size) * math::sqrt(size), 1.0, 0x1p-51) << "seed " << kSeed << " draw " << i;
        const math::SinCos<double> both = math::sincos(x * 1e9);
        ASSERT_NEAR(both.sin * both.sin + both.cos * both.cos, 1.0, 0x1p-51)
            << "seed " << kSeed << " draw " << i;
    }
}

template <class T>
void sweep_rounding(std::uint64_t stream) {
    ouro::Random random(kSeed, stream);
    for (int i = 0; i < kDraws; ++i) {
        const auto whole = static_cast<std::int64_t>(random.next() % 2001) - 1000;
        const auto eighths = static_cast<std::int64_t>(random.next() % 8);
        const T x = static_cast<T>(whole) + static_cast<T>(eighths) / 8;
        const std::int64_t up = whole + (eighths != 0 ? 1 : 0);
        const bool nearer_up = eighths > 4 || (eighths == 4 && whole >= 0);
        const bool even_up = eighths > 4 || (eighths == 4 && whole % 2 != 0);
        ASSERT_EQ(math::floor(x), static_cast<T>(whole)) << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(math::ceil(x), static_cast<T>(up)) << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(math::trunc(x), static_cast<T>(x < 0 ? up : whole)) << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(math::round(x), static_cast<T>(nearer_up ? up : whole))
            << "seed " << kSeed << " draw " << i;
        ASSERT_EQ(math::round_even(x), static_cast<T>(even_up ? up : whole))
            << "seed " << kSeed << " draw " << i;
    }
}

TEST(MathProperties, RoundingAgreesWithIntegers) {
    sweep_rounding<float>(7);
    sweep_rounding<double>(8);
}

TEST(MathProperties, RoundingKeepsWhatIsWholeAlready) {
    for (const double x :
         {0.0, -0.0, 0x1p52, -0x1p52, 0x1.0000000000001p52, 0x1p1023, -math::detail::kInf<double>}) {
        EXPECT_EQ(bits(math::floor(x)), bits(x));
        EXPECT_EQ(bits(math::ceil(x)), bits(x));
        EXPECT_EQ(bits(math::trunc(x)), bits(x));
        EXPECT_EQ(bits(math::round(x)), bits(x));
        EXPECT_EQ(bits(math::round_even(x)), bits(x));
    }
    EXPECT_EQ(bits(math::ceil(-0.5)), bits(-0.0));
    EXPECT_EQ(bits(math::round(-0.25F)), bits(-0.0F));
    EXPECT_EQ(math::round(0x1.fffffffffffffp-2), 0.0);
    EXPECT_EQ(math::floor(-0x1p-1074), -1.0);
}

// The compiler's own arithmetic gives the bits of the processor's.
TEST(MathProperties, CompileTimeResultsAreTheSame) {
    constexpr double kSin = math::sin(1e22);
    constexpr double kPow = math::pow(1.1, -7.3);
    constexpr float kAtan = math::atan2(-2.0F, -0.3F);
    volatile double x = 1e22;
    volatile double base = 1.1;
    volatile double power = -7.3;
    volatile float across = -0.3F;
    EXPECT_EQ(bits(math::sin(x)), bits(kSin));
    EXPECT_EQ(bits(math::pow(base, power)), bits(kPow));
    EXPECT_EQ(bits(math::atan2(-2.0F, across)), bits(kAtan));
}

}  // namespace
