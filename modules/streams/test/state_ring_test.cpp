#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 1 << 20};

class StateRingTest : public testing::Test {
protected:
    void SetUp() override {
        auto ring =
            StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 10, .history_bytes = 8 << 20});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        world_ = *ring_.segment_block("world");
    }

    // Writes a number at a place, declared, and ends the tick.
    Tick put(std::size_t offset, std::uint64_t value) {
        std::memcpy(world_.data + offset, &value, sizeof(value));
        EXPECT_EQ(ring_.mark(world_.data + offset, sizeof(value)), Status::ok);
        const auto tick = ring_.commit();
        EXPECT_TRUE(tick);
        return tick.value_or(0);
    }
    std::uint64_t number_at(std::size_t offset) const {
        std::uint64_t value = 0;
        std::memcpy(&value, world_.data + offset, sizeof(value));
        return value;
    }

    StateRing ring_;
    MemoryBlock world_;
};

TEST_F(StateRingTest, GoesBackAndForth) {
    EXPECT_EQ(ring_.newest(), 0U);
    EXPECT_EQ(put(100, 1), 1U);
    EXPECT_EQ(put(100, 2), 2U);
    EXPECT_EQ(put(9000, 3), 3U);
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(number_at(100), 1U);
    EXPECT_EQ(number_at(9000), 0U);
    EXPECT_EQ(put(9000, 4), 2U);
    ASSERT_TRUE(ring_.rollback(0));
    EXPECT_EQ(number_at(100), 0U);
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_F(StateRingTest, WhatWasWrittenSinceTheLastTickIsUndoneToo) {
    put(100, 1);
    const std::uint64_t value = 77;
    std::memcpy(world_.data + 100, &value, sizeof(value));
    ASSERT_EQ(ring_.mark(world_.data + 100, sizeof(value)), Status::ok);
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(number_at(100), 1U);
}

TEST_F(StateRingTest, TicksThatAreNotThereHaveTheirStatus) {
    for (std::uint64_t value = 1; value <= 30; ++value)
        put(100, value);
    EXPECT_EQ(ring_.newest(), 30U);
    EXPECT_EQ(ring_.oldest(), 20U);
    EXPECT_EQ(ring_.rollback(19).status(), Status::tick_gone);
    EXPECT_EQ(ring_.rollback(31).status(), Status::out_of_range);
    EXPECT_EQ(ring_.view(19).status(), Status::tick_gone);
    EXPECT_EQ(ring_.hash(31).status(), Status::out_of_range);
    EXPECT_EQ(number_at(100), 30U);
    ASSERT_TRUE(ring_.rollback(20));
    EXPECT_EQ(number_at(100), 20U);
}

TEST_F(StateRingTest, AViewOutlivesItsTick) {
    const Tick tick = put(4096, 5);
    auto view = ring_.view(tick);
    ASSERT_TRUE(view);
    for (std::uint64_t value = 6; value <= 60; ++value)
        put(4096, value);
    EXPECT_GT(ring_.oldest(), tick);
    const auto offset = static_cast<std::uint64_t>(world_.data - ring_.image().data) + 4096;
    std::uint64_t value = 0;
    ASSERT_EQ(view->read(offset, std::as_writable_bytes(std::span(&value, 1))), Status::ok);
    EXPECT_EQ(value, 5U);
    EXPECT_EQ(ring_.stats().pinned_slots, 1U);
    *view = TickView();
    put(4096, 61);
    EXPECT_EQ(ring_.stats().pinned_slots, 0U);
    EXPECT_EQ(ring_.check(), Status::ok);
}

// However often the present goes back behind what a reader holds, the reader costs one version a page.
TEST_F(StateRingTest, AReaderOfAnAbandonedFutureKeepsOneVersionOfEachPage) {
    constexpr std::size_t kPages = 6;
    const auto fill = [&](std::uint64_t value) {
        for (std::size_t page = 0; page < kPages; ++page) {
            std::memcpy(world_.data + page * kStatePageBytes, &value, sizeof(value));
            EXPECT_EQ(ring_.mark(world_.data + page * kStatePageBytes, sizeof(value)), Status::ok);
        }
        EXPECT_TRUE(ring_.commit());
    };
    for (std::uint64_t value = 1; value <= 10; ++value)
        fill(value);
    auto view = ring_.view(10);
    ASSERT_TRUE(view);
    for (Tick tick = 9; tick >= 3; --tick) {
        ASSERT_TRUE(ring_.rollback(tick));
        // Something new in the place of what was left, so that the next step back leaves it behind too.
        fill(100 + tick);
        ASSERT_TRUE(ring_.rollback(tick));
    }
    const std::uint32_t free_with_reader = ring_.stats().free_slots;
    const auto first = static_cast<std::uint32_t>(static_cast<std::size_t>(world_.data - ring_.image().data) /
                                                  kStatePageBytes);
    for (std::uint32_t page = first; page < first + kPages; ++page) {
        std::uint64_t value = 0;
        std::memcpy(&value, view->page(page), sizeof(value));
        EXPECT_EQ(value, 10U);
    }
    *view = TickView();
    ASSERT_TRUE(ring_.rollback(2));
    fill(3);
    EXPECT_EQ(ring_.stats().free_slots, free_with_reader + kPages);
    EXPECT_EQ(ring_.check(), Status::ok);
}

// Where the bytes of a past tick lie side by side they are handed out as they are.
TEST_F(StateRingTest, ARangeIsASpanWhereItWasKeptInOnePiece) {
    const std::uint64_t start = static_cast<std::uint64_t>(world_.data - ring_.image().data);
    const Tick tick = put(100, 1);
    // Other versions of the second page, in between others of the first: they do not follow each other.
    put(kStatePageBytes, 2);
    put(100, 3);
    put(kStatePageBytes, 4);
    put(100, 5);
    const Tick last = put(kStatePageBytes, 6);
    const auto view = ring_.view(tick);
    ASSERT_TRUE(view);
    const auto page = view->span(start + 100, sizeof(std::uint64_t));
    ASSERT_TRUE(page) << status_name(page.status());
    std::uint64_t value = 0;
    std::memcpy(&value, page->data(), sizeof(value));
    EXPECT_EQ(value, 1U);
    EXPECT_EQ(view->span(ring_.image().size - 1, 2).status(), Status::out_of_range);
    const auto later = ring_.view(last);
    ASSERT_TRUE(later);
    const auto both = later->span(start, 2 * kStatePageBytes);
    std::array<std::byte, 2 * kStatePageBytes> gathered{};
    ASSERT_EQ(later->read(start, gathered), Status::ok);
    if (both)
        EXPECT_EQ(std::memcmp(both->data(), gathered.data(), gathered.size()), 0);
    else
        EXPECT_EQ(both.status(), Status::not_found);
    std::memcpy(&value, gathered.data() + kStatePageBytes, sizeof(value));
    EXPECT_EQ(value, 6U);
}

TEST_F(StateRingTest, EqualStatesHaveEqualHashes) {
    put(100, 1);
    const auto first = ring_.hash(1);
    put(100, 2);
    EXPECT_NE(*ring_.hash(2), *first);
    put(100, 1);
    EXPECT_EQ(*ring_.hash(3), *first);
    put(100, 0);
    EXPECT_EQ(*ring_.hash(4), *ring_.hash(0));
}

// Few lines take the room of few lines; many, that of the page.
TEST(StateRing, AFineSegmentKeepsLines) {
    const SegmentOptions fine{.name = "world", .bytes = 64 << 10, .fine = true};
    auto ring = StateRing::create(
        {.segments = {&fine, 1}, .history_ticks = 100, .history_bytes = 4 << 20, .unpacked_bytes = 1 << 20});
    ASSERT_TRUE(ring);
    const MemoryBlock world = *ring->segment_block("world");
    const auto write = [&](std::size_t at, std::size_t bytes, int value) {
        std::memset(world.data + at, value, bytes);
        ASSERT_EQ(ring->mark(world.data + at, bytes), Status::ok);
        ASSERT_TRUE(ring->commit());
    };
    write(0, kStatePageBytes, 1);
    const std::uint32_t before = ring->stats().free_slots;
    for (int tick = 0; tick < 10; ++tick)
        write(100, 100, 2 + tick);
    EXPECT_EQ(ring->stats().packed_versions, 10U);
    EXPECT_EQ(before - ring->stats().free_slots, 1U);
    // And the header page of tick 0 and the first write.
    EXPECT_EQ(ring->stats().versions - ring->stats().free_versions, 12U);
    write(0, kStatePageBytes, 99);
    EXPECT_EQ(ring->stats().packed_versions, 10U);
    EXPECT_EQ(before - ring->stats().free_slots, 2U);
    // While the newest tick is read it is not changed in place.
    const auto view = ring->view(ring->newest());
    write(100, 1, 3);
    EXPECT_EQ(before - ring->stats().free_slots, 3U);
    EXPECT_EQ(*view->page(kSegmentAlignment / kStatePageBytes), std::byte{99});
    ASSERT_TRUE(ring->rollback(5));
    EXPECT_EQ(world.data[100], std::byte{5});
    EXPECT_EQ(world.data[99], std::byte{1});
    EXPECT_EQ(ring->check(), Status::ok);
}

// As the page says: a view counts with all that was ever written, a branch with what its ticks captured too.
TEST(StateRing, ReadersCountWithAllThatWasEverWritten) {
    const SegmentOptions world{.name = "world", .bytes = 64 << 10};
    constexpr std::uint32_t kTouched = 17;  // and the header
    const auto make = [&](std::uint32_t reader_pages, bool touches_all) {
        auto ring = StateRing::create({.segments = {&world, 1},
                                       .history_ticks = 20,
                                       .history_bytes = 4 << 20,
                                       .reader_bytes = std::uint64_t{reader_pages} * kStatePageBytes});
        EXPECT_TRUE(ring);
        const MemoryBlock memory = *ring->segment_block("world");
        for (std::uint8_t tick = 1; tick <= 8; ++tick) {
            const std::size_t bytes = tick == 1 && touches_all ? memory.size : 1;
            std::memset(memory.data, tick, bytes);
            EXPECT_EQ(ring->mark(memory.data, bytes), Status::ok);
            EXPECT_TRUE(ring->commit());
        }
        return ring;
    };
    const auto ignore = [](ChangedRange) {};
    {
        const auto ring = make(kTouched - 1, true);
        EXPECT_EQ(ring->view(8).status(), Status::budget_exceeded);
    }
    {
        auto ring = make(kTouched, true);
        const auto view = ring->view(5);
        EXPECT_TRUE(view);
        EXPECT_TRUE(ring->view(5));
        EXPECT_EQ(ring->view(6).status(), Status::budget_exceeded);
        EXPECT_EQ(ring->changed(5, 6, ignore), Status::budget_exceeded);
    }
    EXPECT_EQ(make(2 * kTouched, true)->changed(5, 6, ignore), Status::ok);
    EXPECT_EQ(make(kTouched + 2, true)->branch(5).status(), Status::budget_exceeded);
    EXPECT_TRUE(make(kTouched + 3, true)->branch(5));
    // One page and the header.
    EXPECT_EQ(make(4, false)->changed(5, 6, ignore), Status::ok);
    EXPECT_EQ(make(3, false)->changed(5, 6, ignore), Status::budget_exceeded);
}

TEST(StateRing, SaysWhyItTracksAsItDoes) {
    const SegmentOptions segment{.name = "any", .bytes = 1 << 16, .tracking = Tracking::automatic};
    const auto ring =
        StateRing::create({.segments = {&segment, 1}, .history_ticks = 4, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring) << status_name(ring.status());
    EXPECT_NE(ring->segments()[0].tracking, Tracking::automatic);
    EXPECT_FALSE(ring->segments()[0].reason.empty());
}

// A program without the process-bound segments has the others at the same places.
TEST(StateRing, PortableSegmentsDoNotGiveWay) {
    constexpr std::array kSegments = {
        SegmentOptions{.name = "world", .bytes = 128 << 10},
        SegmentOptions{.name = "map", .bytes = 64 << 10, .offset = 512 << 10},
        SegmentOptions{.name = "script", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
        SegmentOptions{
            .name = "heap", .bytes = 64 << 10, .kind = SegmentKind::process_bound, .offset = 2 << 20},
    };
    const auto all = StateRing::create({.segments = kSegments, .history_bytes = 16 << 20});
    const auto portable =
        StateRing::create({.segments = std::span(kSegments).first(2), .history_bytes = 16 << 20});
    ASSERT_TRUE(all && portable);
    for (const std::string_view name : {"world", "map"})
        EXPECT_EQ(all->segment_block(name)->data - all->image().data,
                  portable->segment_block(name)->data - portable->image().data)
            << name;
    EXPECT_EQ(all->segment_block("heap")->data - all->image().data, 2 << 20);
    // Nor for one that would be in their way.
    std::array in_the_way = kSegments;
    in_the_way[3].offset = 640 << 10;
    EXPECT_EQ(StateRing::create({.segments = in_the_way, .history_bytes = 16 << 20}).status(),
              Status::address_in_use);
}

TEST(StateRing, TooManySegmentsAreRefused) {
    std::array<std::array<char, 4>, kMaxSegments + 1> names{};
    std::array<SegmentOptions, kMaxSegments + 1> segments{};
    for (std::size_t i = 0; i < segments.size(); ++i) {
        names[i] = {'s', static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26), 0};
        segments[i] = {.name = names[i].data(), .bytes = 1};
    }
    EXPECT_EQ(StateRing::create({.segments = segments, .history_bytes = 32 << 20}).status(),
              Status::capacity_exhausted);
    EXPECT_TRUE(
        StateRing::create({.segments = std::span(segments).first(kMaxSegments), .history_bytes = 32 << 20}));
}

TEST(StateRing, WhatMakesNoSenseIsRefused) {
    EXPECT_EQ(StateRing::create({}).status(), Status::zero_size);
    EXPECT_EQ(StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 0}).status(),
              Status::bad_argument);
    EXPECT_EQ(StateRing::create({.segments = {&kWorld, 1}, .history_bytes = 1 << 20}).status(),
              Status::budget_exceeded);
    const std::array twice = {kWorld, kWorld};
    EXPECT_EQ(StateRing::create({.segments = twice}).status(), Status::bad_argument);
    const std::array overlapping = {SegmentOptions{.name = "a", .bytes = 1 << 20, .offset = 64 << 10},
                                    SegmentOptions{.name = "b", .bytes = 1 << 20, .offset = 128 << 10}};
    EXPECT_EQ(StateRing::create({.segments = overlapping}).status(), Status::address_in_use);
    const std::array empty = {SegmentOptions{.name = "a"}};
    EXPECT_EQ(StateRing::create({.segments = empty}).status(), Status::zero_size);
    const std::array odd = {SegmentOptions{.name = "a", .bytes = 1, .offset = 4096}};
    EXPECT_EQ(StateRing::create({.segments = odd}).status(), Status::bad_alignment);
    const std::array fine = {
        SegmentOptions{.name = "a", .bytes = 1, .tracking = Tracking::compare, .fine = true}};
    EXPECT_EQ(StateRing::create({.segments = fine}).status(), Status::bad_argument);
    const std::array huge = {SegmentOptions{.name = "a", .bytes = std::uint64_t{5} << 30}};
    EXPECT_EQ(StateRing::create({.segments = huge}).status(), Status::size_overflow);
}

}  // namespace
}  // namespace ouro
