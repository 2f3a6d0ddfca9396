#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>
#include <ouro/streams/sync_test.hpp>
#include <ouro/streams/verifier.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 128 << 10};

class HashMaskTest : public testing::Test {
protected:
    void SetUp() override {
        ring_ = make_ring();
        world_ = ring_.segment_block("world")->data;
    }

    static StateRing make_ring() {
        auto ring =
            StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 20, .history_bytes = 8 << 20});
        EXPECT_TRUE(ring);
        return ring ? *std::move(ring) : StateRing();
    }
    static void put(StateRing& ring, std::size_t at, std::uint64_t value) {
        std::byte* place = ring.segment_block("world")->data + at;
        std::memcpy(place, &value, sizeof(value));
        EXPECT_EQ(ring.mark(place, sizeof(value)), Status::ok);
    }
    void put(std::size_t at, std::uint64_t value) { put(ring_, at, value); }
    [[nodiscard]] std::uint64_t get(std::size_t at) const {
        std::uint64_t value = 0;
        std::memcpy(&value, world_ + at, sizeof(value));
        return value;
    }
    std::uint64_t commit() {
        const auto tick = ring_.commit();
        EXPECT_TRUE(tick);
        return *ring_.hash(ring_.newest());
    }

    // What the hash of the present must be, from the bytes alone.
    [[nodiscard]] std::uint64_t expected_hash() const {
        std::uint64_t sum = 0;
        const MemoryBlock image = ring_.image();
        for (std::size_t begin = 0; begin < image.size; begin += kStatePageBytes) {
            std::vector<std::byte> page(image.data + begin, image.data + begin + kStatePageBytes);
            for (std::size_t at = 0; at < page.size(); ++at)
                if (ring_.is_masked(begin + at)) page[at] = std::byte{0};
            const bool is_zero = page == std::vector<std::byte>(kStatePageBytes);
            if (!is_zero) sum += hash_bytes(page, begin / kStatePageBytes);
        }
        return sum;
    }

    StateRing ring_;
    std::byte* world_ = nullptr;
};

