// A charge, a refund or a revocation that is stopped anywhere, while another thread changes the bounds or
// charges too.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "stop_everywhere.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using test::stop_everywhere;

// So much that no credit is left for it.
constexpr std::size_t kMuch = 400'000;

TEST(ChargeSteps, ABudgetMadeSmallerAnywhereInAChargeLeavesNoCredit) {
    const Tag tag = fresh_tag(fresh_tag());
    Status status = Status::ok;
    stop_everywhere({.prepare = [&] { ASSERT_TRUE(set_budget(tag, {})); },
                     .stepped = [&] { status = test::charge(tag, kMuch); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_budget(tag, {.hard_bytes = 1})); }},
                     .check =
                         [&] {
                             EXPECT_TRUE(status == Status::ok || status == Status::budget_exceeded);
                             EXPECT_EQ(test::charge(tag, 64), Status::budget_exceeded);
                             EXPECT_EQ(use_of(tag).live_bytes, status == Status::ok ? kMuch : 0);
                             EXPECT_EQ(check_ledger(), Status::ok);
                             if (status == Status::ok) test::refund(tag, kMuch);
                         }},
                    100);
}

TEST(ChargeSteps, ABudgetMadeSmallerAnywhereInARefundLeavesNoCredit) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             ASSERT_EQ(test::charge(tag, kMuch), Status::ok);
                         },
                     .stepped = [&] { test::refund(tag, kMuch); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_budget(tag, {.hard_bytes = 1})); }},
                     .check =
                         [&] {
                             EXPECT_EQ(test::charge(tag, 64), Status::budget_exceeded);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

// The same out of credit: a handful of instructions.
TEST(ChargeSteps, ABudgetMadeSmallerAnywhereInAChargeOutOfCreditIsKept) {
    const Tag tag = fresh_tag(fresh_tag());
    Status status = Status::ok;
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             test::rest_below_a_peak(tag, 1'000'000);
                         },
                     .stepped = [&] { status = test::charge(tag, 100); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_budget(tag, {.hard_bytes = 150})); }},
                     .check =
                         [&] {
                             ASSERT_EQ(status, Status::ok);
                             EXPECT_EQ(test::charge(tag, 51), Status::budget_exceeded);
                             EXPECT_EQ(test::charge(tag, 50), Status::ok);
                             EXPECT_EQ(use_of(tag).live_bytes, 150U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                             test::refund(tag, 50);
                             test::refund(tag, 100);
                         }},
                    10);
}

// Credit that is being taken back is used by nobody.
TEST(ChargeSteps, AChargeAnywhereInARevocationIsCountedOnce) {
    const Tag tag = fresh_tag(fresh_tag());
    Status status = Status::ok;
    stop_everywhere({.prepare = [&] { ASSERT_TRUE(set_budget(tag, {})); },
                     .stepped = [&] { ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1})); },
                     .other = {.before = [&] { test::rest_below_a_peak(tag, 1'000'000); },
                               .meanwhile = [&] { status = test::charge(tag, 100); }},
                     .check =
                         [&] {
                             EXPECT_EQ(check_ledger(), Status::ok);
                             EXPECT_EQ(use_of(tag).live_bytes, status == Status::ok ? 100U : 0U);
                             if (status == Status::ok) test::refund(tag, 100);
                         }},
                    100);
}

// Two that fit only one after the other: never both.
TEST(ChargeSteps, AnotherChargeAnywhereInOneNeverMakesTwoOfWhatFitsOnce) {
    const Tag tag = fresh_tag(fresh_tag());
    Status first = Status::ok;
    Status second = Status::ok;
    stop_everywhere({.prepare = [&] { ASSERT_TRUE(set_budget(tag, {.hard_bytes = kMuch})); },
                     .stepped = [&] { first = test::charge(tag, kMuch); },
                     .other = {.meanwhile = [&] { second = test::charge(tag, kMuch); }},
                     .check =
                         [&] {
                             EXPECT_NE(first == Status::ok, second == Status::ok);
                             EXPECT_LE(use_of(tag).peak_bytes, kMuch);
                             EXPECT_EQ(check_ledger(), Status::ok);
                             if (first == Status::ok || second == Status::ok) test::refund(tag, kMuch);
                         }},
                    100);
}

