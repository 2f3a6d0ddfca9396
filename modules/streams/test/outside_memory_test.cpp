#include "segments_test.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/sync_test.hpp>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 64 << 10},
    SegmentOptions{.name = "outside", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
    SegmentOptions{.name = "compared",
                   .bytes = 64 << 10,
                   .kind = SegmentKind::process_bound,
                   .tracking = Tracking::compare},
};

class OutsideMemoryTest : public testing_support::SegmentsTest {
protected:
    OutsideMemoryTest() : SegmentsTest(kSegments) {}

    void commit() { ASSERT_TRUE(ring_.commit()); }

    static MemoryBlock block_of(auto& object) {
        return {reinterpret_cast<std::byte*>(&object), sizeof(object)};
    }
};

TEST_F(OutsideMemoryTest, IsKeptAndComesBack) {
    int counter = 1;
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(counter)));
    commit();
    const std::uint64_t hash = *ring_.hash(1, SegmentKind::process_bound);
    counter = 2;
    commit();
    EXPECT_NE(*ring_.hash(2, SegmentKind::process_bound), hash);
    counter = 3;
    ASSERT_TRUE(ring_.rollback(2));
    EXPECT_EQ(counter, 2);
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(counter, 1);
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_F(OutsideMemoryTest, BranchesPutItBackAndViewsReadIt) {
    int counter = 1;
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(counter)));
    const auto offset = ring_.outside_offset(&counter);
    ASSERT_TRUE(offset);
    commit();
    counter = 2;
    commit();
    const auto future = ring_.branch(1);
    ASSERT_TRUE(future);
    EXPECT_EQ(counter, 1);
    int then = 0;
    ASSERT_EQ(ring_.view(*future, 2)->read(*offset, std::as_writable_bytes(std::span(&then, 1))), Status::ok);
    EXPECT_EQ(then, 2);
    ASSERT_TRUE(ring_.drop(*future));
}

TEST_F(OutsideMemoryTest, WhatDidNotChangeIsNotCapturedAgain) {
    std::array<std::byte, 20'000> bytes{};
    bytes.fill(std::byte{7});
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(bytes)));
    commit();
    EXPECT_EQ(ring_.stats().last_pages, 5U);
    commit();
    EXPECT_EQ(ring_.stats().last_pages, 0U);
    bytes[10'000] = std::byte{8};
    commit();
    EXPECT_EQ(ring_.stats().last_pages, 1U);
}

TEST_F(OutsideMemoryTest, ATickBeforeLeavesItAlone) {
    int counter = 1;
    commit();
    commit();
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(counter)));
    counter = 5;
    commit();
    counter = 6;
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(counter, 6);
    // The ticks from here on have it, though there were such numbers before.
    commit();
    counter = 7;
    commit();
    ASSERT_TRUE(ring_.rollback(2));
    EXPECT_EQ(counter, 6);
    counter = 8;
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(counter, 8);
}

TEST_F(OutsideMemoryTest, ReleasedItStaysAsItIs) {
    int counter = 1;
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(counter)));
    commit();
    EXPECT_TRUE(ring_.release_outside(block_of(counter)));
    EXPECT_EQ(ring_.release_outside(block_of(counter)).status(), Status::not_found);
    EXPECT_EQ(ring_.outside_offset(&counter).status(), Status::not_found);
    counter = 2;
    commit();
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(counter, 2);
}

TEST_F(OutsideMemoryTest, BadOnesAreRefused) {
    std::array<std::byte, 100> bytes{};
    const auto keep = [&](std::string_view segment, MemoryBlock block) {
        return ring_.keep_outside(segment, block).status();
    };
    EXPECT_EQ(keep("outside", {}), Status::bad_address);
    EXPECT_EQ(keep("outside", {bytes.data(), 0}), Status::zero_size);
    EXPECT_EQ(keep("outside", {bytes.data(), SIZE_MAX}), Status::size_overflow);
    EXPECT_EQ(keep("nowhere", block_of(bytes)), Status::not_found);
    EXPECT_EQ(keep("world", block_of(bytes)), Status::bad_argument);
    EXPECT_EQ(keep("outside", ring_.image().sub(100, 10)), Status::bad_address);
    ASSERT_EQ(keep("outside", {bytes.data() + 10, 20}), Status::ok);
    EXPECT_EQ(keep("outside", {bytes.data(), 11}), Status::address_in_use);
    EXPECT_EQ(keep("compared", {bytes.data() + 29, 5}), Status::address_in_use);
    EXPECT_EQ(keep("compared", {bytes.data() + 30, 5}), Status::ok);
    EXPECT_EQ(keep("compared", {bytes.data(), 10}), Status::ok);
}

