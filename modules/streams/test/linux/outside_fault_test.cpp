// A tracker that fails keeps neither the image nor the memory outside from being committed and brought back.
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

TEST(OutsideFaults, ATrackerThatFailsChangesNothing) {
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
    inject::fail_from(os::OsCall::scan_pagemap, 1, ENOMEM);
    ASSERT_TRUE(ring->commit());
    write(3);
    ASSERT_TRUE(ring->rollback(2));
    EXPECT_TRUE(holds(2));
    write(3);
    ASSERT_TRUE(ring->branch(1));
    EXPECT_TRUE(holds(1));
    EXPECT_EQ(ring->stats().failed_scans, 3U);
    inject::clear();
    write(4);
    ASSERT_TRUE(ring->commit());
    EXPECT_EQ(ring->stats().failed_scans, 3U);
    write(5);
    ASSERT_TRUE(ring->rollback(2));
    EXPECT_TRUE(holds(4));
    ASSERT_TRUE(ring->rollback(1));
    EXPECT_TRUE(holds(1));
    EXPECT_EQ(ring->check(), Status::ok);
}

// The copies of what is outside lie in memory that cannot be opened for anybody who writes.
TEST(OutsideFaults, CopiesAreKeptWhereNothingCanBeOpened) {
    constexpr SegmentOptions kProtected{.name = "outside",
                                        .bytes = 256 << 10,
                                        .kind = SegmentKind::process_bound,
                                        .tracking = Tracking::protect};
    auto ring =
        StateRing::create({.segments = {&kProtected, 1}, .history_ticks = 8, .history_bytes = 4 << 20});
    ASSERT_TRUE(ring);
    std::array<int, 3000> outside{};
    const MemoryBlock block{reinterpret_cast<std::byte*>(outside.data()), sizeof(outside)};
    ASSERT_TRUE(ring->keep_outside("outside", block));
    const auto holds = [&](int value) { return outside.front() == value && outside.back() == value; };
    outside.fill(1);
    ASSERT_TRUE(ring->commit());
    inject::fail_from(os::OsCall::protect_memory, 1, ENOMEM);
    for (const int value : {2, 3}) {
        outside.fill(value);
        ASSERT_TRUE(ring->commit());
        EXPECT_EQ(ring->stats().last_pages, 3U);
    }
    outside.fill(4);
    ASSERT_TRUE(ring->rollback(2));
    EXPECT_TRUE(holds(2));
    inject::clear();
    outside.fill(5);
    ASSERT_TRUE(ring->commit());
    outside.fill(6);
    ASSERT_TRUE(ring->rollback(3));
    EXPECT_TRUE(holds(5));
    ASSERT_TRUE(ring->rollback(1));
    EXPECT_TRUE(holds(1));
    EXPECT_EQ(ring->check(), Status::ok);
}

}  // namespace
}  // namespace ouro
