#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

constexpr std::size_t kMiB = std::size_t{1} << 20;

// With options of its own for the length of a test.
class TimelineTest : public testing::Test {
protected:
    TimelineTest() { set({}); }
    ~TimelineTest() override { set({}); }

    static void set(const TimelineOptions& options) { EXPECT_TRUE(set_timeline_options(options)); }

    // The number of the next look.
    static std::uint64_t next() {
        std::uint64_t cursor = ~std::uint64_t{0} / 4;
        std::array<TimelineMoment, 1> none;
        EXPECT_EQ(read_timeline(cursor, none), 0U);
        cursor = 0;
        std::vector<TimelineMoment> all(detail::kTimelineSlots);
        const std::size_t count = read_timeline(cursor, all);
        return count == 0 ? 0 : all[count - 1].number + 1;
    }
    static TimelineMoment look() {
        std::uint64_t cursor = next();
        look_at_timeline();
        std::array<TimelineMoment, 2> moments;
        EXPECT_EQ(read_timeline(cursor, moments), 1U);
        return moments[0];
    }
    static std::size_t bytes_of(const TimelineMoment& moment, Tag tag) {
        const auto end = moment.tags.begin() + static_cast<std::ptrdiff_t>(moment.tag_count);
        const auto found = std::find_if(moment.tags.begin(), end,
                                        [&](const TagAmount& amount) { return amount.tag == tag; });
        return found == end ? 0 : found->bytes;
    }
    static std::vector<ObserveEvent> events_of(std::uint64_t cursor, ObserveEventKind kind, Tag tag) {
        std::vector<ObserveEvent> events(1'024);
        events.resize(read_events(cursor, events).count);
        std::erase_if(events,
                      [&](const ObserveEvent& event) { return event.kind != kind || event.tag != tag; });
        return events;
    }
};

TEST_F(TimelineTest, AMomentSaysWhatIsLiveUnderWhichTag) {
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    const TimelineMoment before = look();
    ASSERT_EQ(test::charge(parent, 100 * kMiB), Status::ok);
    ASSERT_EQ(test::charge(child, 50 * kMiB), Status::ok);
    const TimelineMoment with = look();
    EXPECT_EQ(with.number, before.number + 1);
    EXPECT_GE(with.time_ns, before.time_ns);
    EXPECT_EQ(with.live_bytes, before.live_bytes + 150 * kMiB);
    EXPECT_EQ(with.live_blocks, before.live_blocks + 2);
    EXPECT_EQ(with.allocated_bytes, before.allocated_bytes + 150 * kMiB);
    EXPECT_EQ(with.allocations, before.allocations + 2);
    EXPECT_EQ(bytes_of(with, parent), 100 * kMiB);
    EXPECT_EQ(bytes_of(with, child), 50 * kMiB);
    EXPECT_GT(with.resident_bytes, 0U);
    for (std::size_t place = 1; place < with.tag_count; ++place)
        EXPECT_LE(with.tags[place].bytes, with.tags[place - 1].bytes);
    test::refund(parent, 100 * kMiB);
    test::refund(child, 50 * kMiB);
    const TimelineMoment after = look();
    EXPECT_EQ(after.live_bytes, before.live_bytes);
    EXPECT_EQ(after.freed_bytes, before.freed_bytes + 150 * kMiB);
}

TEST_F(TimelineTest, AMomentSaysWhatLiesInListedBlocks) {
    const TimelineMoment before = look();
    {
        BlockRegistration whole({.name = "whole", .reserved_bytes = 8 * kMiB, .committed_bytes = 4 * kMiB});
        const BlockRegistration part({.name = "part",
                                      .kind = BlockKind::borrowed,
                                      .reserved_bytes = 2 * kMiB,
                                      .committed_bytes = 2 * kMiB});
        EXPECT_EQ(look().listed_bytes, before.listed_bytes + 4 * kMiB);
        whole.update(6 * kMiB, 6 * kMiB);
        EXPECT_EQ(look().listed_bytes, before.listed_bytes + 6 * kMiB);
    }
    EXPECT_EQ(look().listed_bytes, before.listed_bytes);
}

TEST_F(TimelineTest, PollingLooksOnceAnInterval) {
    set({.interval_ns = ~std::uint64_t{0} / 4});
    EXPECT_TRUE(poll_timeline());
    EXPECT_FALSE(poll_timeline());
    set({.interval_ns = 1});
    EXPECT_TRUE(poll_timeline());
    const std::uint64_t now = os::monotonic_ns();
    while (os::monotonic_ns() < now + 2) {
    }
    EXPECT_TRUE(poll_timeline());
    EXPECT_EQ(set_timeline_options({.interval_ns = 0}).status(), Status::bad_argument);
    EXPECT_EQ(timeline_options().interval_ns, 1U);
}

TEST_F(TimelineTest, TheRingKeepsTheLatest) {
    const std::uint64_t first = next();
    for (std::size_t i = 0; i < detail::kTimelineSlots + 5; ++i)
        look_at_timeline();
    std::uint64_t cursor = first;
    std::vector<TimelineMoment> all(detail::kTimelineSlots + 10);
    ASSERT_EQ(read_timeline(cursor, all), detail::kTimelineSlots);
    EXPECT_EQ(all[0].number, first + 5);
    EXPECT_EQ(cursor, first + detail::kTimelineSlots + 5);
    EXPECT_GT(observe_cost().used_bytes, sizeof(detail::TimelineSlot) * detail::kTimelineSlots);
}

TEST_F(TimelineTest, SpikesAreToldOfTheTagAndThoseAbove) {
    set({.spike_bytes = kMiB});
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    look_at_timeline();
    const std::uint64_t cursor = event_count();
    ASSERT_EQ(test::charge(child, kMiB), Status::ok);
    look_at_timeline();
    EXPECT_TRUE(events_of(cursor, ObserveEventKind::spike, child).empty());
    ASSERT_EQ(test::charge(child, 3 * kMiB), Status::ok);
    look_at_timeline();
    look_at_timeline();
    for (const Tag tag : {child, parent}) {
        const auto events = events_of(cursor, ObserveEventKind::spike, tag);
        ASSERT_EQ(events.size(), 1U);
        EXPECT_EQ(events[0].bytes, 4 * kMiB);
        EXPECT_EQ(events[0].limit_bytes, kMiB);
    }
    test::refund(child, 4 * kMiB);
}

TEST_F(TimelineTest, PeaksAreToldInSteps) {
    set({.peak_step_bytes = kMiB});
    const Tag tag = fresh_tag();
    look_at_timeline();
    const std::uint64_t cursor = event_count();
    // Between two looks, and gone again by the second.
    ASSERT_EQ(test::charge(tag, 3 * kMiB), Status::ok);
    test::refund(tag, 3 * kMiB);
    look_at_timeline();
    auto events = events_of(cursor, ObserveEventKind::new_peak, tag);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].bytes, 3 * kMiB);
    ASSERT_EQ(test::charge(tag, 4 * kMiB), Status::ok);
    look_at_timeline();
    EXPECT_EQ(events_of(cursor, ObserveEventKind::new_peak, tag).size(), 1U);
    ASSERT_EQ(test::charge(tag, kMiB), Status::ok);
    look_at_timeline();
    events = events_of(cursor, ObserveEventKind::new_peak, tag);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].bytes, 5 * kMiB);
    EXPECT_EQ(events[1].limit_bytes, 3 * kMiB);
    test::refund(tag, 5 * kMiB);
}

TEST_F(TimelineTest, AWorkerPolls) {
    set({.interval_ns = 1'000});
    const std::uint64_t first = next();
    TimelineWorker worker;
    ASSERT_TRUE(worker.start());
    EXPECT_EQ(worker.start().status(), Status::busy);
    while (next() < first + 3)
        os::yield_thread();
    worker.stop();
    const std::uint64_t last = next();
    EXPECT_EQ(next(), last);
    worker.stop();
}

}  // namespace
}  // namespace ouro
