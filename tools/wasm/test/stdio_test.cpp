#include <cstdio>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace {

template <typename... Args>
std::string formatted(const char* format, Args... args) {
    char text[1200];
    const int length = std::snprintf(text, sizeof text, format, args...);
    return std::string(text, static_cast<std::size_t>(length));
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"

TEST(Stdio, Integers) {
    EXPECT_EQ(formatted("%d|%5d|%-5d|%05d|%+d", -3, 42, 42, -42, 7), "-3|   42|42   |-0042|+7");
    EXPECT_EQ(formatted("%u %x %X %o", 4'000'000'000u, 255u, 255u, 8u), "4000000000 ff FF 10");
    EXPECT_EQ(formatted("%lld", std::numeric_limits<long long>::min()), "-9223372036854775808");
    EXPECT_EQ(formatted("%llu %zu", ~0ull, std::size_t{12}), "18446744073709551615 12");
    EXPECT_EQ(formatted("%.3d|%8.3x", 5, 0xau), "005|     00a");
}

TEST(Stdio, Text) {
    EXPECT_EQ(formatted("%s|%6s|%-6s|%.2s|%c|%%", "abc", "abc", "abc", "abc", 'x'),
              "abc|   abc|abc   |ab|x|%");
    EXPECT_EQ(formatted("%*d|%.*s", 4, 7, 1, "xyz"), "   7|x");
    char small[4];
    EXPECT_EQ(std::snprintf(small, sizeof small, "%d", 123456), 6);
    EXPECT_STREQ(small, "123");
}

TEST(Stdio, Fractions) {
    EXPECT_EQ(formatted("%f %.2f %.0f %.0f %.0f", 1.5, 2.675, 0.5, 1.5, 2.5), "1.500000 2.67 0 2 2");
    EXPECT_EQ(formatted("%.20f", 0.1), "0.10000000000000000555");
    EXPECT_EQ(formatted("%.1f %.3f", 9.96, 0.0004), "10.0 0.000");
    EXPECT_EQ(formatted("%e %.0e", 12345.678, 9.9), "1.234568e+04 1e+01");
    EXPECT_EQ(formatted("%g %g %g %g %g", 0.0001, 0.00001, 100000.0, 1000000.0, 0.0),
              "0.0001 1e-05 100000 1e+06 0");
    EXPECT_EQ(formatted("%.17g", 0.1), "0.10000000000000001");
    EXPECT_EQ(formatted("%g", std::numeric_limits<double>::denorm_min()), "4.94066e-324");
    EXPECT_EQ(formatted("%.0f", 0x1p100), "1267650600228229401496703205376");
    EXPECT_EQ(formatted("%g %g %g", std::numeric_limits<double>::infinity(), -0.0, -1e300), "inf -0 -1e+300");
    EXPECT_EQ(formatted("%08.2f|%-8.1f|%+.1f", -1.5, 2.25, 2.0), "-0001.50|2.2     |+2.0");
    EXPECT_EQ(formatted("%.17g", std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

#pragma clang diagnostic pop

}  // namespace
