#pragma once

// GoogleTest's vocabulary for wasm32, where GoogleTest itself cannot be built: the same macros and the same
// command line, so that one test source serves every platform. Left out on purpose: death tests (a wasm
// program cannot fork; the *_IF_SUPPORTED forms do nothing), exceptions and matchers.

#include <gtest/compare.h>
#include <gtest/param.h>
#include <gtest/registry.h>
#include <gtest/result.h>
#include <gtest/typed.h>

// The switch makes an `if (x) EXPECT_…; else …` of the caller bind as it reads.
#define OURO_GTEST_CHECK(result, on_failure)                               \
    switch (0)                                                             \
    case 0:                                                                \
    default:                                                               \
        if (const ::testing::AssertionResult ouro_gtest_result = (result)) \
            static_cast<void>(0);                                          \
        else                                                               \
            on_failure(ouro_gtest_result.message())

#define OURO_GTEST_REPORT(kind, text)                                                          \
    ::testing::internal::Reporter(::testing::internal::Kind::kind, __FILE__, __LINE__, text) | \
        ::testing::Message()
#define OURO_GTEST_NONFATAL(text) OURO_GTEST_REPORT(nonfatal, text)
#define OURO_GTEST_FATAL(text) return OURO_GTEST_REPORT(fatal, text)

#define ADD_FAILURE() OURO_GTEST_NONFATAL("")
#define FAIL() OURO_GTEST_FATAL("")
#define GTEST_FAIL() FAIL()
#define SUCCEED() static_cast<void>(0), ::testing::internal::Swallow() | ::testing::Message()
#define GTEST_SUCCEED() SUCCEED()
#define GTEST_SKIP() return OURO_GTEST_REPORT(skip, "")

