// The verifier's mode: every commit names what is wrong with its tick.
#include <ouro/base/random.hpp>
#include <ouro/streams/verifier.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 128 << 10},
    SegmentOptions{.name = "table", .bytes = 64 << 10, .fine = true},
    SegmentOptions{.name = "script", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

class CommitVerifierTest : public testing::Test {
protected:
    void SetUp() override { start({}); }

    void start(StateRingOptions options) {
        ring_ = StateRing();
        verifier_.clear();
        options.segments = kSegments;
        options.history_bytes = 16 << 20;
        options.verifier = &verifier_;
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        world_ = ring_.segment_block("world")->data;
        table_ = ring_.segment_block("table")->data;
        script_ = ring_.segment_block("script")->data;
    }

    template <class T>
    void put(std::byte* at, T value, bool declares = true) {
        std::memcpy(at, &value, sizeof(value));
        if (declares) {
            ASSERT_EQ(ring_.mark(at, sizeof(value)), Status::ok);
        }
    }

    Tick commit() {
        const auto tick = ring_.commit();
        EXPECT_TRUE(tick);
        return tick.value_or(0);
    }

    CommitVerifier verifier_;
    StateRing ring_;
    std::byte* world_ = nullptr;
    std::byte* table_ = nullptr;
    std::byte* script_ = nullptr;
};

TEST_F(CommitVerifierTest, AWriteWithoutAMarkIsNamedAtItsTick) {
    verifier_.options.owner_of = [](void*, std::uint64_t) -> std::string_view { return "sparks"; };
    put(world_ + 100, 1.5);
    commit();
    EXPECT_EQ(verifier_.count(), 0U);

    put(world_ + 5000, std::uint32_t{0x01020304}, false);
    const Tick tick = commit();
    ASSERT_EQ(verifier_.kept().size(), 1U);
    const auto& [told_at, finding] = verifier_.kept()[0];
    EXPECT_EQ(told_at, tick);
    EXPECT_EQ(finding.kind, FindingKind::undeclared_write);
    EXPECT_EQ(finding.address, world_ + 5000);
    EXPECT_EQ(finding.bytes, 4U);
    EXPECT_EQ(finding.segment, "world");
    EXPECT_EQ(finding.owner.kind, OwnerKind::named);
    EXPECT_EQ(finding.owner.name, "sparks");

    // Once; and what comes later has its own tick.
    put(world_ + 100, 2.5);
    commit();
    EXPECT_EQ(verifier_.last_count(), 0U);
    put(script_ + 9000, std::uint8_t{1}, false);
    commit();
    EXPECT_EQ(verifier_.last_count(), 1U);
    ASSERT_EQ(verifier_.kept().size(), 2U);
    EXPECT_EQ(verifier_.kept()[1].tick, tick + 2);
    EXPECT_EQ(verifier_.kept()[1].finding.segment, "script");
    EXPECT_EQ(verifier_.kept()[1].finding.address, script_ + 9000);

    // The same place with another value is another write.
    put(world_ + 5000, std::uint32_t{0x05060708}, false);
    commit();
    EXPECT_EQ(verifier_.last_count(), 1U);
    // Who declares it at last is heard.
    ASSERT_EQ(ring_.mark(world_ + 5000, 4), Status::ok);
    commit();
    put(world_ + 5000, std::uint32_t{0x01020304}, false);
    commit();
    EXPECT_EQ(verifier_.last_count(), 1U);
}

TEST_F(CommitVerifierTest, InFineSegmentsALineIsEnough) {
    for (std::size_t page = 0; page < 4; ++page)
        put(table_ + page * kStatePageBytes, std::uint64_t{page + 1});
    commit();
    // Another line of a page that is declared: the page would have hidden it.
    put(table_ + kStatePageBytes, std::uint64_t{9});
    put(table_ + kStatePageBytes + 640, std::uint64_t{0x0101010101010101}, false);
    const Tick tick = commit();
    ASSERT_EQ(verifier_.count(), 1U);
    EXPECT_EQ(verifier_.kept()[0].tick, tick);
    EXPECT_EQ(verifier_.kept()[0].finding.address, table_ + kStatePageBytes + 640);
    EXPECT_EQ(verifier_.kept()[0].finding.bytes, 8U);
    EXPECT_EQ(verifier_.kept()[0].finding.segment, "table");
}

TEST_F(CommitVerifierTest, ValuesAreNamedWhenTheyComeUp) {
    const std::uint64_t word = reinterpret_cast<std::uintptr_t>(world_) + 8;
    put(world_ + 64, std::numeric_limits<float>::quiet_NaN());
    put(world_ + 8192, word);
    put(script_, word);
    put(script_ + 8, std::numeric_limits<double>::quiet_NaN());
    const Tick tick = commit();
    const bool knows_addresses = sizeof(void*) == 8;
    ASSERT_EQ(verifier_.kept().size(), knows_addresses ? 2U : 1U);
    EXPECT_EQ(verifier_.kept()[0].finding.kind, FindingKind::not_a_number);
    EXPECT_EQ(verifier_.kept()[0].finding.address, world_ + 64);
    if (knows_addresses) {
        EXPECT_EQ(verifier_.kept()[1].finding.kind, FindingKind::address);
        EXPECT_EQ(verifier_.kept()[1].finding.address, world_ + 8192);
    }
    // They stay, in a page that changes.
    put(world_ + 72, std::uint64_t{1});
    commit();
    EXPECT_EQ(verifier_.last_count(), 0U);
    put(world_ + 80, std::numeric_limits<float>::quiet_NaN());
    commit();
    EXPECT_EQ(verifier_.last_count(), 2U);
    // Gone back to before them, and simulated again.
    ASSERT_TRUE(ring_.rollback(tick - 1));
    commit();
    put(world_ + 64, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(commit(), tick + 1);
    EXPECT_EQ(verifier_.last_count(), 1U);
}

// The tick is simulated again, and the same goes wrong again.
TEST_F(CommitVerifierTest, WhatComesAgainAfterGoingBackIsToldAgain) {
    put(world_, std::uint64_t{1});
    commit();
    const auto go_wrong = [&] {
        put(world_ + 64, std::numeric_limits<float>::quiet_NaN());
        put(world_ + 5000, std::uint8_t{1}, false);
        EXPECT_EQ(commit(), 2U);
    };
    go_wrong();
    EXPECT_EQ(verifier_.last_count(), 2U);
    for (int times = 0; times < 2; ++times) {
        if (times == 0) {
            ASSERT_TRUE(ring_.rollback(1));
        } else {
            ASSERT_TRUE(ring_.branch(1));
        }
        go_wrong();
        // What nobody declared is still there: it was not gone back.
        EXPECT_EQ(verifier_.last_count(), 1U);
        EXPECT_EQ(verifier_.kept().back().finding.kind, FindingKind::not_a_number);
    }
    commit();
    EXPECT_EQ(verifier_.last_count(), 0U);
    // From the beginning.
    verifier_.clear();
    commit();
    EXPECT_EQ(verifier_.count(), 2U);
    commit();
    EXPECT_EQ(verifier_.count(), 2U);
}

TEST_F(CommitVerifierTest, TheCallbackIsToldBeforeTheCommitReturns) {
    std::vector<std::pair<Tick, const void*>> told;
    CommitVerifier verifier(
        {.finds_nans = false, .finds_addresses = false},
        [](void* context, Tick tick, const Finding& finding) {
            static_cast<std::vector<std::pair<Tick, const void*>>*>(context)->emplace_back(tick,
                                                                                           finding.address);
        },
        &told);
    auto ring = StateRing::create({.segments = kSegments, .history_bytes = 8 << 20, .verifier = &verifier});
    ASSERT_TRUE(ring);
    std::byte* world = ring->segment_block("world")->data;
    // More than are kept, each in a page of its own, and the ring may move.
    StateRing moved = *std::move(ring);
    for (unsigned step = 0; step < 2 * CommitVerifier::kMaxKept; ++step) {
        world[step % 30 * kStatePageBytes + step] = std::byte{1};
        ASSERT_TRUE(moved.commit());
        ASSERT_EQ(verifier.last_count(), step < 30 ? 1U : 2U + (step >= 60 ? 1U : 0U));
        ASSERT_EQ(
            told.back(),
            std::pair(Tick{step + 1}, static_cast<const void*>(&world[step % 30 * kStatePageBytes + step])));
    }
    EXPECT_EQ(verifier.count(), told.size());
    EXPECT_EQ(verifier.kept().size(), CommitVerifier::kMaxKept);
    verifier.clear();
    EXPECT_EQ(verifier.count(), 0U);
    EXPECT_TRUE(verifier.kept().empty());
}

// Readers may have used up all that views may take.
TEST_F(CommitVerifierTest, NoReaderKeepsItFromLooking) {
    start({.history_ticks = 64, .reader_bytes = kStatePageBytes, .unpacked_bytes = kStatePageBytes});
    for (std::uint64_t page = 0; page < 8; ++page)
        put(world_ + page * kStatePageBytes, page + 1);
    commit();
    EXPECT_EQ(ring_.view(ring_.newest()).status(), Status::budget_exceeded);
    put(world_ + 3 * kStatePageBytes + 8, std::uint8_t{1}, false);
    commit();
    EXPECT_EQ(verifier_.count(), 1U);
}

TEST_F(CommitVerifierTest, TicksThatAreSimulatedAgainAreVerified) {
    start({.history_ticks = 6, .packing = true, .dense_ticks = 2, .thinned_ticks = 60, .thin_every = 5});
    const auto step = [&](Tick tick) { put(world_, std::uint64_t{tick}); };
    while (ring_.newest() < 40) {
        step(ring_.newest() + 1);
        commit();
    }
    EXPECT_EQ(verifier_.count(), 0U);
    Tick thinned = ring_.oldest();
    while (*ring_.nearest(thinned) == thinned)
        ++thinned;
    const auto forgetful = [&](Tick tick) {
        step(tick);
        put(world_ + 50'000, std::uint8_t{1}, false);
    };
    ASSERT_TRUE(ring_.restore(thinned, forgetful));
    ASSERT_EQ(verifier_.count(), 1U);
    EXPECT_LE(verifier_.kept()[0].tick, thinned);
    EXPECT_EQ(verifier_.kept()[0].finding.address, world_ + 50'000);
}

struct TrackedCase {
    const char* name;
    Tracking tracking;
    const char* feature;
};

class VerifiedTracking : public testing::TestWithParam<TrackedCase> {};

// Writes that the system finds are declared: also in pages that it leaves open, after rollbacks, and beside
// a fine segment. One that is not, elsewhere, is found among them.
TEST_P(VerifiedTracking, RaisesNoFalseAlarm) {
    const std::array segments = {
        SegmentOptions{.name = "tracked", .bytes = 256 << 10, .tracking = GetParam().tracking},
        SegmentOptions{.name = "declared", .bytes = 64 << 10},
        SegmentOptions{.name = "fine", .bytes = 64 << 10, .fine = true},
    };
    CommitVerifier verifier({.finds_nans = false, .finds_addresses = false});
    auto ring = StateRing::create(
        {.segments = segments, .history_ticks = 20, .history_bytes = 8 << 20, .verifier = &verifier});
    if (ring.status() == Status::not_supported) GTEST_SKIP() << "needs " << GetParam().feature;
    ASSERT_TRUE(ring) << status_name(ring.status());
    const MemoryBlock tracked = *ring->segment_block("tracked");
    const MemoryBlock fine = *ring->segment_block("fine");
    Random random(7);
    for (int step = 0; step < 200; ++step) {
        // Some pages every tick, others now and then.
        for (std::uint32_t page = 0; page < 6; ++page)
            tracked.data[page * kStatePageBytes + random.below(4096)] ^= std::byte{0x55};
        for (std::uint32_t count = random.below(5); count != 0; --count)
            tracked.data[random.below(static_cast<std::uint32_t>(tracked.size))] ^= std::byte{0x2a};
        std::byte* at = fine.data + random.below(static_cast<std::uint32_t>(fine.size));
        *at ^= std::byte{1};
        ASSERT_EQ(ring->mark(at, 1), Status::ok);
        ASSERT_TRUE(ring->commit());
        ASSERT_EQ(verifier.count(), 0U) << "seed 7, step " << step;
        if (random.below(10) == 0) {
            ASSERT_TRUE(ring->rollback(std::max(ring->oldest(), ring->newest() - 1)));
        }
    }
    std::byte* forgotten = ring->segment_block("declared")->data + 1234;
    *forgotten = std::byte{1};
    ASSERT_TRUE(ring->commit());
    ASSERT_EQ(verifier.count(), 1U);
    EXPECT_EQ(verifier.kept()[0].finding.address, forgotten);
    EXPECT_EQ(verifier.kept()[0].finding.segment, "declared");
}

INSTANTIATE_TEST_SUITE_P(Trackers, VerifiedTracking,
                         testing::Values(TrackedCase{"Kernel", Tracking::kernel, "userfaultfd_wp_async"},
                                         TrackedCase{"Protect", Tracking::protect, "page_protection"},
                                         TrackedCase{"Compare", Tracking::compare, nullptr},
                                         TrackedCase{"Automatic", Tracking::automatic, nullptr}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro
