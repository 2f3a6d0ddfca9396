// Deterministic functions beside the C library's, over ordinary arguments.
#include "base/base_suite.hpp"
#include "harness/case.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <type_traits>

namespace ouro::bench {
namespace {

constexpr std::size_t kArguments = 4096;

template <class T>
using Values = std::array<T, kArguments>;

struct Interval {
    double low;
    double high;
};

template <class T>
Values<T> values_in(Interval interval, std::uint64_t stream) {
    Random random(1, stream);
    Values<T> values;
    for (T& value : values)
        value = static_cast<T>(interval.low + (interval.high - interval.low) * random.unit_double());
    return values;
}

// Calls function(a, b) over all pairs of arguments, pass after pass.
template <class T, class Function>
Work over_arguments(const Values<T>& a, const Values<T>& b, Function function) {
    return [=, &a, &b](Round& round) {
        Values<T> results{};
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += kArguments) {
                for (std::size_t i = 0; i < kArguments; ++i)
                    results[i] = function(a[i], b[i]);
                keep(results);
            }
        });
        round.check(hash_bytes(results.data(), sizeof(results)));
    };
}

// The functions take two arguments for the sake of pow and atan2; most leave the second alone.
template <class T>
class MathTable {
public:
    explicit MathTable(Session& session) : session_(session) {}

    template <class Ours, class Peer>
    void add(const char* name, const char* peer_name, Interval interval, Ours ours, Peer peer) {
        const Values<T> a = values_in<T>(interval, 1);
        const Values<T> b = values_in<T>({-3, 3}, 2);
        const char* type = std::is_same_v<T, float> ? ", float" : ", double";
        session_.measure(std::string(name) + type, kNanoseconds)
            .ours(over_arguments<T>(a, b, ours))
            .peer(peer_name, libc_version(), over_arguments<T>(a, b, peer))
            .operations(kArguments * session_.sized(64, 1))
            .different_results()
            .run();
    }

private:
    Session& session_;
};

template <class T>
void add_angles(MathTable<T> table) {
    constexpr Interval kAngles{-10, 10};
    constexpr T kTurn = 2 * std::numbers::pi_v<T>;
    table.add("sin", "sin", kAngles, [](T x, T) { return math::sin(x); }, [](T x, T) { return std::sin(x); });
    table.add("cos", "cos", kAngles, [](T x, T) { return math::cos(x); }, [](T x, T) { return std::cos(x); });
    table.add(
        "sincos", "sincos", kAngles,
        [](T x, T) {
            const auto both = math::sincos(x);
            return both.sin + both.cos;
        },
        [](T x, T) { return std::sin(x) + std::cos(x); });
    table.add("tan", "tan", kAngles, [](T x, T) { return math::tan(x); }, [](T x, T) { return std::tan(x); });
    table.add(
        "wrap_angle", "remainder", kAngles, [](T x, T) { return math::wrap_angle(x); },
        [=](T x, T) { return std::remainder(x, kTurn); });
    table.add(
        "atan", "atan", {-4, 4}, [](T x, T) { return math::atan(x); }, [](T x, T) { return std::atan(x); });
    table.add(
        "atan2", "atan2", {-4, 4}, [](T y, T x) { return math::atan2(y, x); },
        [](T y, T x) { return std::atan2(y, x); });
    table.add(
        "asin", "asin", {-1, 1}, [](T x, T) { return math::asin(x); }, [](T x, T) { return std::asin(x); });
    table.add(
        "acos", "acos", {-1, 1}, [](T x, T) { return math::acos(x); }, [](T x, T) { return std::acos(x); });
}

template <class T>
void add_powers(MathTable<T> table) {
    constexpr Interval kExponents{-10, 10};
    constexpr Interval kPositive{0.001, 1000};
    table.add(
        "exp", "exp", kExponents, [](T x, T) { return math::exp(x); }, [](T x, T) { return std::exp(x); });
    table.add(
        "exp2", "exp2", kExponents, [](T x, T) { return math::exp2(x); },
        [](T x, T) { return std::exp2(x); });
    table.add(
        "log", "log", kPositive, [](T x, T) { return math::log(x); }, [](T x, T) { return std::log(x); });
    table.add(
        "log2", "log2", kPositive, [](T x, T) { return math::log2(x); }, [](T x, T) { return std::log2(x); });
    table.add(
        "pow", "pow", kPositive, [](T x, T y) { return math::pow(x, y); },
        [](T x, T y) { return std::pow(x, y); });
    table.add(
        "sqrt", "sqrt", kPositive, [](T x, T) { return math::sqrt(x); }, [](T x, T) { return std::sqrt(x); });
    table.add(
        "rsqrt", "1 / sqrt", kPositive, [](T x, T) { return math::rsqrt(x); },
        [](T x, T) { return 1 / std::sqrt(x); });
}

template <class T>
void add_rounding(MathTable<T> table) {
    constexpr Interval kNumbers{-1000, 1000};
    table.add(
        "floor", "floor", kNumbers, [](T x, T) { return math::floor(x); },
        [](T x, T) { return std::floor(x); });
    table.add(
        "ceil", "ceil", kNumbers, [](T x, T) { return math::ceil(x); }, [](T x, T) { return std::ceil(x); });
    table.add(
        "trunc", "trunc", kNumbers, [](T x, T) { return math::trunc(x); },
        [](T x, T) { return std::trunc(x); });
    table.add(
        "round", "round", kNumbers, [](T x, T) { return math::round(x); },
        [](T x, T) { return std::round(x); });
    table.add(
        "round_even", "nearbyint", kNumbers, [](T x, T) { return math::round_even(x); },
        [](T x, T) { return std::nearbyint(x); });
}

template <class T>
void measure_functions(Session& session) {
    add_angles(MathTable<T>(session));
    add_powers(MathTable<T>(session));
    add_rounding(MathTable<T>(session));
}

}  // namespace

void measure_math(Session& session) {
    measure_functions<float>(session);
    measure_functions<double>(session);
}

}  // namespace ouro::bench
