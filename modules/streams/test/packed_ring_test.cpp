// Histories that are packed and thinned out; ring_oracle_test compares them byte for byte.
#include "page_packing.hpp"

#include <ouro/base/random.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint32_t kPages = 16;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};

constexpr StateRingOptions kPacked{.segments = {&kWorld, 1},
                                   .history_ticks = 200,
                                   .history_bytes = 8 << 20,
                                   .packing = true,
                                   .dense_ticks = 8};
constexpr StateRingOptions kThinned{.segments = {&kWorld, 1},
                                    .history_ticks = 20,
                                    .history_bytes = 8 << 20,
                                    .packing = true,
                                    .dense_ticks = 4,
                                    .thinned_ticks = 300,
                                    .thin_every = 10};

// Numbers that follow from the tick alone.
class Simulation {
public:
    explicit Simulation(const StateRingOptions& options) {
        auto ring = StateRing::create(options);
        EXPECT_TRUE(ring) << status_name(ring.status());
        if (!ring) return;
        ring_ = *std::move(ring);
        world_ = *ring_.segment_block("world");
    }

    [[nodiscard]] StateRing& ring() { return ring_; }

    // Adds to some numbers of some pages; the first says which tick it is.
    void step(Tick tick) {
        put(0, tick);
        Random random(tick);
        for (int count = 0; count < 200; ++count) {
            const std::size_t at = 8 * (1 + random.below(kPages * 512 - 1));
            put(at, number(at) + tick);
        }
    }
    void run(Tick ticks) {
        for (Tick count = 0; count < ticks; ++count) {
            step(ring_.newest() + 1);
            ASSERT_TRUE(ring_.commit());
        }
    }
    [[nodiscard]] std::uint64_t number(std::size_t at) const {
        std::uint64_t value = 0;
        std::memcpy(&value, world_.data + at, sizeof(value));
        return value;
    }
    void put(std::size_t at, std::uint64_t value) {
        std::memcpy(world_.data + at, &value, sizeof(value));
        EXPECT_EQ(ring_.mark(world_.data + at, sizeof(value)), Status::ok);
    }
    [[nodiscard]] std::vector<std::byte> bytes() const { return {world_.begin(), world_.end()}; }

private:
    StateRing ring_;
    MemoryBlock world_;
};

TEST(PackedRing, OldVersionsTakeLess) {
    Simulation world(kPacked);
    world.run(200);
    const StateRingStats stats = world.ring().stats();
    EXPECT_GT(stats.packed_versions, 150U * kPages);
    EXPECT_LT(stats.packed_bytes, stats.packed_versions * kStatePageBytes / 4);
    EXPECT_EQ(world.ring().check(), Status::ok);
    EXPECT_EQ(stats.ticks_given_up, 0U);
}

// Pages that differ from end to end, by bytes that repeat: the first step of packing has nothing to leave
// out, the second has, where there is one.
TEST(PackedRing, WhatTheFirstStepLeavesLargeIsSqueezed) {
    Simulation world(kPacked);
    Random random(7);
    const auto fill = [&] {
        std::array<std::uint64_t, 8> line;
        for (std::uint64_t& each : line)
            each = random.next();
        for (std::size_t at = 0; at < kWorld.bytes; at += 8)
            world.put(at, line[at / 8 % line.size()]);
        ASSERT_TRUE(world.ring().commit());
    };
    for (int tick = 0; tick < 40; ++tick)
        fill();
    alignas(64) std::array<std::byte, detail::kMaxPackedBytes> packed;
    alignas(64) std::array<std::byte, detail::kMaxPackedBytes> squeezed;
    const std::vector<std::byte> bytes = world.bytes();
    const std::size_t first = detail::pack_difference(bytes.data(), nullptr, packed.data());
    EXPECT_GT(first, kStatePageBytes / 2);
    const std::size_t second = detail::squeeze(std::span(packed).first(first), squeezed.data());
    const StateRingStats stats = world.ring().stats();
    ASSERT_GT(stats.packed_versions, 20U * kPages);
    if (second == 0)
        EXPECT_GT(stats.packed_bytes, stats.packed_versions * kStatePageBytes / 2);
    else
        EXPECT_LT(stats.packed_bytes, stats.packed_versions * kStatePageBytes / 8);
    ASSERT_TRUE(world.ring().rollback(20));
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, NothingIsPackedUnlessAsked) {
    StateRingOptions options = kPacked;
    options.packing = false;
    Simulation world(options);
    world.run(50);
    EXPECT_EQ(world.ring().stats().packed_versions, 0U);
}

