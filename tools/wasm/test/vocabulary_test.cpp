// That the vocabulary notices what it should. Tests that fail or skip are the business of runner_test.mjs.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

enum class Colour : std::uint8_t { red = 1, blue = 2 };
struct Opaque {
    std::uint16_t a = 0x0102;
};

TEST(Printing, ValuesAreReadable) {
    using testing::PrintToString;
    EXPECT_EQ(PrintToString(true), "true");
    EXPECT_EQ(PrintToString(-5), "-5");
    EXPECT_EQ(PrintToString(~0ull), "18446744073709551615");
    EXPECT_EQ(PrintToString(0.5f), "0.5");
    EXPECT_EQ(PrintToString('a'), "'a' (97)");
    EXPECT_EQ(PrintToString(Colour::blue), "(2)");
    EXPECT_EQ(PrintToString(std::string("a\"b\n")), "\"a\\\"b\\n\"");
    EXPECT_EQ(PrintToString(nullptr), "(nullptr)");
    EXPECT_EQ(PrintToString(reinterpret_cast<void*>(0x20)), "0x00000020");
    EXPECT_EQ(PrintToString(std::optional<int>()), "(nullopt)");
    EXPECT_EQ(PrintToString(std::optional<int>(3)), "(3)");
    EXPECT_EQ(PrintToString(std::vector<int>{1, 2}), "{ 1, 2 }");
    EXPECT_EQ(PrintToString(Opaque{}), "2-byte object <02 01>");
}

TEST(Comparing, ResultsAreRight) {
    using namespace testing::internal;
    EXPECT_FALSE(compare_eq("a", "b", 1, 2));
    EXPECT_TRUE(compare_ne("a", "b", 1, 2));
    EXPECT_FALSE(compare_streq("a", "b", "x", "y"));
    EXPECT_FALSE(compare_streq("a", "b", "x", nullptr));
    EXPECT_FALSE(compare_near("a", "b", 1.0, 1.2, 0.1));
    EXPECT_FALSE(compare_near("a", "b", 1.0, std::numeric_limits<double>::quiet_NaN(), 0.1));
    EXPECT_FALSE(compare_ulps<float>("a", "b", 1.0f, 1.00001f));
    EXPECT_TRUE(compare_ulps<float>("a", "b", 0.0f, -0.0f));
    EXPECT_TRUE(compare_ulps<float>("a", "b", -0.0f, std::numeric_limits<float>::denorm_min()));
    EXPECT_FALSE(compare_ulps<double>("a", "b", -1.0, 1.0));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(compare_ulps<double>("a", "b", nan, nan));
    EXPECT_FLOAT_EQ(0.1f + 0.2f, 0.3f);
    EXPECT_DOUBLE_EQ(0.1 + 0.2, 0.3);
    EXPECT_STREQ(compare_eq("x", "y", 1, 2).message(), "expected x == y\n  left:  1\n  right: 2");
}

class WithSetUp : public testing::Test {
protected:
    static void SetUpTestSuite() { suite_ready = true; }
    void SetUp() override { value = 5; }
    void TearDown() override { value = 0; }
    static inline bool suite_ready = false;
    int value = 0;
};

TEST_F(WithSetUp, RunsBeforeTheBody) {
    EXPECT_TRUE(suite_ready);
    EXPECT_EQ(value, 5);
}

class Squares : public testing::TestWithParam<int> {};

TEST_P(Squares, AreNotNegative) {
    EXPECT_GE(GetParam() * GetParam(), 0);
}

INSTANTIATE_TEST_SUITE_P(Few, Squares, testing::Values(-1, 0, 7));
INSTANTIATE_TEST_SUITE_P(Many, Squares, testing::Range(1, 10, 4),
                         [](const testing::TestParamInfo<int>& info) {
                             return "of" + std::to_string(info.param);
                         });

}  // namespace
