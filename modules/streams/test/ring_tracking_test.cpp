// What trackers are asked, and what they are spared.
#include "ring_pause.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/tracker_choice.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::size_t kBytes = 512 << 10;

class TrackedRing : public testing::Test {
protected:
    void make(Tracking tracking) {
        const SegmentOptions world{.name = "world", .bytes = kBytes, .tracking = tracking};
        auto ring =
            StateRing::create({.segments = {&world, 1}, .history_ticks = 100, .history_bytes = 16 << 20});
        if (ring.status() == Status::not_supported)
            GTEST_SKIP() << "needs "
                         << (tracking == Tracking::kernel ? "userfaultfd_wp_async" : "page_protection");
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        world_ = *ring_.segment_block("world");
    }
    void put(std::size_t page, std::uint64_t value) {
        std::byte* const at = world_.data + page * kStatePageBytes;
        std::memcpy(at, &value, sizeof(value));
        if (ring_.segments()[0].tracking == Tracking::declared) (void)ring_.mark(at, sizeof(value));
    }
    // How many pages the tick that ends now has.
    std::uint32_t commit() {
        EXPECT_TRUE(ring_.commit());
        return ring_.stats().last_pages;
    }

    StateRing ring_;
    MemoryBlock world_;
};

class RingTracking : public TrackedRing, public testing::WithParamInterface<Tracking> {};

// What a rollback restores is no write: neither the next tick nor another way back finds any.
TEST_P(RingTracking, WhatARollbackRestoresIsNotFoundWritten) {
    make(GetParam());
    if (IsSkipped()) return;
    for (Tick tick = 1; tick <= 6; ++tick) {
        put(static_cast<std::size_t>(20 * (tick % 3) + tick), tick);
        // Twice, but never three times running: hot pages are captured in any case.
        if (tick % 3 != 0) put(100, tick);
        EXPECT_GE(commit(), 1U);
    }
    for (const Tick tick : {Tick{4}, Tick{2}, Tick{0}}) {
        ASSERT_TRUE(ring_.rollback(tick));
        const std::uint64_t hash = *ring_.hash(tick);
        EXPECT_EQ(commit(), 0U) << "after going back to " << tick;
        EXPECT_EQ(*ring_.hash(tick + 1), hash);
        const std::uint64_t restored = ring_.stats().pages_restored;
        ASSERT_TRUE(ring_.rollback(tick));
        EXPECT_EQ(ring_.stats().pages_restored, restored);
    }
    EXPECT_EQ(ring_.check(), Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Each, RingTracking,
                         testing::Values(Tracking::declared, Tracking::kernel, Tracking::protect,
                                         Tracking::compare),
                         [](const auto& each) { return std::string(tracking_name(each.param)); });

// Its faults are saved by it, at the price of a few copies once it is written no more.
TEST_F(TrackedRing, AHotPageIsCapturedWithoutAskingForAWhile) {
    make(Tracking::kernel);
    if (IsSkipped()) return;
    for (std::uint64_t value = 1; value <= 8; ++value) {
        put(3, value);
        EXPECT_EQ(commit(), 1U);
    }
    std::uint32_t in_vain = 0;
    for (int count = 0; count < 4; ++count)
        in_vain += commit();
    EXPECT_GT(in_vain, 0U);
    for (int count = 0; count < 40; ++count)
        (void)commit();
    EXPECT_EQ(commit(), 0U);
    // One that was written once is not.
    put(50, 1);
    EXPECT_EQ(commit(), 1U);
    EXPECT_EQ(commit(), 0U);
}

// Another thread, that writes a page when the ring has just found it as it was and has not armed it yet.
struct LateWriter {
    static inline std::byte* page = nullptr;

    static void write(detail::RingPause step) {
        if (step != detail::RingPause::pages_looked_at || page == nullptr) return;
        *std::exchange(page, nullptr) = std::byte{200};
    }
};

// The tick that looks may have it or not; the next one has.
TEST_F(TrackedRing, AWriteBetweenTheLookAtAHotPageAndItsArmingIsNotLost) {
    make(Tracking::kernel);
    if (IsSkipped()) return;
    for (std::uint64_t value = 1; value <= 8; ++value) {
        put(3, value);
        EXPECT_EQ(commit(), 1U);
    }
    LateWriter::page = world_.data + 3 * kStatePageBytes;
    detail::ring_pause = LateWriter::write;
    for (int count = 0; count < 40 && LateWriter::page != nullptr; ++count)
        (void)commit();
    detail::ring_pause = nullptr;
    ASSERT_EQ(LateWriter::page, nullptr) << "the page was looked at";
    (void)commit();
    const std::byte* const live = world_.data + 3 * kStatePageBytes;
    EXPECT_EQ(*live, std::byte{200});
    const auto tick = ring_.view(ring_.newest());
    ASSERT_TRUE(tick);
    EXPECT_EQ(std::memcmp(tick->page(ring_.segments()[0].first_page() + 3), live, kStatePageBytes), 0);
    EXPECT_EQ(commit(), 0U);
    put(3, 201);
    EXPECT_EQ(commit(), 1U);
}

TEST(AutomaticTracking, IsTheBestThatTheMachineOffers) {
    const os::TrackerChoice choice = os::choose_tracker(os::query_capabilities());
    const SegmentOptions world{.name = "world", .bytes = kBytes, .tracking = Tracking::automatic};
    auto ring = StateRing::create({.segments = {&world, 1}, .history_ticks = 9, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring);
    const Tracking expected = choice.kind == os::TrackerKind::kernel    ? Tracking::kernel
                              : choice.kind == os::TrackerKind::protect ? Tracking::protect
                                                                        : Tracking::compare;
    EXPECT_EQ(ring->segments()[0].tracking, expected);
    EXPECT_EQ(ring->segments()[0].reason, choice.reason);
}

}  // namespace
}  // namespace ouro
