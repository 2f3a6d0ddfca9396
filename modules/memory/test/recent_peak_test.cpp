#include <ouro/memory/detail/recent_peak.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::detail::RecentPeak;

constexpr std::uint64_t kSecond = RecentPeak::kHalfLifeNs;

TEST(RecentPeak, WhatHappenedSinceTheLastLookIsNew) {
    RecentPeak peak;
    peak.note(1000);
    EXPECT_EQ(peak.at(10 * kSecond, 0), 1000U);
    // A second wave, lower and long after.
    peak.note(800);
    EXPECT_EQ(peak.at(50 * kSecond, 0), 800U);
    EXPECT_EQ(peak.at(51 * kSecond - 1, 0), 800U);
}

TEST(RecentPeak, SinksByHalvesTowardsWhatThereIs) {
    RecentPeak peak;
    peak.note(1000);
    EXPECT_EQ(peak.at(10 * kSecond, 200), 1000U);
    EXPECT_EQ(peak.at(11 * kSecond, 200), 600U);
    EXPECT_EQ(peak.at(13 * kSecond, 200), 300U);
    EXPECT_EQ(peak.at(1000 * kSecond, 200), 200U);
}

TEST(RecentPeak, IsNeverBelowWhatThereIs) {
    RecentPeak peak;
    peak.note(10);
    EXPECT_EQ(peak.at(kSecond, 50), 50U);
    EXPECT_EQ(peak.at(0, 70), 70U);
}

}  // namespace
