#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/sim_vec.hpp>
#include <ouro/streams/sync_test.hpp>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 256 << 10};

// A number that is stirred each tick, here and there in the image; with a secret outside of it that is
// sometimes used.
class Simulation {
public:
    explicit Simulation(std::uint64_t history_bytes = 16 << 20) {
        auto ring = StateRing::create(
            {.segments = {&kWorld, 1}, .history_ticks = 40, .history_bytes = history_bytes});
        if (ring) ring_ = *std::move(ring);
    }

    [[nodiscard]] StateRing& ring() { return ring_; }

    void step(Tick tick) {
        std::byte* world = ring_.segment_block("world")->data;
        std::uint64_t value = 0;
        std::memcpy(&value, world, sizeof(value));
        value = value * 6364136223846793005U + tick;
        if (cheats_from_ != 0 && tick >= cheats_from_) value += ++secret_;
        write(world, value);
        write(world + 4096 * (tick % 60) + 128, value);
    }
    void run(Tick ticks) {
        while (ring_.newest() < ticks) {
            step(ring_.newest() + 1);
            ASSERT_TRUE(ring_.commit());
        }
    }
    void cheat_from(Tick tick) { cheats_from_ = tick; }

private:
    void write(std::byte* at, std::uint64_t value) {
        std::memcpy(at, &value, sizeof(value));
        ASSERT_EQ(ring_.mark(at, sizeof(value)), Status::ok);
    }

    StateRing ring_;
    Tick cheats_from_ = 0;
    std::uint64_t secret_ = 0;
};

TEST(SyncTest, ADeterministicSimulationPasses) {
    Simulation simulation;
    for (Tick tick = 1; tick <= 60; ++tick) {
        simulation.run(tick);
        const std::uint64_t hash = *simulation.ring().hash(tick);
        const auto outcome = sync_test(simulation.ring(), 7, [&](Tick each) { simulation.step(each); });
        ASSERT_TRUE(outcome) << status_name(outcome.status());
        EXPECT_EQ(outcome->ticks, tick < 8 ? 0U : 7U);
        EXPECT_FALSE(outcome->differs);
        EXPECT_EQ(simulation.ring().newest(), tick);
        EXPECT_EQ(*simulation.ring().hash(tick), hash);
    }
    EXPECT_EQ(simulation.ring().check(), Status::ok);
}

// A history of 40 ticks cannot show what happened 41 ticks ago, and does not pass for it.
TEST(SyncTest, ADistanceBeyondTheHistoryIsRefused) {
    Simulation simulation;
    simulation.cheat_from(1);
    const auto test = [&](std::uint32_t distance) {
        return sync_test(simulation.ring(), distance, [&](Tick each) { simulation.step(each); });
    };
    simulation.run(41);
    ASSERT_TRUE(test(41));
    EXPECT_EQ(test(41)->ticks, 0U);
    simulation.run(42);
    EXPECT_EQ(test(41).status(), Status::tick_gone);
    EXPECT_EQ(simulation.ring().newest(), 42U);
    ASSERT_TRUE(test(40));
    EXPECT_TRUE(test(40)->differs);
}

// What is written before the first commit is no step, and is not asked to be one.
TEST(SyncTest, TheInitialStateIsNotSimulatedAgain) {
    const SegmentOptions world{.name = "world", .bytes = 64 << 10};
    auto ring = StateRing::create({.segments = {&world, 1}, .history_ticks = 20, .history_bytes = 4 << 20});
    ASSERT_TRUE(ring);
    auto* number = reinterpret_cast<std::uint64_t*>(ring->segment_block("world")->data);
    const auto step = [&](Tick tick) {
        *number = *number * 3 + tick;
        ASSERT_EQ(ring->mark(number, sizeof(*number)), Status::ok);
    };
    *number = 77;
    for (Tick tick = 1; tick <= 12; ++tick) {
        step(tick);
        ASSERT_TRUE(ring->commit());
        const auto outcome = sync_test(*ring, 4, step);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(outcome->ticks, tick < 5 ? 0U : 4U);
        EXPECT_FALSE(outcome->differs) << "at tick " << tick;
    }
}

