#include <ouro/base/bits.hpp>
#include <ouro/base/random.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

TEST(Bits, MasksAndLogarithms) {
    EXPECT_EQ(ouro::low_mask<std::uint32_t>(0), 0U);
    EXPECT_EQ(ouro::low_mask<std::uint32_t>(5), 31U);
    EXPECT_EQ(ouro::low_mask<std::uint32_t>(32), 0xFFFFFFFFU);
    EXPECT_EQ(ouro::log2_floor(1U), 0U);
    EXPECT_EQ(ouro::log2_floor(4097U), 12U);
    EXPECT_EQ(ouro::log2_ceil(1U), 0U);
    EXPECT_EQ(ouro::log2_ceil(4096U), 12U);
    EXPECT_EQ(ouro::log2_ceil(4097U), 13U);
}

TEST(Bits, VisitsSetBitsInOrder) {
    std::array<unsigned, 4> seen{};
    unsigned count = 0;
    ouro::for_each_bit(std::uint64_t{0x8000000000000105}, [&](unsigned index) { seen[count++] = index; });
    ASSERT_EQ(count, 4U);
    EXPECT_EQ(seen[0], 0U);
    EXPECT_EQ(seen[1], 2U);
    EXPECT_EQ(seen[2], 8U);
    EXPECT_EQ(seen[3], 63U);
}

// Each operation on words is compared with the same on an array of bools.
TEST(Bits, ArraysAgreeWithBools) {
    constexpr std::size_t kBits = 256;
    constexpr std::uint64_t kSeed = 7;
    SCOPED_TRACE("seed 7");
    std::array<std::uint64_t, ouro::words_for_bits(kBits)> words{};
    std::array<bool, kBits> model{};
    ouro::Random random(kSeed);
    for (int step = 0; step < 2000; ++step) {
        const std::size_t first = random.below(kBits);
        if (random.chance(0.5)) {
            const std::size_t count = random.below(static_cast<std::uint32_t>(kBits - first) + 1);
            ouro::set_bits(words, first, count);
            for (std::size_t i = first; i < first + count; ++i)
                model[i] = true;
        } else {
            for (std::size_t i = 0; i < kBits; i += 1 + random.below(5)) {
                ouro::clear_bit(words, i);
                model[i] = false;
            }
        }
        std::size_t expected = first;
        while (expected < kBits && !model[expected])
            ++expected;
        ASSERT_EQ(ouro::find_set_bit(words, first), expected);
        for (std::size_t i = 0; i < kBits; ++i)
            ASSERT_EQ(ouro::test_bit(words, i), model[i]);
    }
}

TEST(Bits, FindsNothingInEmptyOrPastTheEnd) {
    const std::array<std::uint64_t, 2> words{0, 0};
    EXPECT_EQ(ouro::find_set_bit(words), 128U);
    EXPECT_EQ(ouro::find_set_bit(words, 500), 128U);
    EXPECT_EQ(ouro::find_set_bit({}), 0U);
}

}  // namespace