TEST(PackedRing, TheNewestTicksAreWhole) {
    StateRingOptions options = kPacked;
    options.unpacked_bytes = kStatePageBytes;
    Simulation world(options);
    world.run(100);
    // No room to unpack: only what is not packed can be read.
    EXPECT_TRUE(world.ring().view(100));
    EXPECT_TRUE(world.ring().view(92));
    EXPECT_EQ(world.ring().view(50).status(), Status::budget_exceeded);
    // Going back needs none.
    ASSERT_TRUE(world.ring().rollback(50));
    EXPECT_EQ(world.number(0), 50U);
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, FarBackAndOnAgainIsTheSame) {
    Simulation world(kPacked);
    world.run(150);
    const std::vector<std::byte> end = world.bytes();
    const std::uint64_t hash = *world.ring().hash(150);
    for (const Tick tick : {Tick{149}, Tick{120}, Tick{3}, Tick{0}}) {
        ASSERT_TRUE(world.ring().rollback(tick));
        EXPECT_EQ(world.number(0), tick);
        ASSERT_EQ(world.ring().check(), Status::ok);
        world.run(150 - tick);
        EXPECT_TRUE(world.bytes() == end);
        EXPECT_EQ(*world.ring().hash(150), hash);
    }
}

TEST(PackedRing, AViewOfAPackedTickOutlivesIt) {
    StateRingOptions options = kPacked;
    options.history_ticks = 40;
    Simulation world(options);
    world.run(60);
    auto view = world.ring().view(25);
    ASSERT_TRUE(view);
    const std::uint32_t page = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);
    const std::byte* before = view->page(page);
    world.run(100);
    EXPECT_EQ(world.ring().view(25).status(), Status::tick_gone);
    std::uint64_t number = 0;
    std::memcpy(&number, before, sizeof(number));
    EXPECT_EQ(number, 25U);
    // What was not looked at before is there as well.
    std::vector<std::byte> bytes(kWorld.bytes);
    ASSERT_EQ(view->read(kSegmentAlignment, bytes), Status::ok);
    Simulation other(options);
    other.run(25);
    EXPECT_TRUE(bytes == other.bytes());
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, AKeptFutureIsReadThoughItIsPacked) {
    StateRingOptions options = kPacked;
    options.history_bytes = 32 << 20;
    Simulation world(options);
    world.run(100);
    const auto future = world.ring().branch(10);
    ASSERT_TRUE(future) << status_name(future.status());
    world.run(80);
    for (const Tick tick : {Tick{11}, Tick{50}, Tick{100}}) {
        auto view = world.ring().view(*future, tick);
        ASSERT_TRUE(view) << status_name(view.status());
        std::uint64_t number = 0;
        ASSERT_EQ(view->read(kSegmentAlignment, std::as_writable_bytes(std::span(&number, 1))), Status::ok);
        EXPECT_EQ(number, tick);
    }
    EXPECT_EQ(world.ring().check(), Status::ok);
    ASSERT_TRUE(world.ring().drop(*future));
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, ThinnedTicksHaveTheirStatusAndTheirHash) {
    Simulation world(kThinned);
    Simulation plain(kPacked);
    world.run(120);
    plain.run(120);
    StateRing& ring = world.ring();
    EXPECT_EQ(ring.oldest(), 0U);
    EXPECT_EQ(ring.view(33).status(), Status::tick_thinned);
    EXPECT_EQ(ring.rollback(33).status(), Status::tick_thinned);
    EXPECT_EQ(ring.branch(33).status(), Status::tick_thinned);
    EXPECT_EQ(*ring.nearest(33), 30U);
    EXPECT_EQ(*ring.nearest(30), 30U);
    EXPECT_EQ(*ring.nearest(115), 115U);
    EXPECT_EQ(ring.nearest(121).status(), Status::out_of_range);
    for (const Tick tick : {Tick{30}, Tick{33}, Tick{115}})
        EXPECT_EQ(*ring.hash(tick), *plain.ring().hash(tick));
    // All that should be there is.
    for (Tick tick = 100; tick <= 120; ++tick)
        EXPECT_TRUE(ring.view(tick)) << tick;
    EXPECT_TRUE(ring.view(40));
    world.run(400);
    EXPECT_GE(ring.oldest(), 520U - 20 - 300 - 30);
    EXPECT_LE(ring.oldest(), 520U - 20 - 300 + 10);
    EXPECT_EQ(ring.nearest(33).status(), Status::tick_gone);
    EXPECT_EQ(ring.check(), Status::ok);
}

TEST(PackedRing, AThinnedTickIsSimulatedAgain) {
    Simulation world(kThinned);
    world.run(120);
    const std::uint64_t wanted = *world.ring().hash(37);
    std::vector<Tick> steps;
    const auto step = [&](Tick tick) {
        steps.push_back(tick);
        world.step(tick);
    };
    ASSERT_EQ(world.ring().restore(37, step).status(), Status::ok);
    EXPECT_EQ(steps, (std::vector<Tick>{31, 32, 33, 34, 35, 36, 37}));
    EXPECT_EQ(world.ring().newest(), 37U);
    EXPECT_EQ(world.number(0), 37U);
    EXPECT_EQ(*world.ring().hash(37), wanted);
    EXPECT_EQ(world.ring().check(), Status::ok);
    // A tick that is there needs no step.
    ASSERT_EQ(world.ring().restore(20, step).status(), Status::ok);
    EXPECT_EQ(steps.size(), 7U);
    EXPECT_EQ(world.ring().restore(21, step).status(), Status::out_of_range);
}

