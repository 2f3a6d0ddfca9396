// A commit or rollback that fails leaves the memory outside the image as it was, and the next one is whole.
#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

namespace ouro {
namespace {

namespace inject = os::fault_injection;

constexpr std::array kSegments = {
    SegmentOptions{.name = "kernel",
                   .bytes = 64 << 10,
                   .kind = SegmentKind::process_bound,
                   .tracking = Tracking::kernel},
    SegmentOptions{.name = "outside", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

TEST(OutsideFaults, NothingIsHalfDone) {
    auto ring = StateRing::create({.segments = kSegments, .history_ticks = 8, .history_bytes = 4 << 20});
    if (ring.status() == Status::not_supported) GTEST_SKIP() << "needs userfaultfd_wp_async";
    ASSERT_TRUE(ring);
    std::array<int, 3000> outside{};
    const MemoryBlock block{reinterpret_cast<std::byte*>(outside.data()), sizeof(outside)};
    ASSERT_TRUE(ring->keep_outside("outside", block));
    std::byte* inside = ring->segment_block("kernel")->data;
    const auto write = [&](int value) {
        outside.fill(value);
        std::memset(inside, value, 9000);
    };
    const auto holds = [&](int value) {
        return outside.front() == value && outside.back() == value && inside[8999] == std::byte(value);
    };
    write(1);
    ASSERT_TRUE(ring->commit());
    write(2);
    inject::fail_nth(os::OsCall::scan_pagemap, 1, ENOMEM);
    EXPECT_FALSE(ring->commit());
    EXPECT_TRUE(holds(2));
    inject::fail_nth(os::OsCall::scan_pagemap, 1, ENOMEM);
    EXPECT_FALSE(ring->rollback(1));
    EXPECT_TRUE(holds(2));
    inject::fail_nth(os::OsCall::scan_pagemap, 1, ENOMEM);
    EXPECT_FALSE(ring->branch(0));
    EXPECT_TRUE(holds(2));
    inject::clear();
    EXPECT_EQ(ring->newest(), 1U);
    ASSERT_TRUE(ring->commit());
    write(3);
    ASSERT_TRUE(ring->rollback(2));
    EXPECT_TRUE(holds(2));
    ASSERT_TRUE(ring->rollback(1));
    EXPECT_TRUE(holds(1));
    EXPECT_EQ(ring->check(), Status::ok);
}

}  // namespace
}  // namespace ouro
