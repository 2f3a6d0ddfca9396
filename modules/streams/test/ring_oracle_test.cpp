#include "ring_oracle.hpp"

#include <array>
#include <cstdlib>

namespace ouro::testing_support {
namespace {

struct Case {
    const char* name;
    Tracking first;
    Tracking second;
    std::uint32_t ticks;
    std::uint64_t history_bytes;
};

class RingOracleCase : public testing::TestWithParam<Case> {};

TEST_P(RingOracleCase, EveryTickStaysAsItWas) {
    const Case& with = GetParam();
    const std::array segments = {SegmentOptions{.name = "world", .bytes = 256 << 10, .tracking = with.first},
                                 SegmentOptions{.name = "script",
                                                .bytes = 128 << 10,
                                                .kind = SegmentKind::process_bound,
                                                .tracking = with.second}};
    const std::uint64_t rounds = std::getenv("OURO_TEST_LONG") != nullptr ? 60 : 3;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto ring = StateRing::create(
            {.segments = segments, .history_ticks = with.ticks, .history_bytes = with.history_bytes});
        if (!ring && ring.status() == Status::not_supported) GTEST_SKIP() << "needs page_protection";
        ASSERT_TRUE(ring) << status_name(ring.status());
        RingOracle oracle(*ring, seed);
        for (int step = 0; step < 700; ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            oracle.step();
            if (testing::Test::HasFatalFailure()) return;
        }
        oracle.drop_all_views();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Trackers, RingOracleCase,
    testing::Values(Case{"Declared", Tracking::declared, Tracking::declared, 50, 16 << 20},
                    Case{"DeclaredWithFewTicks", Tracking::declared, Tracking::declared, 3, 16 << 20},
                    Case{"DeclaredWithFewBytes", Tracking::declared, Tracking::declared, 500, 3 << 20},
                    Case{"Compare", Tracking::compare, Tracking::compare, 50, 16 << 20},
                    Case{"Kernel", Tracking::kernel, Tracking::declared, 50, 16 << 20},
                    Case{"Protect", Tracking::declared, Tracking::protect, 50, 16 << 20},
                    Case{"Automatic", Tracking::automatic, Tracking::automatic, 20, 4 << 20}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