// Workers may be done with thinning out at any time; what that costs is lost at the next commit, not between
// looking for a tick and going there.
TEST(PackedRing, ATickThatIsThereCanBeGoneBackTo) {
    auto jobs = JobPool::create({.workers = 1});
    ASSERT_TRUE(jobs);
    StateRingOptions options = kThinned;
    options.jobs = &*jobs;
    Simulation world(options);
    for (int round = 0; round < 100; ++round) {
        SCOPED_TRACE(round);
        // So that any of these commits is the last one before.
        world.run(20 + static_cast<Tick>(round % 20));
        for (int turn = 0; turn < 20; ++turn)
            os::yield_thread();
        // The first that would be thinned out next.
        Tick tick = world.ring().oldest();
        while (tick % options.thin_every == 0 || *world.ring().nearest(tick) != tick)
            ++tick;
        ASSERT_TRUE(world.ring().rollback(tick));
        ASSERT_EQ(world.number(0), tick);
        // And what is not there stays as it is.
        const Tick oldest = world.ring().oldest();
        if (oldest != 0) {
            EXPECT_EQ(world.ring().rollback(oldest - 1).status(), Status::tick_gone);
        }
        EXPECT_EQ(world.ring().oldest(), oldest);
    }
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, ASimulationThatDivergesIsNoticed) {
    Simulation world(kThinned);
    world.run(120);
    const auto other = [&](Tick tick) {
        world.step(tick);
        if (tick == 34) world.put(8, 1);
    };
    EXPECT_EQ(world.ring().restore(37, other).status(), Status::diverged);
    EXPECT_EQ(world.ring().newest(), 34U);
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, AStepThatCommitsByItselfIsNoticed) {
    Simulation world(kThinned);
    world.run(120);
    const auto commits = [&](Tick tick) {
        world.step(tick);
        if (tick == 34) {
            ASSERT_TRUE(world.ring().commit());
        }
    };
    EXPECT_EQ(world.ring().restore(37, commits).status(), Status::bad_argument);
    EXPECT_EQ(world.ring().newest(), 34U);
    EXPECT_EQ(world.ring().check(), Status::ok);
}

TEST(PackedRing, ABoundInBytesHoldsAndTheOldestGoFirst) {
    StateRingOptions options = kThinned;
    options.history_bytes = 2 << 20;
    Simulation world(options);
    world.run(600);
    const StateRingStats stats = world.ring().stats();
    EXPECT_LE(stats.history_bytes, options.history_bytes);
    EXPECT_GT(stats.ticks_given_up, 0U);
    EXPECT_EQ(world.ring().view(world.ring().oldest() - 1).status(), Status::tick_gone);
    ASSERT_TRUE(world.ring().rollback(world.ring().oldest()));
    EXPECT_EQ(world.number(0), world.ring().newest());
    EXPECT_EQ(world.ring().check(), Status::ok);
}

// As many versions as the lists of whole and of thinned-out ticks have room for, each of them small.
TEST(PackedRing, VeryManySmallVersionsFit) {
    constexpr std::uint32_t kMany = 240;
    constexpr SegmentOptions kLarge{.name = "world", .bytes = kMany * kStatePageBytes};
    StateRingOptions options{.segments = {&kLarge, 1},
                             .history_ticks = 60,
                             .history_bytes = 12 << 20,
                             .packing = true,
                             .dense_ticks = 1,
                             .unpacked_bytes = 1 << 20,
                             .thinned_ticks = 80,
                             .thin_every = 2};
    for (; options.history_ticks <= 90; options.history_ticks += 10) {
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring);
        const MemoryBlock world = *ring->segment_block("world");
        for (std::uint32_t tick = 1; tick <= 200; ++tick) {
            for (std::uint32_t page = 0; page < kMany; ++page) {
                std::byte* to = world.data + std::size_t{page} * kStatePageBytes;
                std::memcpy(to, &tick, sizeof(tick));
                ASSERT_EQ(ring->mark(to, sizeof(tick)), Status::ok);
            }
            ASSERT_TRUE(ring->commit());
        }
        EXPECT_EQ(ring->check(), Status::ok);
    }
}

TEST(PackedRing, WhatMakesNoSenseIsRefused) {
    const auto status_with = [](auto change) {
        StateRingOptions options = kThinned;
        change(options);
        return StateRing::create(options).status();
    };
    EXPECT_EQ(status_with([](StateRingOptions&) {}), Status::ok);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.packing = false; }), Status::bad_argument);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.thin_every = 1; }), Status::bad_argument);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.thin_every = 257; }), Status::bad_argument);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.thinned_ticks = UINT32_MAX; }),
              Status::bad_argument);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.dense_ticks = UINT32_MAX; }),
              Status::bad_argument);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.history_bytes = 512 << 10; }),
              Status::budget_exceeded);
    EXPECT_EQ(status_with([](StateRingOptions& options) { options.unpacked_bytes = 16 << 20; }),
              Status::budget_exceeded);
}

}  // namespace
}  // namespace ouro
