#include "charges.hpp"
#include "child_process.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace ouro {
namespace {

using os::testing_support::run_in_child;
using test::fresh_tag;

// Hooks that were there before the ledger's: they run while its locks are held.
using Hook = void (*)();
constinit Hook g_hook = nullptr;

void call_hook() {
    if (g_hook != nullptr) g_hook();
}
[[maybe_unused]] const int g_registered = ::pthread_atfork(call_hook, call_hook, call_hook);

constinit Tag g_opened;
constinit Tag g_unopened;
constinit int g_calls = 0;
constinit int g_failures = 0;

// Everything that takes a lock of the ledger: a first charge of a thread, one of a tag, a refusal that takes
// credit back, and a reset.
void use_ledger() {
    ++g_calls;
    g_failures += test::charge(g_opened, 100) != Status::ok ? 1 : 0;
    g_failures += test::charge(g_unopened, 100) != Status::ok ? 1 : 0;
    g_failures += test::charge(g_opened, 1 << 20) != Status::budget_exceeded ? 1 : 0;
    reset_peaks();
    g_failures += use_of(g_opened).live_bytes < 100 ? 1 : 0;
    test::refund(g_opened, 100);
    test::refund(g_unopened, 100);
}

TEST(LedgerFork, HooksOfOthersMayCharge) {
    g_opened = fresh_tag();
    g_unopened = fresh_tag();
    ASSERT_TRUE(set_budget(g_opened, {.hard_bytes = 1 << 20}));
    ASSERT_EQ(test::charge(g_opened, 50'000), Status::ok);
    const int result = run_in_child([] {
        int inner = -1;
        g_calls = 0;
        // A thread without a place of its own forks.
        std::thread([&] {
            g_hook = use_ledger;
            inner = run_in_child([] { return g_calls == 2 && g_failures == 0 ? 0 : 1; });
            g_hook = nullptr;
        }).join();
        if (inner != 0) return 1;
        return g_calls == 2 && g_failures == 0 && check_ledger() == Status::ok ? 0 : 2;
    });
    EXPECT_EQ(result, 0);
    test::refund(g_opened, 50'000);
}

// Wherever the other threads were.
TEST(LedgerFork, TheAccountsOfAChildAddUp) {
    constexpr std::size_t kBudget = std::size_t{64} << 20;
    constexpr std::size_t kBlock = std::size_t{20} << 20;
    const Tag parent = fresh_tag();
    const Tag tag = fresh_tag(parent);
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = kBudget}));
    ASSERT_EQ(test::charge(tag, 10), Status::ok);
    std::atomic<bool> is_over{false};
    const auto work = [&] {
        while (!is_over.load(std::memory_order_relaxed)) {
            if (test::charge(tag, kBlock) == Status::ok) test::refund(tag, kBlock);
        }
    };
    std::thread one(work);
    std::thread other(work);
    for (int children = 0; children < 80; ++children) {
        SCOPED_TRACE(children);
        EXPECT_EQ(run_in_child([&] {
                      if (check_ledger() != Status::ok) return 1;
                      const std::size_t rest = kBudget - use_of(tag).live_bytes;
                      if (use_of(tag).peak_bytes > kBudget) return 2;
                      if (test::charge(tag, rest) != Status::ok) return 3;
                      if (test::charge(tag, 1) != Status::budget_exceeded) return 4;
                      test::refund(tag, rest);
                      return check_ledger() == Status::ok ? 0 : 5;
                  }),
                  0);
        if (testing::Test::HasFailure()) break;
    }
    is_over.store(true);
    one.join();
    other.join();
    test::refund(tag, 10);
    EXPECT_EQ(check_ledger(), Status::ok);
}

// What a thread that the child does not have had asked for counts as in use there; but it never was.
TEST(LedgerFork, APeakOfAChildThatNeverWasIsNotExact) {
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, 100), Status::ok);
    std::atomic<int> step{0};
    std::thread other([&] {
        EXPECT_EQ(detail::charge_slow(tag, 1'000), Status::ok);
        step.store(1);
        step.notify_all();
        step.wait(1);
        detail::uncharge_slow(tag, 1'000);
    });
    step.wait(0);
    EXPECT_EQ(run_in_child([&] {
                  const TagUse use = use_of(tag);
                  if (use.live_bytes != 1'100 || use.peak_bytes != 1'100) return 1;
                  if (check_ledger() != Status::ok) return 2;
                  return use.is_peak_exact ? 3 : 0;
              }),
              0);
    step.store(2);
    step.notify_all();
    other.join();
    EXPECT_EQ(use_of(tag).peak_bytes, 100U);
    EXPECT_TRUE(use_of(tag).is_peak_exact);
    test::refund(tag, 100);
}

}  // namespace
}  // namespace ouro