#define OURO_GTEST_TRUE(value) \
    ::testing::internal::check_bool(::testing::AssertionResult(value), true, #value)
#define OURO_GTEST_FALSE(value) \
    ::testing::internal::check_bool(::testing::AssertionResult(value), false, #value)
#define EXPECT_TRUE(value) OURO_GTEST_CHECK(OURO_GTEST_TRUE(value), OURO_GTEST_NONFATAL)
#define ASSERT_TRUE(value) OURO_GTEST_CHECK(OURO_GTEST_TRUE(value), OURO_GTEST_FATAL)
#define EXPECT_FALSE(value) OURO_GTEST_CHECK(OURO_GTEST_FALSE(value), OURO_GTEST_NONFATAL)
#define ASSERT_FALSE(value) OURO_GTEST_CHECK(OURO_GTEST_FALSE(value), OURO_GTEST_FATAL)

#define OURO_GTEST_COMPARE(compare, a, b, on_failure) \
    OURO_GTEST_CHECK(::testing::internal::compare(#a, #b, a, b), on_failure)
#define EXPECT_EQ(a, b) OURO_GTEST_COMPARE(compare_eq, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_EQ(a, b) OURO_GTEST_COMPARE(compare_eq, a, b, OURO_GTEST_FATAL)
#define EXPECT_NE(a, b) OURO_GTEST_COMPARE(compare_ne, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_NE(a, b) OURO_GTEST_COMPARE(compare_ne, a, b, OURO_GTEST_FATAL)
#define EXPECT_LT(a, b) OURO_GTEST_COMPARE(compare_lt, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_LT(a, b) OURO_GTEST_COMPARE(compare_lt, a, b, OURO_GTEST_FATAL)
#define EXPECT_LE(a, b) OURO_GTEST_COMPARE(compare_le, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_LE(a, b) OURO_GTEST_COMPARE(compare_le, a, b, OURO_GTEST_FATAL)
#define EXPECT_GT(a, b) OURO_GTEST_COMPARE(compare_gt, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_GT(a, b) OURO_GTEST_COMPARE(compare_gt, a, b, OURO_GTEST_FATAL)
#define EXPECT_GE(a, b) OURO_GTEST_COMPARE(compare_ge, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_GE(a, b) OURO_GTEST_COMPARE(compare_ge, a, b, OURO_GTEST_FATAL)
#define EXPECT_STREQ(a, b) OURO_GTEST_COMPARE(compare_streq, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_STREQ(a, b) OURO_GTEST_COMPARE(compare_streq, a, b, OURO_GTEST_FATAL)
#define EXPECT_STRNE(a, b) OURO_GTEST_COMPARE(compare_strne, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_STRNE(a, b) OURO_GTEST_COMPARE(compare_strne, a, b, OURO_GTEST_FATAL)
#define EXPECT_FLOAT_EQ(a, b) OURO_GTEST_COMPARE(compare_ulps<float>, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_FLOAT_EQ(a, b) OURO_GTEST_COMPARE(compare_ulps<float>, a, b, OURO_GTEST_FATAL)
#define EXPECT_DOUBLE_EQ(a, b) OURO_GTEST_COMPARE(compare_ulps<double>, a, b, OURO_GTEST_NONFATAL)
#define ASSERT_DOUBLE_EQ(a, b) OURO_GTEST_COMPARE(compare_ulps<double>, a, b, OURO_GTEST_FATAL)
#define OURO_GTEST_NEAR(a, b, bound, on_failure) \
    OURO_GTEST_CHECK(::testing::internal::compare_near(#a, #b, a, b, bound), on_failure)
#define EXPECT_NEAR(a, b, bound) OURO_GTEST_NEAR(a, b, bound, OURO_GTEST_NONFATAL)
#define ASSERT_NEAR(a, b, bound) OURO_GTEST_NEAR(a, b, bound, OURO_GTEST_FATAL)

#define OURO_GTEST_NO_FATAL(statement, on_failure) \
    OURO_GTEST_CHECK(::testing::internal::run_without_fatal([&] { statement; }, #statement), on_failure)
#define EXPECT_NO_FATAL_FAILURE(statement) OURO_GTEST_NO_FATAL(statement, OURO_GTEST_NONFATAL)
#define ASSERT_NO_FATAL_FAILURE(statement) OURO_GTEST_NO_FATAL(statement, OURO_GTEST_FATAL)

#define EXPECT_DEATH_IF_SUPPORTED(statement, pattern) SUCCEED()
#define ASSERT_DEATH_IF_SUPPORTED(statement, pattern) SUCCEED()

#define OURO_GTEST_JOIN2(a, b) a##b
#define OURO_GTEST_JOIN(a, b) OURO_GTEST_JOIN2(a, b)
#define SCOPED_TRACE(text)                                                                        \
    const ::testing::ScopedTrace OURO_GTEST_JOIN(ouro_gtest_trace_, __LINE__)(__FILE__, __LINE__, \
                                                                              ::testing::Message() << text)

#define OURO_GTEST_CLASS(suite, name) suite##_##name##_Test
#define OURO_GTEST_DEFINE(suite, name, fixture)                                               \
    class OURO_GTEST_CLASS(suite, name) final : public fixture {                              \
        void TestBody() override;                                                             \
        static const bool registered_;                                                        \
    };                                                                                        \
    const bool OURO_GTEST_CLASS(suite, name)::registered_ =                                   \
        ::testing::internal::add_test<OURO_GTEST_CLASS(suite, name), fixture>(#suite, #name); \
    void OURO_GTEST_CLASS(suite, name)::TestBody()
#define TEST(suite, name) OURO_GTEST_DEFINE(suite, name, ::testing::Test)
#define GTEST_TEST(suite, name) TEST(suite, name)
#define TEST_F(fixture, name) OURO_GTEST_DEFINE(fixture, name, fixture)

#define TEST_P(fixture, name)                                                                           \
    class OURO_GTEST_CLASS(fixture, name) final : public fixture {                                      \
        void TestBody() override;                                                                       \
        static const bool registered_;                                                                  \
    };                                                                                                  \
    const bool OURO_GTEST_CLASS(fixture, name)::registered_ =                                           \
        ::testing::internal::add_param_body<fixture, OURO_GTEST_CLASS(fixture, name)>(#fixture, #name); \
    void OURO_GTEST_CLASS(fixture, name)::TestBody()
// The optional last argument names a case: a function of `const testing::TestParamInfo<Param>&`.
#define INSTANTIATE_TEST_SUITE_P(prefix, fixture, ...)                            \
    [[maybe_unused]] static const bool ouro_gtest_instance_##prefix##_##fixture = \
        ::testing::internal::add_param_instance<fixture>(#fixture, #prefix, __VA_ARGS__)
#define GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(fixture) static_assert(true)

#define TYPED_TEST_SUITE(fixture, types) using ouro_gtest_types_##fixture = types
#define TYPED_TEST(fixture, name)                                                          \
    template <typename Type>                                                               \
    class OURO_GTEST_CLASS(fixture, name) final : public fixture<Type> {                   \
        using TypeParam = Type;                                                            \
        using TestFixture = fixture<Type>;                                                 \
        void TestBody() override;                                                          \
    };                                                                                     \
    [[maybe_unused]] static const bool ouro_gtest_typed_##fixture##_##name =               \
        ::testing::internal::TypedTests<OURO_GTEST_CLASS(fixture, name), fixture,          \
                                        ouro_gtest_types_##fixture>::add(#fixture, #name); \
    template <typename Type>                                                               \
    void OURO_GTEST_CLASS(fixture, name)<Type>::TestBody()

#define RUN_ALL_TESTS() ::testing::internal::run_all_tests()
