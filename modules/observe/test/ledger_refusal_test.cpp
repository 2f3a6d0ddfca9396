// What is refused while others are at work.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

// A request without room anywhere above is refused before anything is taken into account.
TEST(LedgerRefusalConcurrent, ARefusalFurtherUpHarmsNobody) {
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    constexpr std::size_t kMost = std::size_t{1} << 30;
    constexpr std::size_t kBytes = 50'000;
    ASSERT_TRUE(set_budget(parent, {.hard_bytes = 1 << 20}));
    ASSERT_TRUE(set_budget(child, {.hard_bytes = kMost}));
    std::atomic<bool> is_over{false};
    std::atomic<unsigned> refused{0};
    run_workers(3, [&](std::size_t number) {
        if (number == 0) {
            while (!is_over.load())
                EXPECT_EQ(test::charge(child, kMost - 1'000), Status::budget_exceeded);
            return;
        }
        for (int i = 0; i < 20'000; ++i) {
            if (test::charge(child, kBytes) == Status::ok) {
                test::refund(child, kBytes);
            } else {
                refused.fetch_add(1);
            }
        }
        is_over.store(true);
    });
    EXPECT_EQ(refused.load(), 0U);
    EXPECT_LE(use_of(child).peak_bytes, std::size_t{1} << 20);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// Others hold credit, move it and are given some again, all of it within a budget that has room for the
// request whatever they do. The budget is that of the tag, or of one above.
class LedgerRoomConcurrent : public testing::TestWithParam<int> {
protected:
    static constexpr std::size_t kSwingers = 3;
    static constexpr std::size_t kBlocks = 50;
    static constexpr std::size_t kBlockBytes = 20'000;
    // So much beside them that there is room for credit when nobody asks for it.
    static constexpr std::size_t kAsked = 16'000'000;

    void take(Tag tag, std::size_t bytes) {
        if (test::charge(tag, bytes) != Status::ok) refused.fetch_add(1);
    }
    void swing(Tag tag) {
        for (int round = 0; round < 3'000 && refused.load() == 0; ++round) {
            for (std::size_t block = 0; block < kBlocks; ++block)
                take(tag, kBlockBytes);
            for (std::size_t block = 0; block < kBlocks; ++block)
                test::refund(tag, kBlockBytes);
        }
        swingers.fetch_sub(1);
    }
    void ask(Tag tag) {
        while (swingers.load() != 0) {
            take(tag, kAsked);
            test::refund(tag, kAsked);
        }
    }

    std::atomic<std::size_t> swingers{kSwingers};
    std::atomic<unsigned> refused{0};
};

TEST_P(LedgerRoomConcurrent, WhatAlwaysFitsIsNeverRefused) {
    const Tag top = fresh_tag();
    std::array<Tag, kSwingers + 1> tags;
    for (Tag& tag : tags) {
        tag = top;
        for (int level = 0; level < GetParam(); ++level)
            tag = fresh_tag(tag);
    }
    constexpr std::size_t kBudget = kSwingers * kBlocks * kBlockBytes + kAsked;
    ASSERT_TRUE(set_budget(top, {.hard_bytes = kBudget}));
    // So that no peak keeps credit from coming near the budget.
    for (const Tag tag : tags)
        test::rest_below_a_peak(tag, kBudget);
    run_workers(kSwingers + 1, [&](std::size_t number) {
        if (number == kSwingers) {
            ask(tags[number]);
        } else {
            swing(tags[number]);
        }
    });
    ASSERT_EQ(refused.load(), 0U);
    EXPECT_EQ(use_of(top).live_bytes, 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
}
INSTANTIATE_TEST_SUITE_P(Levels, LedgerRoomConcurrent, testing::Values(0, 1, 4));

// Several ask at once for what only one of them can have. Those who find room everywhere, and then none at
// the top, were taken into account further down by then.
TEST(LedgerRefusalConcurrent, WhatIsRefusedAtTheTopIsGivenBackFurtherDown) {
    constexpr std::size_t kBytes = 600'000;
    constexpr std::size_t kBudget = kBytes + kBytes / 2;
    const Tag top = fresh_tag();
    // The way from the one to the other takes a while.
    Tag bottom = top;
    for (int level = 0; level < 8; ++level)
        bottom = fresh_tag(bottom);
    ASSERT_TRUE(set_budget(top, {.hard_bytes = kBudget}));
    std::atomic<unsigned> refused{0};
    run_workers(3, [&](std::size_t) {
        for (int i = 0; i < 30'000; ++i) {
            if (test::charge(bottom, kBytes) == Status::ok) {
                test::refund(bottom, kBytes);
            } else {
                refused.fetch_add(1);
            }
        }
    });
    EXPECT_EQ(use_of(bottom).failures, refused.load());
    EXPECT_EQ(use_of(bottom).live_bytes, 0U);
    EXPECT_LE(use_of(bottom).peak_bytes, kBudget);
    EXPECT_EQ(check_ledger(), Status::ok);
    // All of it is there again.
    EXPECT_EQ(test::charge(bottom, kBudget), Status::ok);
    test::refund(bottom, kBudget);
}

}  // namespace
}  // namespace ouro