TEST(SyncTest, ADifferenceIsNamedByTickSegmentPageAndBytes) {
    Simulation simulation;
    simulation.cheat_from(28);
    simulation.run(30);
    const auto outcome = sync_test(simulation.ring(), 7, [&](Tick each) { simulation.step(each); });
    ASSERT_TRUE(outcome && outcome->differs);
    const SyncDifference& difference = outcome->difference;
    EXPECT_EQ(difference.tick, 28U);
    EXPECT_NE(difference.first_hash, difference.second_hash);
    ASSERT_TRUE(difference.page_known);
    EXPECT_EQ(std::string_view(difference.segment.data()), "world");
    const auto offset = static_cast<std::uint64_t>(simulation.ring().segment_block("world")->data -
                                                   simulation.ring().image().data);
    EXPECT_EQ(difference.offset, offset);
    EXPECT_EQ(difference.page, offset / kStatePageBytes);
    EXPECT_NE(difference.first, difference.second);
    EXPECT_EQ(simulation.ring().check(), Status::ok);
}

// With what can be seen in the image, and what the program knows of it.
TEST(SyncTest, ADifferenceIsASentenceWithItsOwner) {
    Simulation simulation;
    auto heap = ImageHeap::create(simulation.ring(), "world", {.notes_blocks = true});
    ASSERT_TRUE(heap);
    struct Town {
        SimVec<std::uint32_t> prices;
        std::uint32_t unused;
    };
    const auto town = heap->make_root<Town>("town");
    ASSERT_TRUE(town);
    ASSERT_EQ(heap->bind(heap->get(*town).prices).resize(10), Status::ok);
    std::uint32_t secret = 0x11;
    const auto step = [&](Tick tick) {
        heap->bind(heap->get(*town).prices).edit(7) = tick < 12 ? 5 : secret++;
    };
    while (simulation.ring().newest() < 12) {
        step(simulation.ring().newest() + 1);
        ASSERT_TRUE(simulation.ring().commit());
    }
    const std::array sources = {owner_source("prices", heap->get(*town).prices)};
    const auto outcome = sync_test(simulation.ring(), 4, step, sources);
    ASSERT_TRUE(outcome && outcome->differs);
    const SyncDifference& difference = outcome->difference;
    EXPECT_EQ(difference.owner.kind, OwnerKind::element);
    EXPECT_EQ(difference.owner.number, 7U);
    std::array<char, 300> text;
    // The range goes to the end of its word.
    EXPECT_EQ(describe_difference(difference, text),
              "tick 12 differs in segment 'world', page " + std::to_string(difference.page) +
                  ": 4 bytes at image offset " + std::to_string(difference.offset) +
                  " were 11 00 00 00 and are 12 00 00 00 when simulated again: byte 0 of element 7 of "
                  "'prices' (4 bytes)");
    // Without them it is still known whose memory it is.
    const auto again = sync_test(simulation.ring(), 4, step);
    ASSERT_TRUE(again && again->differs);
    EXPECT_EQ(again->difference.owner.kind, OwnerKind::heap_block);
}

TEST(SyncTest, ADifferenceWithoutBytesIsASentenceToo) {
    const SyncDifference difference{.tick = 5, .first_hash = 0x1f, .second_hash = 0x2f};
    std::array<char, 300> text;
    EXPECT_EQ(describe_difference(difference, text),
              "tick 5 differs in portable segments: its hash was 0x1f and is 0x2f when simulated again; with "
              "more history_bytes the bytes are named");
    std::array<char, 7> small{};
    EXPECT_EQ(describe_difference(difference, small), "tick 5");
    EXPECT_EQ(describe_difference(difference, {}), "");
}

