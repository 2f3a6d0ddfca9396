#include <ouro/os/clock.hpp>

#include <gtest/gtest.h>

namespace {

TEST(Clock, NeverGoesBackAndMovesOn) {
    const auto start = ouro::os::monotonic_ns();
    auto last = start;
    for (int i = 0; i < 10000 || last == start; ++i) {
        const auto now = ouro::os::monotonic_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GT(last, start);
}

}  // namespace
