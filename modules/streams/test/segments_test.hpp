#pragma once

#include <ouro/streams/state_ring.hpp>

#include <span>
#include <utility>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// Tests of a ring with small segments of many kinds.
class SegmentsTest : public testing::Test {
protected:
    explicit SegmentsTest(std::span<const SegmentOptions> segments) : segments_(segments) {}

    void SetUp() override {
        auto ring =
            StateRing::create({.segments = segments_, .history_ticks = 30, .history_bytes = 16 << 20});
        ASSERT_TRUE(ring);
        ring_ = *std::move(ring);
    }

    std::span<const SegmentOptions> segments_;
    StateRing ring_;
};

}  // namespace ouro::testing_support
