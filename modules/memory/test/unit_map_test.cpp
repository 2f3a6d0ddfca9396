#include <ouro/memory/detail/unit_map.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::Status;
using ouro::detail::UnitMap;

constexpr std::size_t kUnits = 128;
constexpr std::size_t kWords = kUnits / UnitMap::kUnitsPerWord;

// A map whose units are addresses only, with notes of how it grows.
struct GrowingMap {
    static Expected<void> make_usable(void* self, std::size_t, std::size_t end) {
        static_cast<GrowingMap*>(self)->asked_for = end;
        return {};
    }
    static void has_grown(void* self) {
        auto& own = *static_cast<GrowingMap*>(self);
        own.told_of = own.map.usable_units();
    }

    std::array<UnitMap::Word, kWords> taken = {};
    std::array<UnitMap::Word, kWords> dirty = {};
    std::size_t asked_for = 0;
    std::size_t told_of = 0;
    std::size_t huge_from_units = UnitMap::kNoUnit;
    ouro::os::Reservation addresses = *ouro::os::Reservation::create(
        {.bytes = kUnits * UnitMap::kUnitBytes, .alignment = UnitMap::kUnitBytes});
    UnitMap map{{.units = addresses.block(), .taken = taken.data(), .dirty = dirty.data()},
                {.make_usable = make_usable,
                 .has_grown = has_grown,
                 .context = this,
                 .huge_from_units = huge_from_units}};
};

TEST(UnitMap, TellsOfGrowthWhenThereIsMore) {
    GrowingMap growing;
    ASSERT_TRUE(growing.map.take(1));
    EXPECT_EQ(growing.map.usable_units(), growing.asked_for);
    EXPECT_EQ(growing.told_of, growing.asked_for);
}

TEST(UnitMap, DoesNotGrowForWhatCannotFit) {
    GrowingMap growing;
    ASSERT_EQ(growing.map.take(10)->first, 0U);
    const std::size_t usable = growing.map.usable_units();
    EXPECT_EQ(growing.map.take(kUnits - 9).status(), Status::capacity_exhausted);
    EXPECT_EQ(growing.map.usable_units(), usable);
    // With the free units at the end of those that are usable it is just enough.
    EXPECT_EQ(growing.map.take(kUnits - 10)->first, 10U);
    EXPECT_EQ(growing.map.take(1).status(), Status::capacity_exhausted);
}

TEST(UnitMap, GrowsByWholeHugePagesBeyondAPoint) {
    GrowingMap growing{.huge_from_units = 32};
    ASSERT_TRUE(growing.map.take(1));
    EXPECT_LT(growing.map.usable_units(), UnitMap::kHugeUnits);
    ASSERT_TRUE(growing.map.take(32));
    EXPECT_EQ(growing.map.usable_units(), 2 * UnitMap::kHugeUnits);
    // The end of the addresses comes first.
    ASSERT_TRUE(growing.map.take(kUnits - 33));
    EXPECT_EQ(growing.map.usable_units(), kUnits);
}

TEST(UnitMap, RecoversWhatALostThreadHeld) {
    GrowingMap growing;
    ASSERT_EQ(growing.map.take(3)->first, 0U);
    growing.map.give_back(0, 3);
    EXPECT_EQ(growing.map.free_dirty_units(), 3U);
    // As a purge holds them, or as they are given back: taken, but marked still, and not counted.
    ASSERT_TRUE(growing.map.take_at(0, 3));
    growing.dirty[0] = 0b111;
    growing.map.give_back(1, 1);
    growing.map.forget_threads();
    EXPECT_FALSE(growing.map.is_taken(1));
    EXPECT_EQ(growing.map.free_dirty_units(), 1U);
    EXPECT_EQ(growing.map.take(1)->first, 1U);
    EXPECT_EQ(growing.map.free_dirty_units(), 0U);
}

// The bits of a run are cleared before others are told where to look.
TEST(UnitMap, FindsWhatALostThreadHadJustGivenBack) {
    GrowingMap growing;
    ASSERT_EQ(growing.map.take(UnitMap::kUnitsPerWord)->first, 0U);
    ASSERT_EQ(growing.map.take(1)->first, UnitMap::kUnitsPerWord);
    growing.taken[0] = 0;
    EXPECT_EQ(growing.map.take(1)->first, UnitMap::kUnitsPerWord + 1);
    growing.map.forget_threads();
    EXPECT_EQ(growing.map.take(1)->first, 0U);
}

}  // namespace
