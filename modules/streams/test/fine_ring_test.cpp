// Fine segments beside what else a ring does; ring_oracle_test compares them byte for byte.
#include <ouro/streams/state_ring.hpp>
#include <ouro/streams/sync_test.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 64 << 10, .fine = true};
constexpr auto kFirstPage = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);

class FineRingTest : public testing::Test {
protected:
    void start(StateRingOptions options) {
        options.segments = {&kWorld, 1};
        options.history_bytes = 16 << 20;
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        world_ = ring_.segment_block("world")->data;
    }

    void put(std::size_t at, std::uint64_t value, bool declares = true) {
        std::memcpy(world_ + at, &value, sizeof(value));
        if (!declares) return;
        ASSERT_EQ(ring_.mark(world_ + at, sizeof(value)), Status::ok);
    }
    [[nodiscard]] static std::uint64_t number_at(const std::byte* at) {
        std::uint64_t value = 0;
        std::memcpy(&value, at, sizeof(value));
        return value;
    }

    // Runs of ticks in which a line of the first page is declared, and of such in which all of it is; the
    // first number is that of the tick.
    void run(Tick ticks, Tick lines, Tick pages) {
        while (ring_.newest() < ticks) {
            const Tick tick = ring_.newest() + 1;
            put(0, tick);
            if (tick % (lines + pages) >= lines) {
                ASSERT_EQ(ring_.mark(world_, kStatePageBytes), Status::ok);
            }
            ASSERT_TRUE(ring_.commit());
        }
    }
    void expect_all_are_there() {
        ASSERT_EQ(ring_.check(), Status::ok);
        for (Tick tick = std::max<Tick>(1, ring_.oldest()); tick <= ring_.newest(); ++tick) {
            if (ring_.nearest(tick).value_or(0) != tick) continue;
            const auto view = ring_.view(tick);
            ASSERT_TRUE(view) << status_name(view.status());
            ASSERT_EQ(number_at(view->page(kFirstPage)), tick);
        }
    }

    StateRing ring_;
    std::byte* world_ = nullptr;
};

// A whole version that is packed against one that becomes lines, again and again: what it takes to read the
// first must not grow with the history.
TEST_F(FineRingTest, LinesAndPackedVersionsDoNotGrowTogether) {
    for (const std::uint32_t dense_ticks : {0U, 1U, 5U}) {
        SCOPED_TRACE("dense " + std::to_string(dense_ticks));
        start({.history_ticks = 300, .packing = true, .dense_ticks = dense_ticks});
        run(200, 1, 0);
        ASSERT_NO_FATAL_FAILURE(expect_all_are_there());
        ASSERT_TRUE(ring_.rollback(1));
        EXPECT_EQ(number_at(world_), 1U);
        EXPECT_EQ(ring_.check(), Status::ok);
    }
}

// Lines, packed and thinned-out versions follow each other as far as each of them goes.
TEST_F(FineRingTest, ThinnedOutTicksAreReadThroughLinesAndPackedVersions) {
    for (const Tick pages : {1U, 8U, 15U, 16U, 17U, 40U}) {
        SCOPED_TRACE(std::to_string(pages) + " whole pages running");
        start({.history_ticks = 80, .packing = true, .thinned_ticks = 400, .thin_every = 2});
        for (Tick ticks = 150; ticks <= 250; ticks += 3) {
            run(ticks, 16, pages);
            ASSERT_NO_FATAL_FAILURE(expect_all_are_there());
        }
        ASSERT_TRUE(ring_.rollback(*ring_.nearest(2)));
        EXPECT_EQ(ring_.check(), Status::ok);
    }
}

// What is kept has a hash of its own, whatever else was written: going back must not take it for damaged.
TEST_F(FineRingTest, ALineThatNobodyDeclaredIsNamedBySyncTest) {
    constexpr std::size_t kUndeclared = 640;
    start({.history_ticks = 40});
    const auto step = [&](Tick tick) {
        put(0, tick);
        put(kUndeclared, 0x0101010101010101 * tick, false);
    };
    ASSERT_EQ(ring_.mark(world_, kStatePageBytes), Status::ok);
    while (ring_.newest() < 12) {
        step(ring_.newest() + 1);
        ASSERT_TRUE(ring_.commit());
    }
    ASSERT_EQ(ring_.check(), Status::ok);
    const auto outcome = sync_test(ring_, 6, step);
    ASSERT_TRUE(outcome) << status_name(outcome.status());
    // The first tick after going back is captured whole.
    EXPECT_TRUE(outcome->differs);
    EXPECT_TRUE(outcome->difference.page_known);
    EXPECT_EQ(outcome->difference.offset, kSegmentAlignment + kUndeclared);
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_F(FineRingTest, AReaderIsNotLedAstrayByALineThatNobodyDeclared) {
    start({.history_ticks = 40});
    for (Tick tick = 1; tick <= 12; ++tick) {
        put(0, tick);
        put(640, tick, tick == 1);
        ASSERT_TRUE(ring_.commit());
    }
    const auto view = ring_.view(12);
    ASSERT_TRUE(view);
    ASSERT_TRUE(ring_.rollback(6));
    EXPECT_EQ(number_at(world_), 6U);
    EXPECT_EQ(number_at(world_ + 640), 1U);
    EXPECT_EQ(number_at(view->page(kFirstPage)), 12U);
    EXPECT_EQ(number_at(view->page(kFirstPage) + 640), 1U);
    EXPECT_EQ(ring_.check(), Status::ok);
}

// Whichever of the two comes first.
TEST_F(FineRingTest, APageThatIsMarkedAsAWholeIsKeptWhole) {
    start({.history_ticks = 40});
    put(0, 1);
    ASSERT_TRUE(ring_.commit());
    for (std::uint64_t round = 2; round < 6; ++round) {
        if (round % 2 == 0) ring_.marks().mark_page(kFirstPage);
        put(0, round);
        if (round % 2 != 0) ring_.marks().mark_page(kFirstPage);
        put(2048, round, false);
        ASSERT_TRUE(ring_.commit());
        const auto view = ring_.view(ring_.newest());
        ASSERT_TRUE(view);
        EXPECT_EQ(number_at(view->page(kFirstPage)), round);
        EXPECT_EQ(number_at(view->page(kFirstPage) + 2048), round);
    }
    ASSERT_TRUE(ring_.rollback(2));
    EXPECT_EQ(number_at(world_ + 2048), 2U);
    EXPECT_EQ(ring_.check(), Status::ok);
}

}  // namespace
}  // namespace ouro
