#include <ouro/base/fixed_string.hpp>

#include <array>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::FixedString;
using ouro::Status;

TEST(FixedString, HoldsAText) {
    FixedString<7> text;
    EXPECT_TRUE(text.is_empty());
    EXPECT_EQ(text.assign("creature"), Status::capacity_exhausted);
    EXPECT_TRUE(text.is_empty());
    EXPECT_EQ(text.assign("wolf"), Status::ok);
    EXPECT_EQ(text.append("hound"), Status::capacity_exhausted);
    EXPECT_EQ(text, "wolf");
    EXPECT_EQ(text.append("man"), Status::ok);
    EXPECT_EQ(text, "wolfman");
    EXPECT_EQ(text.size(), text.capacity());
    text.clear();
    EXPECT_EQ(text, "");
}

TEST(FixedString, IsMadeOfLiteralsAndViews) {
    constexpr FixedString<15> name = "Ada";
    static_assert(name.size() == 3 && name == "Ada" && name != "Adam");
    EXPECT_EQ(FixedString<3>::from("abc")->view(), "abc");
    EXPECT_EQ(FixedString<3>::from("abcd").status(), Status::capacity_exhausted);
    EXPECT_EQ(name, std::string("Ada"));
}

TEST(FixedString, TakesPartsOfItself) {
    FixedString<16> text = "abcdef";
    EXPECT_EQ(text.append(text), Status::ok);
    EXPECT_EQ(text, "abcdefabcdef");
    EXPECT_EQ(text.assign(std::string_view(text.view().data() + 5, 4)), Status::ok);
    EXPECT_EQ(text, "fabc");
}

TEST(FixedString, EqualTextsHaveEqualBytes) {
    FixedString<31> first = "a long text that goes";
    EXPECT_EQ(first.assign("short"), Status::ok);
    const FixedString<31> second = "short";
    EXPECT_EQ(std::memcmp(&first, &second, sizeof(first)), 0);
    EXPECT_EQ(first, second);
}

TEST(FixedString, HasTheOrderOfItsText) {
    EXPECT_LT(FixedString<8>("ab"), FixedString<8>("abc"));
    EXPECT_LT(FixedString<8>("abc"), FixedString<8>("b"));
    EXPECT_GT(FixedString<8>("b"), FixedString<8>("aaaaaaaa"));
}

TEST(FixedString, NeverReadsBehindItsEnd) {
    std::array<unsigned char, 8> bytes{};
    bytes.fill(0xff);
    FixedString<7> text;
    std::memcpy(static_cast<void*>(&text), bytes.data(), sizeof(text));
    EXPECT_EQ(text.size(), 7U);
    EXPECT_EQ(text.append("x"), Status::capacity_exhausted);
}

}  // namespace
