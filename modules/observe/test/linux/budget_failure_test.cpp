// Bounds that change where the system refuses what reaches all threads.
#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/process_barrier.hpp>

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#if defined(OURO_FAULT_INJECTION)
namespace ouro {
namespace {

using test::fresh_tag;

class BudgetFailure : public testing::Test {
protected:
    void SetUp() override {
        if (!os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    }

    // Calls it while no barrier is to be had.
    template <class Change>
    void change_without_barrier(Change change) {
        os::fault_injection::fail_nth(os::OsCall::process_barrier, 1, ENOSYS);
        change();
        EXPECT_TRUE(os::fault_injection::has_fired()) << "nothing was tested";
        os::fault_injection::clear();
    }

    const Tag tag_ = fresh_tag();
};

TEST_F(BudgetFailure, ASmallerBudgetHoldsForWhoHasCredit) {
    test::rest_below_a_peak(tag_, 1'000'000);
    ASSERT_EQ(test::charge(tag_, 10), Status::ok);
    change_without_barrier([&] { EXPECT_TRUE(set_budget(tag_, {.hard_bytes = 500})); });
    EXPECT_EQ(test::charge(tag_, 491), Status::budget_exceeded);
    EXPECT_EQ(test::charge(tag_, 490), Status::ok);
    EXPECT_EQ(test::charge(tag_, 1), Status::budget_exceeded);
    EXPECT_EQ(check_ledger(), Status::ok);
    test::refund(tag_, 490);
    test::refund(tag_, 10);
    // And then all is as ever.
    ASSERT_TRUE(set_budget(tag_, {}));
    EXPECT_EQ(test::charge(tag_, 100'000), Status::ok);
    test::refund(tag_, 100'000);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(BudgetFailure, AnotherThreadHasItsBytesAndNoMore) {
    std::thread([&] {
        test::rest_below_a_peak(tag_, 1'000'000);
        EXPECT_EQ(test::charge(tag_, 10), Status::ok);
    }).join();
    change_without_barrier([&] { EXPECT_TRUE(set_budget(tag_, {.hard_bytes = 500})); });
    // What ended with credit in its hands is asked for it, now that there are barriers again.
    EXPECT_EQ(test::charge(tag_, 491), Status::budget_exceeded);
    EXPECT_EQ(test::charge(tag_, 490), Status::ok);
    EXPECT_EQ(check_ledger(), Status::ok);
    test::refund(tag_, 490);
    test::refund(tag_, 10);
}

TEST_F(BudgetFailure, ARateLimitHoldsForWhoHasCredit) {
    test::rest_below_a_peak(tag_, 1'000'000);
    ASSERT_EQ(test::charge(tag_, 10), Status::ok);
    change_without_barrier(
        [&] { EXPECT_TRUE(set_rate_limit(tag_, {.bytes = 100, .interval_ns = 3'600'000'000'000})); });
    EXPECT_EQ(test::charge(tag_, 101), Status::rate_limited);
    clear_rate_limit(tag_);
    test::refund(tag_, 10);
    EXPECT_EQ(check_ledger(), Status::ok);
}

}  // namespace
}  // namespace ouro
#endif
