#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/tag_scope.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

TEST(Ledger, CountsWhatIsChargedAndRefunded) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, 100), Status::ok);
    ASSERT_EQ(test::charge(tag, 50), Status::ok);
    test::refund(tag, 100);
    const TagUse use = use_of(tag);
    EXPECT_EQ(use.live_bytes, 50U);
    EXPECT_EQ(use.live_blocks, 1U);
    EXPECT_EQ(use.peak_bytes, 150U);
    EXPECT_EQ(use.allocations, 2U);
    EXPECT_EQ(use.frees, 1U);
    EXPECT_EQ(use.allocated_bytes, 150U);
    EXPECT_EQ(use.freed_bytes, 100U);
    test::refund(tag, 50);
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
    EXPECT_EQ(use_of(tag).peak_bytes, 150U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Ledger, PeaksAreExactOnOneThreadWhateverTheCredit) {
    const Tag tag = fresh_tag();
    std::size_t live = 0;
    std::size_t peak = 0;
    // Up and down in steps around the sizes of credit, ever higher.
    for (std::size_t round = 1; round <= 40; ++round) {
        for (std::size_t step = 0; step < round * 17; ++step) {
            ASSERT_EQ(test::charge(tag, 997), Status::ok);
            live += 997;
            peak = live > peak ? live : peak;
        }
        EXPECT_EQ(use_of(tag).peak_bytes, peak);
        for (std::size_t step = 0; step < round * 16; ++step) {
            test::refund(tag, 997);
            live -= 997;
        }
        EXPECT_EQ(use_of(tag).live_bytes, live);
    }
    EXPECT_EQ(use_of(tag).peak_bytes, peak);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Ledger, ParentsSumTheirChildrenAndPeakAsTheyDoTogether) {
    const Tag parent = fresh_tag();
    const Tag one = fresh_tag(parent);
    const Tag other = fresh_tag(parent);
    ASSERT_EQ(test::charge(one, 10'000), Status::ok);
    test::refund(one, 10'000);
    ASSERT_EQ(test::charge(other, 7'000), Status::ok);
    ASSERT_EQ(test::charge(parent, 500), Status::ok);
    EXPECT_EQ(use_of(parent).live_bytes, 7'500U);
    EXPECT_EQ(own_use_of(parent).live_bytes, 500U);
    // The two children were never live at once.
    EXPECT_EQ(use_of(parent).peak_bytes, 10'000U);
    EXPECT_EQ(use_of(one).peak_bytes, 10'000U);
    EXPECT_EQ(use_of(other).peak_bytes, 7'000U);
    test::refund(other, 7'000);
    test::refund(parent, 500);
    EXPECT_EQ(use_of(parent).live_bytes, 0U);
}

TEST(Ledger, PeaksBeginAnew) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, 5'000), Status::ok);
    detail::refund_shrinkage(tag, 4'000);
    reset_peaks();
    EXPECT_EQ(use_of(tag).peak_bytes, 1'000U);
    test::refund(tag, 1'000);
}

TEST(Ledger, UnchargingLeavesNoTrace) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, 64), Status::ok);
    detail::uncharge_credit(tag, 64);
    const TagUse use = use_of(tag);
    EXPECT_EQ(use.live_bytes, 0U);
    EXPECT_EQ(use.allocations, 0U);
    EXPECT_EQ(use.allocated_bytes, 0U);
    EXPECT_EQ(use.peak_bytes, 64U) << "it was there, and could be seen";
    EXPECT_EQ(check_ledger(), Status::ok);
}

// An account is opened below the parent that the tag has when it is registered.
TEST(Ledger, UnregisteredTagsHaveNothing) {
    const std::size_t count = tag_count();
    const Tag future = Tag::from_id(static_cast<std::uint16_t>(count + 1));
    EXPECT_EQ(use_of(future).live_bytes, 0U);
    EXPECT_EQ(own_use_of(future).live_bytes, 0U);
    EXPECT_EQ(failures_of(future, Status::out_of_memory), 0U);
    EXPECT_EQ(use_of(Tag::from_id(60'000)).live_bytes, 0U);
    const Tag parent = fresh_tag();
    const Tag child = *register_tag("child of the unregistered", parent);
    ASSERT_EQ(child, future);
    ASSERT_EQ(test::charge(child, 1'000), Status::ok);
    EXPECT_EQ(use_of(parent).peak_bytes, 1'000U);
    test::refund(child, 1'000);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Ledger, SizesBeyondReasonAreRefused) {
    const Tag tag = fresh_tag();
    EXPECT_EQ(test::charge(tag, ~std::size_t{0}), Status::size_overflow);
    EXPECT_EQ(test::charge(tag, ~std::size_t{0} / 2 + 1), Status::size_overflow);
    EXPECT_EQ(failures_of(tag, Status::size_overflow), 2U);
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(Ledger, TellsWhatItCosts) {
    const ObserveCost cost = observe_cost();
    EXPECT_GT(cost.used_bytes, 0U);
    EXPECT_LE(cost.used_bytes, cost.reserved_bytes);
}

// Tags take accounts at once, but cells only where a thread uses them.
TEST(Ledger, ItCostsWhatWasTouched) {
    ASSERT_EQ(test::charge(fresh_tag(), 1), Status::ok);
    const std::size_t before = observe_cost().used_bytes;
    const std::size_t page = os::page_size();
    for (int i = 0; i < 100; ++i)
        static_cast<void>(use_of(fresh_tag()));
    // Reading is no use.
    const std::size_t most_pages = 100 * sizeof(detail::LedgerAccount) / page + 2;
    EXPECT_LE(observe_cost().used_bytes, before + most_pages * page);
    std::size_t last = 0;
    for (int i = 0; i < 200; ++i) {
        const Tag tag = fresh_tag();
        ASSERT_EQ(test::charge(tag, 1), Status::ok);
        test::refund(tag, 1);
        last = tag.id();
    }
    EXPECT_GE(observe_cost().used_bytes + 2 * page, before + 200 * sizeof(detail::LedgerCell)) << last;
}

// The resource below charges the same tag while it looks for the memory.
TEST(Ledger, APeakIsExactWhereChargesAreNested) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, 64'000'000), Status::ok);
    ASSERT_EQ(detail::charge_slow(tag, 100), Status::ok);
    ASSERT_EQ(test::charge(tag, 300'000), Status::ok);
    detail::confirm_slow(tag, 100);
    EXPECT_EQ(use_of(tag).live_bytes, 64'300'100U);
    EXPECT_EQ(use_of(tag).peak_bytes, 64'300'100U);
    for (const std::size_t bytes : {64'000'000U, 100U, 300'000U})
        test::refund(tag, bytes);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// A thread takes first and looks then: in between it has what it will not get.
TEST(Ledger, PeaksBeginAnewWithoutWhatIsAboutToBeRefused) {
    const Tag tag = fresh_tag();
    constexpr std::size_t kBudget = 1 << 20;
    ASSERT_TRUE(set_budget(tag, {.soft_bytes = kBudget - 1, .hard_bytes = kBudget}));
    ASSERT_EQ(test::charge(tag, 1'000), Status::ok);
    detail::LedgerShard& shard = detail::t_ledger.shard != nullptr
                                     ? *detail::t_ledger.shard
                                     : detail::observe_image()->ledger.shards[0];
    detail::add_to(shard.cells[tag.id()].allocated, 1 << 30);
    reset_peaks();
    detail::add_to(shard.cells[tag.id()].allocated, -(1 << 30));
    EXPECT_GE(use_of(tag).peak_bytes, 1'000U);
    EXPECT_LE(use_of(tag).peak_bytes, kBudget);
    test::refund(tag, 1'000);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// Charged, and the memory is not there yet.
TEST(Ledger, APeakIsNeverBelowWhatIsLive) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(detail::charge_slow(tag, 5'000), Status::ok);
    EXPECT_EQ(use_of(tag).live_bytes, 5'000U);
    EXPECT_EQ(use_of(tag).peak_bytes, 5'000U);
    detail::uncharge_slow(tag, 5'000);
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
    EXPECT_EQ(use_of(tag).peak_bytes, 0U);
}

// Others make peaks while the resource below looks for memory that it does not find.
TEST(Ledger, WhatCouldNotBeHadIsInNoPeak) {
    const Tag tag = fresh_tag(fresh_tag());
    ASSERT_EQ(detail::charge_growth(tag, std::size_t{100} << 20), Status::ok);
    ASSERT_EQ(detail::charge_slow(tag, 5'000), Status::ok);
    ASSERT_EQ(test::charge(tag, 64), Status::ok);
    detail::uncharge_slow(tag, 5'000);
    detail::uncharge_growth(tag, std::size_t{100} << 20);
    EXPECT_EQ(use_of(tag).peak_bytes, 64U);
    EXPECT_TRUE(use_of(tag).is_peak_exact);
    test::refund(tag, 64);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// Each number that has to fit the others, a little too large.
TEST(Ledger, TheCheckFindsWhatDoesNotAddUp) {
    const Tag parent = fresh_tag();
    const Tag tag = fresh_tag(parent);
    ASSERT_EQ(test::charge(tag, 100), Status::ok);
    detail::Ledger& ledger = detail::observe_image()->ledger;
    detail::LedgerShard& shard =
        detail::t_ledger.shard != nullptr ? *detail::t_ledger.shard : ledger.shards[0];
    for (auto* const number : {&ledger.accounts[tag.id()].reserved, &ledger.accounts[tag.id()].held,
                               &ledger.accounts[parent.id()].reserved, &ledger.accounts[parent.id()].held,
                               &shard.slow_cells[tag.id()].granted, &shard.slow_cells[tag.id()].revoked}) {
        ASSERT_EQ(check_ledger(), Status::ok);
        number->fetch_add(1);
        EXPECT_EQ(check_ledger(), Status::corrupt_data);
        number->fetch_sub(1);
    }
    EXPECT_EQ(check_ledger(), Status::ok);
    test::refund(tag, 100);
}

TEST(TagScope, NestsAndComesBack) {
    EXPECT_TRUE(current_tag().is_untagged());
    {
        const TagScope outer(default_tags().game);
        EXPECT_EQ(current_tag(), default_tags().game);
        {
            const TagScope inner(default_tags().creatures);
            EXPECT_EQ(current_tag(), default_tags().creatures);
        }
        EXPECT_EQ(current_tag(), default_tags().game);
    }
    EXPECT_TRUE(current_tag().is_untagged());
}

TEST(DefaultTags, FormATree) {
    const DefaultTags& tags = default_tags();
    EXPECT_TRUE(is_tag_within(tags.creatures, tags.game));
    EXPECT_TRUE(is_tag_within(tags.world, tags.game));
    EXPECT_FALSE(is_tag_within(tags.audio, tags.game));
    EXPECT_EQ(tag_name(tags.behaviours), "behaviours");
    EXPECT_EQ(&default_tags(), &tags);
}

}  // namespace
}  // namespace ouro
