#pragma once

#include "ring_oracle.hpp"

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A ring with two segments, and the bounds of its history.
struct OracleCase {
    const char* name;
    Tracking first;
    Tracking second;
    std::uint32_t ticks;
    std::uint64_t history_bytes;
};

inline constexpr std::array kOracleCases = {
    OracleCase{"Declared", Tracking::declared, Tracking::declared, 50, 16 << 20},
    OracleCase{"DeclaredWithFewTicks", Tracking::declared, Tracking::declared, 3, 16 << 20},
    OracleCase{"DeclaredWithFewBytes", Tracking::declared, Tracking::declared, 500, 3 << 20},
    OracleCase{"Compare", Tracking::compare, Tracking::compare, 50, 16 << 20},
    OracleCase{"Kernel", Tracking::kernel, Tracking::declared, 50, 16 << 20},
    OracleCase{"Protect", Tracking::declared, Tracking::protect, 50, 16 << 20},
    OracleCase{"Automatic", Tracking::automatic, Tracking::automatic, 20, 4 << 20},
};

inline constexpr int kOracleSteps = 700;

// What a machine must have for it, or null.
inline const char* feature_for(Tracking tracking) {
    if (tracking == Tracking::kernel) return "userfaultfd_wp_async";
    return tracking == Tracking::protect ? "page_protection" : nullptr;
}

inline void run_oracle(const OracleCase& with, std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::array segments = {SegmentOptions{.name = "world", .bytes = 256 << 10, .tracking = with.first},
                                 SegmentOptions{.name = "script",
                                                .bytes = 128 << 10,
                                                .kind = SegmentKind::process_bound,
                                                .tracking = with.second}};
    auto ring = StateRing::create(
        {.segments = segments, .history_ticks = with.ticks, .history_bytes = with.history_bytes});
    if (ring.status() == Status::not_supported) {
        const char* first = feature_for(with.first);
        GTEST_SKIP() << "needs " << (first != nullptr ? first : feature_for(with.second));
    }
    ASSERT_TRUE(ring) << status_name(ring.status());
    RingOracle oracle(*ring, seed);
    for (int step = 0; step < kOracleSteps; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        oracle.step();
        if (testing::Test::HasFatalFailure()) return;
    }
    oracle.drop_all_views();
}

}  // namespace ouro::testing_support