// Where readers have all places, more memory would not help, and it is not said that it would.
TEST(SyncTest, WhatKeepsTheBytesFromBeingNamedIsTold) {
    Simulation simulation(64 << 20);
    simulation.cheat_from(38);
    simulation.run(40);
    const auto test = [&] {
        const auto outcome = sync_test(simulation.ring(), 3, [&](Tick each) { simulation.step(each); });
        EXPECT_TRUE(outcome && outcome->differs);
        return outcome ? outcome->difference : SyncDifference();
    };
    std::array<char, 300> text;
    {
        std::vector<TickView> views;
        for (Tick tick = 1; tick <= 32; ++tick) {
            auto view = simulation.ring().view(tick);
            ASSERT_TRUE(view) << status_name(view.status());
            views.push_back(*std::move(view));
        }
        const SyncDifference difference = test();
        EXPECT_FALSE(difference.page_known);
        EXPECT_EQ(difference.not_kept, Status::capacity_exhausted);
        EXPECT_NE(describe_difference(difference, text).find("; with fewer ticks that are read"),
                  std::string_view::npos);
    }
    const SyncDifference difference = test();
    EXPECT_TRUE(difference.page_known);
    EXPECT_EQ(difference.not_kept, Status::ok);

    Simulation poor(*StateRing::least_history_bytes({.segments = {&kWorld, 1}, .history_ticks = 40}));
    poor.cheat_from(8);
    poor.run(10);
    const auto outcome = sync_test(poor.ring(), 3, [&](Tick each) { poor.step(each); });
    ASSERT_TRUE(outcome && outcome->differs);
    EXPECT_EQ(outcome->difference.not_kept, Status::budget_exceeded);
    EXPECT_NE(describe_difference(outcome->difference, text).find("; with more history_bytes"),
              std::string_view::npos);
}

// What was written and not committed is undone, as by a rollback.
TEST(SyncTest, WhatIsNotCommittedIsUndone) {
    Simulation simulation;
    simulation.run(20);
    const std::uint64_t hash = *simulation.ring().hash(20);
    simulation.step(21);
    const auto outcome = sync_test(simulation.ring(), 7, [&](Tick each) { simulation.step(each); });
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->differs);
    ASSERT_TRUE(simulation.ring().commit());
    EXPECT_EQ(*simulation.ring().hash(21), hash);
}