// A limit that comes while credit is on its way: then nothing passes by.
TEST(ChargeSteps, ARateLimitSetAnywhereInAChargeLeavesNoCredit) {
    const Tag tag = fresh_tag(fresh_tag());
    Status status = Status::ok;
    stop_everywhere({.prepare = [&] { clear_rate_limit(tag); },
                     .stepped = [&] { status = test::charge(tag, kMuch); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_rate_limit(tag, {.calls = 0})); }},
                     .check =
                         [&] {
                             EXPECT_EQ(test::charge(tag, 64), Status::rate_limited);
                             // What a free leaves is no credit either.
                             if (status == Status::ok) test::refund(tag, kMuch);
                             EXPECT_EQ(test::charge(tag, 64), Status::rate_limited);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

TEST(ChargeSteps, ARateLimitSetAnywhereInARefundLeavesNoCredit) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_everywhere({.prepare =
                         [&] {
                             clear_rate_limit(tag);
                             ASSERT_EQ(test::charge(tag, kMuch), Status::ok);
                             ASSERT_EQ(test::charge(tag, 64), Status::ok);
                         },
                     .stepped = [&] { test::refund(tag, kMuch); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_rate_limit(tag, {.calls = 0})); }},
                     .check =
                         [&] {
                             test::refund(tag, 64);
                             EXPECT_EQ(test::charge(tag, 64), Status::rate_limited);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

// Credit that a soft budget did not know of is gone, but for a 32nd of it.
TEST(ChargeSteps, ASoftBudgetSetAnywhereInAChargeIsNoticedSoon) {
    const Tag tag = fresh_tag(fresh_tag());
    constexpr std::size_t kSoft = kMuch + 1'000;
    constexpr std::size_t kBeyond = 1'000 + kSoft / 32 + 1;
    std::uint64_t cursor = event_count();
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             cursor = event_count();
                         },
                     .stepped = [&] { ASSERT_EQ(test::charge(tag, kMuch), Status::ok); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_budget(tag, {.soft_bytes = kSoft})); }},
                     .check =
                         [&] {
                             ASSERT_EQ(test::charge(tag, kBeyond), Status::ok);
                             std::array<ObserveEvent, 4> events;
                             const EventsRead read = read_events(cursor, events);
                             ASSERT_EQ(read.count, 1U);
                             EXPECT_EQ(events[0].kind, ObserveEventKind::soft_budget_passed);
                             EXPECT_EQ(events[0].tag, tag);
                             test::refund(tag, kBeyond);
                             test::refund(tag, kMuch);
                         }},
                    100);
}

// Whoever revokes reads two words, which a charge that is taken back changes both.
TEST(ChargeSteps, AChargeTakenBackAnywhereInARevocationIsTakenBackOnce) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_everywhere({.prepare = [&] { ASSERT_TRUE(set_budget(tag, {})); },
                     .stepped = [&] { ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1})); },
                     .other = {.before =
                                   [&] {
                                       test::rest_below_a_peak(tag, 1'000'000);
                                       EXPECT_EQ(detail::charge_slow(tag, 100'000), Status::ok);
                                   },
                               .meanwhile = [&] { detail::uncharge_slow(tag, 100'000); }},
                     .check =
                         [&] {
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

// The same where the thread has no credit to give back before: it changes both words at any moment.
TEST(ChargeSteps, AChargeWithoutCreditTakenBackAnywhereInARevocationIsTakenBackOnce) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             reset_peaks();
                         },
                     .stepped = [&] { ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1})); },
                     .other = {.before = [&] { EXPECT_EQ(detail::charge_slow(tag, 100'000), Status::ok); },
                               .meanwhile = [&] { detail::uncharge_slow(tag, 100'000); }},
                     .check =
                         [&] {
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

// A request beyond reason takes first and looks then, as all do: what is revoked meanwhile must not stay.
TEST(ChargeSteps, ABudgetSetAnywhereInARequestBeyondReasonIsKept) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             test::rest_below_a_peak(tag, 1'000'000);
                         },
                     .stepped = [&] { EXPECT_NE(test::charge(tag, SIZE_MAX / 2 - 1'000), Status::ok); },
                     .other = {.meanwhile = [&] { EXPECT_TRUE(set_budget(tag, {.hard_bytes = 1'000})); }},
                     .check =
                         [&] {
                             EXPECT_EQ(test::charge(tag, 1'001), Status::budget_exceeded);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

// Accounts open from the top: whoever sees one has those above it with their bounds.
TEST(ChargeSteps, TwoThreadsMayOpenAnAccountAtOnce) {
    const Tag above = fresh_tag();
    const Tag tag = fresh_tag(fresh_tag(above));
    const auto close_accounts = [&] {
        for (Tag at = tag; !at.is_untagged(); at = tag_parent(at)) {
            detail::LedgerAccount& account = detail::observe_image()->ledger.accounts[at.id()];
            account.is_open.store(0);
            account.hard.store(0);
            account.parent = 0;
        }
    };
    stop_everywhere({.prepare = close_accounts,
                     .stepped = [&] { ASSERT_EQ(test::charge(tag, 100), Status::ok); },
                     .other = {.meanwhile = [&] { EXPECT_EQ(test::charge(tag, 50), Status::ok); }},
                     .check =
                         [&] {
                             EXPECT_EQ(use_of(above).live_bytes, 150U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                             test::refund(tag, 150);
                         }},
                    100);
}

}  // namespace
}  // namespace ouro
