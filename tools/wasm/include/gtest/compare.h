#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <gtest/result.h>

namespace testing::internal {

inline AssertionResult check_bool(const AssertionResult& actual, bool expected, const char* text) {
    if (static_cast<bool>(actual) == expected) return AssertionSuccess();
    AssertionResult failure = AssertionFailure() << "expected to be " << expected << ": " << text;
    if (*actual.message() != '\0') failure << "\n  because " << actual.message();
    return failure;
}

template <typename A, typename B>
AssertionResult explain(const char* a_text, const char* relation, const char* b_text, const A& a,
                        const B& b) {
    return AssertionFailure() << "expected " << a_text << " " << relation << " " << b_text
                              << "\n  left:  " << PrintToString(a) << "\n  right: " << PrintToString(b);
}

#define OURO_GTEST_DEFINE_COMPARE(name, relation)                                          \
    template <typename A, typename B>                                                      \
    AssertionResult name(const char* a_text, const char* b_text, const A& a, const B& b) { \
        if (a relation b) return AssertionSuccess();                                       \
        return explain(a_text, #relation, b_text, a, b);                                   \
    }
OURO_GTEST_DEFINE_COMPARE(compare_eq, ==)
OURO_GTEST_DEFINE_COMPARE(compare_ne, !=)
OURO_GTEST_DEFINE_COMPARE(compare_lt, <)
OURO_GTEST_DEFINE_COMPARE(compare_le, <=)
OURO_GTEST_DEFINE_COMPARE(compare_gt, >)
OURO_GTEST_DEFINE_COMPARE(compare_ge, >=)
#undef OURO_GTEST_DEFINE_COMPARE

inline bool same_text(const char* a, const char* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return std::strcmp(a, b) == 0;
}

inline AssertionResult compare_streq(const char* a_text, const char* b_text, const char* a, const char* b) {
    return same_text(a, b) ? AssertionSuccess() : explain(a_text, "has the text of", b_text, a, b);
}

inline AssertionResult compare_strne(const char* a_text, const char* b_text, const char* a, const char* b) {
    return same_text(a, b) ? explain(a_text, "differs in text from", b_text, a, b) : AssertionSuccess();
}

// The position of a number among all numbers of its type, so that neighbours differ by one.
template <typename Float>
std::int64_t ordinal(Float value) {
    using Bits = std::conditional_t<sizeof(Float) == 4, std::int32_t, std::int64_t>;
    const auto positive =
        static_cast<std::int64_t>(std::bit_cast<Bits>(value < 0 ? -value : value + Float{0}));
    return value < 0 ? -positive : positive;
}

// Equal but for four steps between neighbouring numbers, as GoogleTest defines it.
template <typename Float>
AssertionResult compare_ulps(const char* a_text, const char* b_text, Float a, Float b) {
    constexpr std::uint64_t kMaxSteps = 4;
    if (a == b) return AssertionSuccess();
    const bool numbers = a == a && b == b;
    const auto distance = static_cast<std::uint64_t>(ordinal(a)) - static_cast<std::uint64_t>(ordinal(b));
    if (numbers && (distance <= kMaxSteps || 0 - distance <= kMaxSteps)) return AssertionSuccess();
    return explain(a_text, "almost ==", b_text, a, b);
}

inline AssertionResult compare_near(const char* a_text, const char* b_text, double a, double b,
                                    double bound) {
    const double difference = a < b ? b - a : a - b;
    if (a == b || difference <= bound) return AssertionSuccess();
    return explain(a_text, "near", b_text, a, b)
           << "\n  apart: " << PrintToString(difference) << ", allowed: " << PrintToString(bound);
}

}  // namespace testing::internal