// Of both kinds, one differs first in the image and the other one is told of, by its hash and its bytes.
TEST(SyncTest, BytesOfTheKindThatIsNamedAreShown) {
    constexpr std::array kBoth = {
        SegmentOptions{.name = "script",
                       .bytes = 64 << 10,
                       .kind = SegmentKind::process_bound,
                       .offset = kSegmentAlignment},
        SegmentOptions{.name = "world", .bytes = 64 << 10, .offset = kSegmentAlignment + (64 << 10)},
    };
    auto ring = StateRing::create({.segments = kBoth, .history_ticks = 20, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring) << status_name(ring.status());
    const MemoryBlock script = *ring->segment_block("script");
    const MemoryBlock world = *ring->segment_block("world");
    ASSERT_EQ(script.data + script.size, world.data);
    std::uint64_t secret = 0;
    // Side by side, so that what differs is one range.
    auto* const numbers = reinterpret_cast<std::uint64_t*>(world.data) - 1;
    const auto step = [&](Tick) {
        numbers[0] = ++secret;
        numbers[1] = ++secret;
        ASSERT_EQ(ring->mark(numbers, 16), Status::ok);
    };
    while (ring->newest() < 8) {
        step(ring->newest() + 1);
        ASSERT_TRUE(ring->commit());
    }
    const auto outcome = sync_test(*ring, 2, step);
    ASSERT_TRUE(outcome && outcome->differs);
    EXPECT_EQ(outcome->difference.kind, SegmentKind::portable);
    ASSERT_TRUE(outcome->difference.page_known);
    EXPECT_EQ(std::string_view(outcome->difference.segment.data()), "world");
    EXPECT_EQ(outcome->difference.offset, static_cast<std::uint64_t>(world.data - ring->image().data));

    // And where only the other one differs.
    const auto half = [&](Tick tick) {
        numbers[0] = ++secret;
        numbers[1] = tick;
        ASSERT_EQ(ring->mark(numbers, 16), Status::ok);
    };
    while (ring->newest() < 12) {
        half(ring->newest() + 1);
        ASSERT_TRUE(ring->commit());
    }
    const auto other = sync_test(*ring, 2, half);
    ASSERT_TRUE(other && other->differs);
    EXPECT_EQ(other->difference.kind, SegmentKind::process_bound);
    EXPECT_EQ(std::string_view(other->difference.segment.data()), "script");
}

// A mask that ends within a word: what differs beside it is named, and what is behind the mask, never the
// mask nor a byte that is the same.
TEST(SyncTest, MaskedHalvesOfWordsAreNotNamed) {
    auto ring = StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 20, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring);
    auto* const words = reinterpret_cast<std::uint32_t*>(ring->segment_block("world")->data);
    const auto offset_of = [&](const void* at) {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - ring->image().data);
    };
    ASSERT_EQ(ring->mask(&words[0], 4), Status::ok);
    ASSERT_EQ(ring->mask(&words[3005], 4), Status::ok);
    std::uint32_t clock = 0;
    bool differs_beside = false;
    const auto step = [&](Tick) {
        words[0] = ++clock;
        words[1] = differs_beside ? clock : 5;
        // The second mask is among them.
        for (std::uint32_t at = 3000; at < 3008; ++at)
            words[at] = clock;
        ASSERT_EQ(ring->mark(words, 4 * 4096), Status::ok);
    };
    const auto named = [&] {
        for (int each = 0; each < 4; ++each) {
            step(0);
            EXPECT_TRUE(ring->commit());
        }
        const auto outcome = sync_test(*ring, 3, step);
        EXPECT_TRUE(outcome && outcome->differs);
        return outcome ? outcome->difference : SyncDifference();
    };
    const SyncDifference behind = named();
    ASSERT_TRUE(behind.page_known);
    EXPECT_EQ(behind.offset, offset_of(&words[3000]));
    EXPECT_EQ(behind.bytes, offset_of(&words[3005]) - behind.offset);
    EXPECT_EQ(behind.page, behind.offset / kStatePageBytes);
    EXPECT_NE(behind.first[0], behind.second[0]);

    differs_beside = true;
    const SyncDifference beside = named();
    EXPECT_EQ(beside.offset, offset_of(&words[1]));
    EXPECT_EQ(beside.bytes, 4U);
}

TEST(SyncTest, AStepThatCommitsByItselfIsRefused) {
    Simulation simulation;
    simulation.run(20);
    const auto commits = [&](Tick each) {
        simulation.step(each);
        if (each == 17) {
            ASSERT_TRUE(simulation.ring().commit());
        }
    };
    EXPECT_EQ(sync_test(simulation.ring(), 7, commits).status(), Status::bad_argument);
    EXPECT_EQ(simulation.ring().newest(), 17U);
    // Nothing of the first run is kept.
    simulation.run(20);
    const auto outcome = sync_test(simulation.ring(), 7, [&](Tick each) { simulation.step(each); });
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->differs);
    EXPECT_EQ(simulation.ring().check(), Status::ok);
}

TEST(SyncTest, WhatMakesNoSenseIsRefused) {
    Simulation simulation;
    simulation.run(3);
    const auto step = [&](Tick each) { simulation.step(each); };
    EXPECT_EQ(sync_test(simulation.ring(), 0, step).status(), Status::bad_argument);
    EXPECT_EQ(sync_test(simulation.ring(), kMaxSyncDistance + 1, step).status(), Status::bad_argument);
    auto plain = StateRing::create({.segments = {&kWorld, 1}, .history_bytes = 16 << 20, .hashes = false});
    ASSERT_TRUE(plain);
    EXPECT_EQ(sync_test(*plain, 1, step).status(), Status::not_supported);
}

}  // namespace
}  // namespace ouro
