#include <ouro/base/align.hpp>

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST(Align, OnlyPowersOfTwoAreAlignments) {
    EXPECT_FALSE(ouro::is_alignment(0));
    EXPECT_TRUE(ouro::is_alignment(1));
    EXPECT_FALSE(ouro::is_alignment(3));
    EXPECT_TRUE(ouro::is_alignment(4096));
    EXPECT_FALSE(ouro::is_alignment(kMax));
    EXPECT_TRUE(ouro::is_alignment(kMax / 2 + 1));
}

TEST(Align, RoundsUpAndDown) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (std::size_t value = 0; value < 10000; value += 7) {
            const std::size_t up = ouro::align_up(value, alignment);
            const std::size_t down = ouro::align_down(value, alignment);
            ASSERT_EQ(up % alignment, 0U);
            ASSERT_EQ(down % alignment, 0U);
            ASSERT_TRUE(up >= value && up - value < alignment);
            ASSERT_TRUE(down <= value && value - down < alignment);
        }
    }
}

TEST(Align, CheckedRoundingNamesTheFault) {
    EXPECT_EQ(ouro::checked_align_up(100, 0).status(), Status::bad_alignment);
    EXPECT_EQ(ouro::checked_align_up(100, 48).status(), Status::bad_alignment);
    EXPECT_EQ(ouro::checked_align_up(kMax, 4096).status(), Status::size_overflow);
    EXPECT_EQ(ouro::checked_align_up(kMax - 4095, 4096).value_or(0), kMax - 4095);
    EXPECT_EQ(ouro::checked_align_up(kMax - 4094, 4096).status(), Status::size_overflow);
    EXPECT_EQ(ouro::checked_align_up(0, 4096).value_or(1), 0U);
}

TEST(Align, CheckedSumsAndProductsNameTheFault) {
    EXPECT_EQ(ouro::checked_add<std::size_t>(kMax, 1).status(), Status::size_overflow);
    EXPECT_EQ(ouro::checked_add<std::size_t>(kMax - 1, 1).value_or(0), kMax);
    EXPECT_EQ(ouro::checked_multiply<std::uint32_t>(65536, 65536).status(), Status::size_overflow);
    EXPECT_EQ(ouro::checked_multiply<std::uint32_t>(65536, 65535).value_or(0), 4294901760U);
}

TEST(Align, PaddingLeadsToTheNextAlignedAddress) {
    alignas(64) static unsigned char storage[128];
    for (std::size_t offset = 0; offset < 64; ++offset) {
        const std::size_t padding = ouro::padding_to(storage + offset, 16);
        ASSERT_LT(padding, 16U);
        ASSERT_TRUE(ouro::is_aligned(storage + offset + padding, 16));
    }
}

TEST(Align, UnitsRoundUpWithoutOverflow) {
    EXPECT_EQ(ouro::units_of<std::size_t>(0, 4096), 0U);
    EXPECT_EQ(ouro::units_of<std::size_t>(1, 4096), 1U);
    EXPECT_EQ(ouro::units_of<std::size_t>(4096, 4096), 1U);
    EXPECT_EQ(ouro::units_of<std::size_t>(kMax, 4096), kMax / 4096 + 1);
}

}  // namespace
