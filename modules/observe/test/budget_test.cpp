#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/detail/event_ring.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

std::vector<ObserveEvent> events_since(std::uint64_t cursor) {
    std::vector<ObserveEvent> events(detail::kEventSlots);
    events.resize(read_events(cursor, events).count);
    return events;
}

TEST(Budget, AHardOneHoldsToTheByte) {
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = 100'000}));
    for (int i = 0; i < 1'000; ++i)
        ASSERT_EQ(test::charge(tag, 100), Status::ok) << i;
    const std::uint64_t before = event_count();
    EXPECT_EQ(test::charge(tag, 1), Status::budget_exceeded);
    EXPECT_EQ(use_of(tag).live_bytes, 100'000U);
    EXPECT_EQ(failures_of(tag, Status::budget_exceeded), 1U);
    const auto events = events_since(before);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, ObserveEventKind::request_refused);
    EXPECT_EQ(events[0].status, Status::budget_exceeded);
    EXPECT_EQ(events[0].tag, tag);
    EXPECT_EQ(events[0].bytes, 1U);
    EXPECT_EQ(events[0].limit_bytes, 100'000U);
    test::refund(tag, 100);
    EXPECT_EQ(test::charge(tag, 100), Status::ok);
    EXPECT_EQ(test::charge(tag, 1), Status::budget_exceeded);
    for (int i = 0; i < 1'000; ++i)
        test::refund(tag, 100);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// A program that runs against its budget is refused over and over.
TEST(Budget, RefusalsInARowDoNotPushTheRestOut) {
    constexpr std::uint64_t kRefusals = 2 * detail::kEventSlots;
    const Tag tag = fresh_tag();
    const Tag other = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.soft_bytes = 500, .hard_bytes = 1'000}));
    ASSERT_TRUE(set_budget(other, {.hard_bytes = 10}));
    std::uint64_t cursor = event_count();
    ASSERT_EQ(test::charge(tag, 600), Status::ok);
    for (std::uint64_t i = 0; i < kRefusals; ++i)
        ASSERT_EQ(test::charge(tag, 600), Status::budget_exceeded);
    ASSERT_EQ(test::charge(other, 20), Status::budget_exceeded);
    std::vector<ObserveEvent> events(detail::kEventSlots);
    const EventsRead read = read_events(cursor, events);
    events.resize(read.count);
    EXPECT_EQ(read.lost, 0U);
    ASSERT_GT(events.size(), 3U);
    EXPECT_EQ(events.front().kind, ObserveEventKind::soft_budget_passed);
    EXPECT_EQ(events.back().tag, other);
    EXPECT_EQ(events.back().count, 1U);
    // The first, the second, the fourth and so on; anew where a pause came between.
    std::uint64_t expected = 1;
    for (std::size_t at = 1; at + 1 < events.size(); ++at) {
        EXPECT_EQ(events[at].tag, tag);
        if (events[at].count == 1) expected = 1;
        EXPECT_EQ(events[at].count, expected);
        expected *= 2;
    }
    EXPECT_EQ(failures_of(tag, Status::budget_exceeded), kRefusals);
    test::refund(tag, 600);
}

TEST(Budget, AParentsHoldsForAllBelow) {
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    const Tag grandchild = fresh_tag(child);
    ASSERT_TRUE(set_budget(parent, {.hard_bytes = 1'000}));
    ASSERT_TRUE(set_budget(grandchild, {.hard_bytes = 5'000}));
    EXPECT_EQ(test::charge(child, 600), Status::ok);
    EXPECT_EQ(test::charge(grandchild, 401), Status::budget_exceeded);
    EXPECT_EQ(test::charge(grandchild, 400), Status::ok);
    EXPECT_EQ(test::charge(parent, 1), Status::budget_exceeded);
    // Counted where it was asked for.
    EXPECT_EQ(failures_of(grandchild, Status::budget_exceeded), 1U);
    EXPECT_EQ(failures_of(parent, Status::budget_exceeded), 1U);
    EXPECT_EQ(use_of(parent).failures, 2U);
    test::refund(child, 600);
    test::refund(grandchild, 400);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// What a child keeps as credit must not stand in the way of its siblings.
TEST(Budget, CreditOfATagDoesNotKeepOthersFromTheBudget) {
    const Tag parent = fresh_tag();
    const Tag one = fresh_tag(parent);
    const Tag other = fresh_tag(parent);
    ASSERT_TRUE(set_budget(parent, {.hard_bytes = 1'000'000}));
    for (int i = 0; i < 500; ++i)
        ASSERT_EQ(test::charge(one, 1'000), Status::ok);
    for (int i = 0; i < 500; ++i)
        test::refund(one, 1'000);
    EXPECT_EQ(test::charge(other, 1'000'000), Status::ok);
    EXPECT_EQ(test::charge(one, 1), Status::budget_exceeded);
    test::refund(other, 1'000'000);
    EXPECT_EQ(test::charge(one, 1'000'000), Status::ok);
    test::refund(one, 1'000'000);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Budget, MadeSmallerThanWhatIsLiveItRefusesUntilEnoughWasFreed) {
    const Tag tag = fresh_tag();
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(test::charge(tag, 100), Status::ok);
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = 5'000}));
    EXPECT_EQ(test::charge(tag, 1), Status::budget_exceeded);
    for (int i = 0; i < 51; ++i)
        test::refund(tag, 100);
    EXPECT_EQ(test::charge(tag, 100), Status::ok);
    EXPECT_EQ(test::charge(tag, 1), Status::budget_exceeded);
    ASSERT_TRUE(set_budget(tag, {}));
    EXPECT_EQ(test::charge(tag, 1'000'000), Status::ok);
    test::refund(tag, 1'000'000);
    for (int i = 0; i < 50; ++i)
        test::refund(tag, 100);
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Budget, ASoftOneIsToldOnceUntilUseWasClearlyBelow) {
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.soft_bytes = 10'000}));
    const std::uint64_t before = event_count();
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(test::charge(tag, 100), Status::ok);
    EXPECT_TRUE(events_since(before).empty());
    ASSERT_EQ(test::charge(tag, 100), Status::ok);
    ASSERT_EQ(test::charge(tag, 100), Status::ok);
    auto events = events_since(before);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, ObserveEventKind::soft_budget_passed);
    EXPECT_EQ(events[0].bytes, 10'100U);
    EXPECT_EQ(events[0].limit_bytes, 10'000U);
    // Back and forth around it is not told again, down to a sixteenth below.
    for (const std::size_t bytes : {300U, 500U, 700U}) {
        test::refund(tag, bytes);
        ASSERT_EQ(test::charge(tag, bytes), Status::ok);
        EXPECT_EQ(events_since(before).size(), 1U) << bytes;
    }
    // Far below and over it again is.
    test::refund(tag, 9'000);
    ASSERT_EQ(test::charge(tag, 9'000), Status::ok);
    EXPECT_EQ(events_since(before).size(), 2U);
    test::refund(tag, 10'200);
}

std::uint64_t g_now = 0;
std::uint64_t test_clock() noexcept {
    return g_now;
}

TEST(Budget, ARateLimitThrottlesTheTagAndThoseBelow) {
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    // Credit from before the limit must not let requests through.
    ASSERT_EQ(test::charge(child, 100), Status::ok);
    g_now = 1'000;
    ASSERT_TRUE(set_rate_limit(parent, {.bytes = 1'000, .interval_ns = 1'000, .clock = test_clock}));
    for (int i = 0; i < 10; ++i)
        ASSERT_EQ(test::charge(child, 100), Status::ok);
    EXPECT_EQ(test::charge(child, 100), Status::rate_limited);
    test::refund(child, 100);
    EXPECT_EQ(test::charge(parent, 100), Status::rate_limited);
    EXPECT_EQ(failures_of(child, Status::rate_limited), 1U);
    g_now = 2'000;
    EXPECT_EQ(test::charge(child, 100), Status::ok);
    clear_rate_limit(parent);
    EXPECT_EQ(test::charge(child, 5'000), Status::ok);
    test::refund(child, 1'100 + 5'000);
    EXPECT_EQ(use_of(parent).live_bytes, 0U);
}

TEST(Budget, BadOnesChangeNothing) {
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.soft_bytes = 10, .hard_bytes = 20}));
    EXPECT_EQ(set_budget(tag, {.soft_bytes = 30, .hard_bytes = 20}).status(), Status::bad_argument);
    EXPECT_EQ(set_budget(Tag::from_id(kMaxTags - 1), {}).status(), Status::bad_argument);
    EXPECT_EQ(set_rate_limit(tag, {.bytes = 1, .interval_ns = 0}).status(), Status::bad_argument);
    EXPECT_EQ(budget_of(tag).soft_bytes, 10U);
    EXPECT_EQ(budget_of(tag).hard_bytes, 20U);
    EXPECT_EQ(test::charge(tag, 5), Status::ok);
    test::refund(tag, 5);
}

TEST(Budget, SharesOfATotal) {
    const DefaultTags& tags = default_tags();
    constexpr std::size_t kTotal = std::size_t{1} << 30;
    ASSERT_TRUE(set_budget_shares({.total_bytes = kTotal, .shares = game_budget_shares()}));
    EXPECT_EQ(budget_of({}).hard_bytes, kTotal);
    EXPECT_EQ(budget_of(tags.creatures).hard_bytes, kTotal / 100 * 40 + kTotal % 100 * 40 / 100);
    EXPECT_EQ(budget_of(tags.audio).hard_bytes, kTotal / 100 * 5 + kTotal % 100 * 5 / 100);
    EXPECT_LT(budget_of(tags.ui).soft_bytes, budget_of(tags.ui).hard_bytes);

    const std::array twice{BudgetShare{tags.ui, 10}, BudgetShare{tags.ui, 10}};
    EXPECT_EQ(set_budget_shares({.total_bytes = 1, .shares = twice}).status(), Status::bad_argument);
    const std::array too_much{BudgetShare{tags.ui, 60}, BudgetShare{tags.audio, 41}};
    EXPECT_EQ(set_budget_shares({.total_bytes = 1, .shares = too_much}).status(), Status::bad_argument);
    EXPECT_EQ(set_budget_shares({.total_bytes = 0}).status(), Status::bad_argument);
    EXPECT_EQ(budget_of({}).hard_bytes, kTotal);
    ASSERT_TRUE(set_budget({}, {}));
    for (const BudgetShare& share : game_budget_shares())
        ASSERT_TRUE(set_budget(share.tag, {}));
}

TEST(Events, TheOldestAreLostAndCounted) {
    std::uint64_t cursor = event_count();
    for (std::uint64_t i = 0; i < detail::kEventSlots + 10; ++i)
        post_event({.kind = ObserveEventKind::spike, .bytes = i});
    std::array<ObserveEvent, 7> some;
    const EventsRead first = read_events(cursor, some);
    EXPECT_EQ(first.lost, 10U);
    ASSERT_EQ(first.count, some.size());
    EXPECT_EQ(some[0].bytes, 10U);
    const EventsRead second = read_events(cursor, some);
    EXPECT_EQ(second.lost, 0U);
    EXPECT_EQ(some[0].bytes, 17U);
    EXPECT_EQ(some[1].number, some[0].number + 1);
}

// Otherwise the events would go on to name a limit that is not in force.
TEST(Budget, ANewBoundBeginsTheRowOfRefusalsAnew) {
    const Tag parent = fresh_tag();
    const Tag tag = fresh_tag(parent);
    const auto refuse_some = [&] {
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(test::charge(tag, 5'000), Status::budget_exceeded);
    };
    ASSERT_TRUE(set_budget(parent, {.hard_bytes = 1'000}));
    refuse_some();
    ASSERT_TRUE(set_budget(parent, {.hard_bytes = 2'000}));
    std::uint64_t cursor = event_count();
    refuse_some();
    std::array<ObserveEvent, 8> events;
    ASSERT_EQ(read_events(cursor, events).count, 2U);
    EXPECT_EQ(events[0].count, 1U);
    EXPECT_EQ(events[0].limit_bytes, 2'000U);
    EXPECT_EQ(events[1].count, 2U);
    EXPECT_EQ(observe_event_kind_name(events[0].kind), "request_refused");
}

// A program may go in and out of pressure all the time: what else happened is still there.
TEST(Events, ThoseOfPressureDoNotPushOthersOut) {
    const Tag tag = fresh_tag();
    std::uint64_t cursor = event_count();
    post_event({.kind = ObserveEventKind::soft_budget_passed, .tag = tag});
    for (int times = 0; times < 100'000; ++times) {
        for (const auto kind : {ObserveEventKind::pressure_changed, ObserveEventKind::pressure_handled})
            post_event({.kind = kind, .level = static_cast<std::uint8_t>(times % 2), .tag = tag});
    }
    std::array<ObserveEvent, 64> events;
    const EventsRead read = read_events(cursor, events);
    EXPECT_EQ(read.lost, 0U);
    // Of each kind the first 16, and 32 to 65,536.
    ASSERT_EQ(read.count, 1U + 2 * (16 + 12));
    EXPECT_EQ(events[0].kind, ObserveEventKind::soft_budget_passed);
    EXPECT_EQ(events[32].count, 1U);
    EXPECT_EQ(events[33].count, 32U);
    EXPECT_EQ(events[read.count - 1].count, 65'536U);
    EXPECT_EQ(events[read.count - 1].kind, ObserveEventKind::pressure_handled);
}

}  // namespace
}  // namespace ouro
