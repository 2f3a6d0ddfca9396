// The error bounds that math.hpp states, against the platform's long double functions. Native only.

#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace {

namespace math = ouro::math;

static_assert(std::numeric_limits<long double>::digits >= 64, "the oracle needs more precision than double");

constexpr std::uint64_t kSeed = 0x61636375;
constexpr int kDraws = 50'000;
// The oracle's own error, in units of the last place of double.
constexpr long double kOracle = 0.002L;

template <class T>
long double error_in_ulps(T got, long double exact) {
    const long double size = std::fabs(exact);
    int exponent = 0;
    std::frexp(size, &exponent);
    const int lowest = std::numeric_limits<T>::min_exponent;
    const int place = (exponent < lowest ? lowest : exponent) - std::numeric_limits<T>::digits;
    return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, place);
}

class Arguments {
public:
    explicit Arguments(std::uint64_t stream) : random_(kSeed, stream) {}

    double within(double low, double high) {
        return low + (high - low) * (static_cast<double>(random_.next() >> 11) * 0x1p-53);
    }
    // Of either sign, with a binary exponent from low to high, each as likely.
    double scaled(int low, int high) {
        const int exponent =
            low + static_cast<int>(random_.next() % static_cast<std::uint64_t>(high - low + 1));
        const double size = std::ldexp(within(1.0, 2.0), exponent);
        return random_.next() % 2 == 0 ? size : -size;
    }

private:
    ouro::Random random_;
};

template <class T, class Ours, class Oracle, class Draw>
void expect_error_below(const char* name, double bound, Ours ours, Oracle oracle, Draw draw) {
    Arguments arguments(1);
    long double worst = 0;
    T worst_x = 0;
    for (int i = 0; i < kDraws; ++i) {
        const T x = static_cast<T>(draw(arguments));
        const long double error = error_in_ulps(ours(x), oracle(static_cast<long double>(x)));
        if (!(error <= worst)) {
            worst = error;
            worst_x = x;
        }
    }
    EXPECT_LE(worst, static_cast<long double>(bound) + kOracle)
        << name << " of " << worst_x << ", seed " << kSeed;
}

template <class T, class Ours, class Oracle, class Draw>
void expect_error_of_two_below(const char* name, double bound, Ours ours, Oracle oracle, Draw draw) {
    Arguments arguments(2);
    long double worst = 0;
    T worst_x = 0;
    T worst_y = 0;
    for (int i = 0; i < kDraws; ++i) {
        const auto [wide_x, wide_y] = draw(arguments);
        const T x = static_cast<T>(wide_x);
        const T y = static_cast<T>(wide_y);
        const long double error =
            error_in_ulps(ours(x, y), oracle(static_cast<long double>(x), static_cast<long double>(y)));
        if (!(error <= worst)) {
            worst = error;
            worst_x = x;
            worst_y = y;
        }
    }
    EXPECT_LE(worst, static_cast<long double>(bound) + kOracle)
        << name << " of " << worst_x << " and " << worst_y << ", seed " << kSeed;
}

struct Pair {
    double x;
    double y;
};

// What each type promises, and how far its exponents reach.
template <class T>
struct Promise;
template <>
struct Promise<float> {
    static constexpr double kOthers = 0.502;
    static constexpr double kExponentials = 0.502;
    static constexpr double kSubnormal = 0.502;
    static constexpr int kLow = -149;
    static constexpr int kHigh = 127;
    static constexpr double kExpLow = -103.9;
    static constexpr double kExpNormal = -87.3;
    static constexpr double kExpHigh = 88.7;
};
template <>
struct Promise<double> {
    static constexpr double kOthers = 0.52;
    static constexpr double kExponentials = 0.56;
    static constexpr double kSubnormal = 0.80;
    static constexpr int kLow = -1074;
    static constexpr int kHigh = 1023;
    static constexpr double kExpLow = -745.1;
    static constexpr double kExpNormal = -708.3;
    static constexpr double kExpHigh = 709.7;
};

template <class T>
class MathAccuracy : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MathAccuracy, Types);

template <class T>
void check_circular(auto draw) {
    const double bound = Promise<T>::kOthers;
    const auto sin = [](T x) { return math::sin(x); };
    const auto cos = [](T x) { return math::cos(x); };
    const auto tan = [](T x) { return math::tan(x); };
    expect_error_below<T>("sin", bound, sin, [](long double x) { return std::sin(x); }, draw);
    expect_error_below<T>("cos", bound, cos, [](long double x) { return std::cos(x); }, draw);
    expect_error_below<T>("tan", bound, tan, [](long double x) { return std::tan(x); }, draw);
}

TYPED_TEST(MathAccuracy, CircularFunctions) {
    check_circular<TypeParam>([](Arguments& a) { return a.within(-1.0, 1.0); });
    check_circular<TypeParam>([](Arguments& a) { return a.within(-100.0, 100.0); });
    check_circular<TypeParam>([](Arguments& a) { return a.within(-2e6, 2e6); });
    check_circular<TypeParam>([](Arguments& a) { return a.scaled(-40, Promise<TypeParam>::kHigh); });
}

