#include <ouro/base/random.hpp>

#include <array>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::RandomBlock;

// The known answers published with the generator.
TEST(Random, PhiloxGivesTheKnownAnswers) {
    static_assert(ouro::philox({0, 0, 0, 0}, 0) ==
                  RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    static_assert(ouro::philox({~0U, ~0U, ~0U, ~0U}, ~0ULL) ==
                  RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    static_assert(ouro::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
                  RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    SUCCEED();
}

TEST(Random, ANumberBelongsToItsPlace) {
    Random sequence(42, 7);
    for (std::uint64_t index = 0; index < 100; ++index) {
        EXPECT_EQ(sequence.position(), index);
        EXPECT_EQ(sequence.next(), ouro::random_at(42, 7, index));
    }
    EXPECT_NE(ouro::random_at(42, 7, 0), ouro::random_at(42, 8, 0));
    EXPECT_NE(ouro::random_at(42, 7, 0), ouro::random_at(43, 7, 0));
}

TEST(Random, BoundedNumbersFillTheirRangeEvenly) {
    constexpr std::uint32_t kBound = 6;
    constexpr int kDraws = 60000;
    std::array<int, kBound> counts{};
    Random random(1);
    for (int i = 0; i < kDraws; ++i) {
        const std::uint32_t number = random.below(kBound);
        ASSERT_LT(number, kBound);
        ++counts[number];
    }
    // Five standard deviations of a binomial count around 10,000.
    for (const int count : counts)
        EXPECT_NEAR(count, kDraws / static_cast<int>(kBound), 460);
}

TEST(Random, RangesIncludeBothEnds) {
    Random random(2);
    bool low = false;
    bool high = false;
    for (int i = 0; i < 1000; ++i) {
        const std::int32_t number = random.between(-2, 2);
        ASSERT_TRUE(number >= -2 && number <= 2);
        low |= number == -2;
        high |= number == 2;
    }
    EXPECT_TRUE(low && high);
    EXPECT_EQ(random.between(5, 5), 5);
    (void)random.between(INT32_MIN, INT32_MAX);
}

TEST(Random, UnitsStayBelowOne) {
    Random random(3);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double number = random.unit_double();
        const float small = random.unit_float();
        ASSERT_TRUE(number >= 0.0 && number < 1.0);
        ASSERT_TRUE(small >= 0.0F && small < 1.0F);
        sum += number;
    }
    EXPECT_NEAR(sum / 10000, 0.5, 0.02);
    EXPECT_FALSE(random.chance(0.0));
    EXPECT_TRUE(random.chance(1.0));
}

TEST(Random, ShuffleKeepsTheItems) {
    std::array<int, 100> items{};
    for (int i = 0; i < 100; ++i)
        items[static_cast<std::size_t>(i)] = i;
    Random random(4);
    random.shuffle(std::span<int>(items));
    std::array<bool, 100> seen{};
    int moved = 0;
    for (int i = 0; i < 100; ++i) {
        const auto item = static_cast<std::size_t>(items[static_cast<std::size_t>(i)]);
        ASSERT_FALSE(seen[item]);
        seen[item] = true;
        moved += item != static_cast<std::size_t>(i) ? 1 : 0;
    }
    EXPECT_GT(moved, 80);
}

}  // namespace