TEST_F(HashMaskTest, WhatIsMaskedDoesNotCountButIsRolledBack) {
    put(512, 1);
    put(520, 1000);
    ASSERT_TRUE(ring_.mask(world_ + 520, 8));
    const std::uint64_t first = commit();
    EXPECT_EQ(first, expected_hash());
    put(520, 2000);
    EXPECT_EQ(commit(), first);
    put(512, 2);
    EXPECT_NE(commit(), first);
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(get(512), 1U);
    EXPECT_EQ(get(520), 1000U);
    EXPECT_EQ(*ring_.hash(1), first);
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_F(HashMaskTest, WithoutOneTheClockMakesHashesDiffer) {
    put(520, 1000);
    const std::uint64_t first = commit();
    put(520, 2000);
    EXPECT_NE(commit(), first);
}

TEST_F(HashMaskTest, OverPagesAndAtTheirEdges) {
    ASSERT_TRUE(ring_.mask(world_ + 4090, 4096 + 12));
    ASSERT_TRUE(ring_.mask(world_ + 3, 5));
    ASSERT_TRUE(ring_.mask(world_ + 4088, 2));
    ASSERT_TRUE(ring_.mask(world_ + kWorld.bytes - 1, 1));
    for (std::size_t at = 0; at < 12'288; at += 8)
        put(at, at * 0x9e3779b97f4a7c15U + 1);
    put(kWorld.bytes - 8, ~std::uint64_t{0});
    EXPECT_EQ(commit(), expected_hash());
}

TEST_F(HashMaskTest, APageOfWhichNothingElseIsLeftCountsAsZero) {
    const std::uint64_t empty = commit();
    ASSERT_TRUE(ring_.mask(world_ + 4096, 4096));
    put(5000, 77);
    EXPECT_EQ(commit(), empty);
}

TEST_F(HashMaskTest, RandomMasksAndWritesGiveWhatTheBytesSay) {
    const std::uint64_t seed = 20;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::pair<std::byte*, std::size_t>> masks;
    for (int step = 0; step < 300; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        for (int write = 0; write < 5; ++write)
            put(random.below(4000) * std::size_t{8}, random.next());
        std::byte* at = world_ + random.below(32'000);
        const std::size_t bytes = 1 + random.below(6000);
        if (random.below(4) == 0 && ring_.mask(at, bytes)) masks.emplace_back(at, bytes);
        if (random.below(5) == 0 && !masks.empty()) {
            const std::size_t which = random.below(static_cast<std::uint32_t>(masks.size()));
            ASSERT_TRUE(ring_.unmask(masks[which].first, masks[which].second));
            masks.erase(masks.begin() + static_cast<std::ptrdiff_t>(which));
        }
        ASSERT_EQ(commit(), expected_hash());
    }
}

TEST_F(HashMaskTest, GoingBackBehindAMaskTheTicksAfterItLeaveItOutAgain) {
    put(520, 1000);
    commit();
    ASSERT_TRUE(ring_.mask(world_ + 520, 8));
    const std::uint64_t masked = commit();
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(commit(), masked);
    EXPECT_EQ(masked, expected_hash());
    ASSERT_TRUE(ring_.rollback(1));
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(commit(), masked);
    ASSERT_TRUE(ring_.rollback(0));
    commit();
    put(520, 5);
    EXPECT_EQ(commit(), expected_hash());
}

TEST_F(HashMaskTest, GoingBackBehindItsEndTheTicksAfterItCountTheBytesAgain) {
    ASSERT_TRUE(ring_.mask(world_ + 520, 8));
    put(520, 1000);
    const std::uint64_t masked = commit();
    commit();
    ASSERT_TRUE(ring_.unmask(world_ + 520, 8));
    const std::uint64_t plain = commit();
    EXPECT_NE(plain, masked);
    EXPECT_EQ(plain, expected_hash());
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(*ring_.hash(1), masked);
    EXPECT_EQ(commit(), plain);
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(commit(), plain);
    // Also when nothing was committed since.
    ASSERT_TRUE(ring_.mask(world_ + 520, 8));
    EXPECT_EQ(commit(), masked);
    ASSERT_TRUE(ring_.unmask(world_ + 520, 8));
    ASSERT_TRUE(ring_.rollback(ring_.newest()));
    EXPECT_EQ(commit(), plain);
}

TEST_F(HashMaskTest, VeryManyThatAreGoneAreStillCountedAgain) {
    std::vector<std::byte*> places;
    for (std::size_t at = 0; at + 64 < kWorld.bytes; at += 200)
        places.push_back(world_ + at);
    for (std::byte* place : places) {
        put(static_cast<std::size_t>(place - world_), 7);
        ASSERT_TRUE(ring_.mask(place, 8));
        commit();
        ASSERT_TRUE(ring_.unmask(place, 8));
    }
    EXPECT_EQ(commit(), expected_hash());
    ASSERT_TRUE(ring_.rollback(ring_.oldest()));
    EXPECT_EQ(commit(), expected_hash());
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_F(HashMaskTest, BadOnesAreRefused) {
    EXPECT_EQ(ring_.mask(world_, 0).status(), Status::zero_size);
    EXPECT_EQ(ring_.mask(&ring_, 8).status(), Status::out_of_range);
    EXPECT_EQ(ring_.mask(world_, std::size_t{1} << 30).status(), Status::out_of_range);
    ASSERT_TRUE(ring_.mask(world_ + 100, 10));
    for (const auto& [offset, bytes] : {std::pair{100, 10}, {95, 6}, {109, 1}, {90, 40}, {103, 2}})
        EXPECT_EQ(ring_.mask(world_ + offset, static_cast<std::size_t>(bytes)).status(),
                  Status::address_in_use);
    EXPECT_EQ(ring_.unmask(world_ + 100, 9).status(), Status::not_found);
    EXPECT_EQ(ring_.unmask(world_ + 101, 9).status(), Status::not_found);
    EXPECT_EQ(ring_.unmask(&ring_, 9).status(), Status::not_found);
    EXPECT_TRUE(ring_.mask(world_ + 110, 1));
    EXPECT_TRUE(ring_.unmask(world_ + 100, 10));
    EXPECT_TRUE(ring_.mask(world_ + 95, 15));
    Status last = Status::ok;
    std::size_t count = 0;
    while (last == Status::ok)
        last = ring_.mask(world_ + 1000 + 8 * count++, 4).status();
    EXPECT_EQ(last, Status::capacity_exhausted);
    EXPECT_FALSE(ring_.is_masked(ring_.image().size + 5));
}

// Time enters the state; without a mask the test of determinism names it, with one it finds what is behind.
TEST_F(HashMaskTest, TheTestOfDeterminismRespectsThem) {
    std::uint64_t clock = 1;
    bool cheats = false;
    const auto step = [&](Tick tick) {
        put(2048, ++clock);
        put(2056, tick * 3);
        if (cheats) put(2064, clock);
    };
    const auto run = [&] {
        for (int tick = 0; tick < 6; ++tick) {
            step(ring_.newest() + 1);
            commit();
        }
        const auto outcome = sync_test(ring_, 4, step);
        EXPECT_TRUE(outcome);
        return outcome.value_or(SyncOutcome{});
    };
    EXPECT_TRUE(run().differs);
    ASSERT_TRUE(ring_.mask(world_ + 2048, 8));
    EXPECT_FALSE(run().differs);
    cheats = true;
    const SyncOutcome outcome = run();
    ASSERT_TRUE(outcome.differs && outcome.difference.page_known);
    EXPECT_EQ(outcome.difference.offset, static_cast<std::uint64_t>(world_ + 2064 - ring_.image().data));
}

TEST_F(HashMaskTest, TheVerifierLeavesValuesAloneButNotWrites) {
    put(104, 0x7ff8'0000'0000'0000U);
    ASSERT_TRUE(ring_.mask(world_ + 104, 8));
    commit();
    std::size_t findings = 0;
    const auto visit = [&](const Finding& finding) {
        EXPECT_EQ(finding.kind, FindingKind::undeclared_write);
        ++findings;
    };
    ASSERT_TRUE(verify_image(ring_, {}, visit));
    EXPECT_EQ(findings, 0U);
    world_[105] = std::byte{9};
    ASSERT_TRUE(verify_image(ring_, {}, visit));
    EXPECT_EQ(findings, 1U);
}

// Packed versions know what they added to the hash, with their masks.
TEST(HashMaskPacked, GoingBackToAPackedTickGivesTheSameHashesAgain) {
    auto ring = StateRing::create({.segments = {&kWorld, 1},
                                   .history_ticks = 60,
                                   .history_bytes = 8 << 20,
                                   .packing = true,
                                   .dense_ticks = 2});
    ASSERT_TRUE(ring);
    std::byte* const world = ring->segment_block("world")->data;
    ASSERT_TRUE(ring->mask(world, 8));
    const auto simulate = [&](std::uint64_t from, std::uint64_t to, std::uint64_t clock) {
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t tick = from; tick < to; ++tick) {
            const std::uint64_t values[] = {clock + tick, tick * tick};
            std::memcpy(world, values, sizeof(values));
            EXPECT_EQ(ring->mark(world, sizeof(values)), Status::ok);
            EXPECT_TRUE(ring->commit());
            hashes.push_back(*ring->hash(ring->newest()));
        }
        return hashes;
    };
    const auto first = simulate(0, 40, 1'000);
    EXPECT_NE(ring->stats().packed_versions, 0U);
    EXPECT_EQ(ring->check(), Status::ok);
    ASSERT_TRUE(ring->rollback(10));
    EXPECT_EQ(simulate(10, 40, 77'000), std::vector<std::uint64_t>(first.begin() + 10, first.end()));
    EXPECT_EQ(ring->check(), Status::ok);
}

}  // namespace
}  // namespace ouro