TYPED_TEST(MathAccuracy, WrapAngle) {
    using T = TypeParam;
    const auto ours = [](T x) { return math::wrap_angle(x); };
    const auto oracle = [](long double x) { return std::atan2(std::sin(x), std::cos(x)); };
    const double bound = Promise<T>::kOthers;
    expect_error_below<T>("wrap_angle", bound, ours, oracle,
                          [](Arguments& a) { return a.within(4.0, 1000.0); });
    expect_error_below<T>("wrap_angle", bound, ours, oracle,
                          [](Arguments& a) { return a.scaled(2, Promise<T>::kHigh); });
}

TYPED_TEST(MathAccuracy, InverseFunctions) {
    using T = TypeParam;
    const double bound = Promise<T>::kOthers;
    const auto anywhere = [](Arguments& a) { return a.scaled(Promise<T>::kLow, Promise<T>::kHigh); };
    const auto unit = [](Arguments& a) { return a.within(-1.0, 1.0); };
    const auto atan = [](T x) { return math::atan(x); };
    const auto atan_oracle = [](long double x) { return std::atan(x); };
    expect_error_below<T>("atan", bound, atan, atan_oracle, anywhere);
    expect_error_below<T>("atan", bound, atan, atan_oracle, [](Arguments& a) { return a.scaled(-4, 4); });
    expect_error_below<T>(
        "asin", bound, [](T x) { return math::asin(x); }, [](long double x) { return std::asin(x); }, unit);
    expect_error_below<T>(
        "acos", bound, [](T x) { return math::acos(x); }, [](long double x) { return std::acos(x); }, unit);
    const auto atan2 = [](T y, T x) { return math::atan2(y, x); };
    const auto atan2_oracle = [](long double y, long double x) { return std::atan2(y, x); };
    expect_error_of_two_below<T>("atan2", bound, atan2, atan2_oracle,
                                 [](Arguments& a) { return Pair{a.within(-1.0, 1.0), a.within(-1.0, 1.0)}; });
    expect_error_of_two_below<T>("atan2", bound, atan2, atan2_oracle,
                                 [&](Arguments& a) { return Pair{anywhere(a), anywhere(a)}; });
}

// exp, exp2 and pow where the natural logarithm of the result lies between low and high.
template <class T>
void check_exponentials(double bound, double low, double high) {
    const auto exponent = [=](Arguments& a) { return a.within(low, high); };
    const auto exp = [](T x) { return math::exp(x); };
    const auto exp2 = [](T x) { return math::exp2(x); };
    const auto pow = [](T x, T y) { return math::pow(x, y); };
    expect_error_below<T>("exp", bound, exp, [](long double x) { return std::exp(x); }, exponent);
    expect_error_below<T>(
        "exp2", bound, exp2, [](long double x) { return std::exp2(x); },
        [=](Arguments& a) { return exponent(a) * std::numbers::log2e; });
    expect_error_of_two_below<T>(
        "pow", bound, pow, [](long double x, long double y) { return std::pow(x, y); },
        [=](Arguments& a) {
            const double size = std::fabs(a.scaled(Promise<T>::kLow, Promise<T>::kHigh));
            const auto x = static_cast<double>(static_cast<T>(size));
            return Pair{x, exponent(a) / std::log(x)};
        });
}

TYPED_TEST(MathAccuracy, Exponentials) {
    using P = Promise<TypeParam>;
    check_exponentials<TypeParam>(P::kExponentials, -2.0, 2.0);
    check_exponentials<TypeParam>(P::kExponentials, P::kExpNormal, P::kExpHigh);
    check_exponentials<TypeParam>(P::kSubnormal, P::kExpLow, P::kExpNormal);
}

TYPED_TEST(MathAccuracy, LogarithmsAndInverseRoots) {
    using T = TypeParam;
    const double bound = Promise<T>::kOthers;
    const auto positive = [](Arguments& a) {
        return std::fabs(a.scaled(Promise<T>::kLow, Promise<T>::kHigh));
    };
    const auto near_one = [](Arguments& a) { return 1.0 + a.scaled(-23, -2); };
    const auto log = [](T x) { return math::log(x); };
    const auto log2 = [](T x) { return math::log2(x); };
    const auto log_oracle = [](long double x) { return std::log(x); };
    const auto log2_oracle = [](long double x) { return std::log2(x); };
    expect_error_below<T>("log", bound, log, log_oracle, positive);
    expect_error_below<T>("log", bound, log, log_oracle, near_one);
    expect_error_below<T>("log2", bound, log2, log2_oracle, positive);
    expect_error_below<T>("log2", bound, log2, log2_oracle, near_one);
    expect_error_below<T>(
        "rsqrt", bound, [](T x) { return math::rsqrt(x); }, [](long double x) { return 1.0L / std::sqrt(x); },
        positive);
}

}  // namespace