TEST_F(OutsideMemoryTest, ItsSegmentCanBeFullAndIsUsedAgain) {
    std::vector<std::byte> bytes(80'000);
    const MemoryBlock large{bytes.data(), 60'000};
    const MemoryBlock small{bytes.data() + 70'000, 10'000};
    EXPECT_EQ(ring_.keep_outside("outside", {bytes.data(), 65'537}).status(), Status::capacity_exhausted);
    ASSERT_TRUE(ring_.keep_outside("outside", large));
    EXPECT_EQ(ring_.keep_outside("outside", small).status(), Status::capacity_exhausted);
    ASSERT_TRUE(ring_.release_outside(large));
    ASSERT_TRUE(ring_.keep_outside("outside", small));
    ASSERT_TRUE(ring_.keep_outside("outside", {bytes.data(), 55'000}));
    std::array<int, 100> many{};
    Status last = Status::ok;
    for (int& each : many)
        if (last == Status::ok) last = ring_.keep_outside("compared", block_of(each)).status();
    EXPECT_EQ(last, Status::capacity_exhausted);
}

TEST_F(OutsideMemoryTest, TheTestOfDeterminismCoversIt) {
    std::uint64_t counter = 0;
    const auto step = [&](Tick tick) { counter = counter * 7 + tick; };
    const auto run = [&] {
        for (int tick = 0; tick < 8; ++tick) {
            step(ring_.newest() + 1);
            commit();
        }
        return sync_test(ring_, 4, step);
    };
    ASSERT_TRUE(ring_.keep_outside("outside", block_of(counter)));
    const auto outcome = run();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->ticks, 4U);
    EXPECT_FALSE(outcome->differs);
}

// Several ranges that change at random, against copies.
TEST_F(OutsideMemoryTest, RandomChangesComeBackByteForByte) {
    const std::uint64_t seed = 5;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::byte> bytes(30'000);
    ASSERT_TRUE(ring_.keep_outside("outside", {bytes.data(), 9'999}));
    ASSERT_TRUE(ring_.keep_outside("compared", {bytes.data() + 9'999, 1}));
    ASSERT_TRUE(ring_.keep_outside("outside", {bytes.data() + 10'000, 20'000}));
    std::map<Tick, std::vector<std::byte>> copies;
    for (int step = 0; step < 400; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        for (std::uint32_t write = random.below(6); write > 0; --write)
            bytes[random.below(30'000)] = static_cast<std::byte>(random.below(256));
        if (random.below(3) != 0 || copies.empty()) {
            commit();
            copies[ring_.newest()] = bytes;
            continue;
        }
        const Tick oldest = std::max<Tick>(ring_.oldest(), 1);
        const Tick target = oldest + random.below(static_cast<std::uint32_t>(ring_.newest() - oldest + 1));
        ASSERT_TRUE(ring_.rollback(target));
        ASSERT_EQ(bytes, copies[target]);
        copies.erase(copies.upper_bound(target), copies.end());
    }
}

// A thinned-out tick is simulated again from what lay outside then, and leaves it as it was.
TEST(OutsideMemoryThinned, IsRestoredAndSavedOnTheWay) {
    auto ring = StateRing::create({.segments = kSegments,
                                   .history_ticks = 40,
                                   .history_bytes = 16 << 20,
                                   .packing = true,
                                   .dense_ticks = 2,
                                   .thinned_ticks = 200,
                                   .thin_every = 8});
    ASSERT_TRUE(ring);
    std::uint64_t counter = 0;
    ASSERT_TRUE(ring->keep_outside("outside", {reinterpret_cast<std::byte*>(&counter), sizeof(counter)}));
    const auto step = [&](Tick) { counter = counter * 3 + 1; };
    std::vector<std::uint64_t> values = {0};
    for (Tick tick = 1; tick <= 150; ++tick) {
        step(tick);
        values.push_back(counter);
        ASSERT_TRUE(ring->commit());
    }
    Tick thinned = 0;
    for (Tick tick = 0; tick < 150; ++tick) {
        if (const auto view = ring->view(tick); view.status() == Status::tick_thinned) thinned = tick;
    }
    ASSERT_NE(thinned, 0U);
    counter = 12'345;
    const auto restored = ring->restore(thinned, step);
    ASSERT_TRUE(restored) << status_name(restored.status());
    EXPECT_EQ(counter, values[static_cast<std::size_t>(thinned)]);
    EXPECT_EQ(ring->newest(), thinned);
}

}  // namespace
}  // namespace ouro
