// Threads that begin to use the ledger while credit is revoked.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

// In a process of its own, nobody has asked the system yet what it can do.
TEST(LedgerFirstUse, ABoundMayBeSetWhileTheFirstThreadBegins) {
    const Tag tag = fresh_tag();
    std::atomic<int> ready = 0;
    Status charged = Status::ok;
    run_workers(2, [&](std::size_t number) {
        ready.fetch_add(1);
        while (ready.load() != 2)
            os::yield_thread();
        if (number == 0) {
            charged = test::charge(tag, 64);
            return;
        }
        EXPECT_TRUE(set_rate_limit(tag, {.calls = 0}));
        EXPECT_TRUE(set_budget(tag, {.hard_bytes = 1}));
    });
    EXPECT_EQ(use_of(tag).live_bytes, charged == Status::ok ? 64U : 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
    EXPECT_NE(test::charge(tag, 64), Status::ok);
}

// A fiber, or a thread of a program that counts its pages.
TEST(LedgerFirstUse, ASmallStackIsEnoughForSlowWork) {
    struct Work {
        Tag tag = fresh_tag();
        Status status = Status::not_found;
    };
    Work work;
    auto thread = os::Thread::start(
        [](void* argument) {
            auto& own = *static_cast<Work*>(argument);
            own.status = test::charge(own.tag, 1 << 20);
            test::refund(own.tag, 1 << 20);
        },
        &work, {.stack_bytes = std::size_t{32} << 10});
    ASSERT_TRUE(thread) << status_name(thread.status());
    thread->join();
    EXPECT_EQ(work.status, Status::ok);
}

// Some swing below their budget and hold credit, one asks for all that is left, and new ones come and go:
// whatever meets, the sums are right and nobody has more than he was granted.
TEST(LedgerFirstUse, ThreadsMayBeginWhileCreditIsRevoked) {
    constexpr std::size_t kBudget = std::size_t{1} << 24;
    constexpr std::size_t kNewcomers = 100;
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = kBudget}));
    std::atomic<bool> is_over = false;
    std::atomic<std::size_t> live = 0;
    const auto charge_and_refund = [&](std::size_t bytes) {
        if (test::charge(tag, bytes) != Status::ok) return;
        EXPECT_LE(live.fetch_add(bytes) + bytes, kBudget);
        live.fetch_sub(bytes);
        test::refund(tag, bytes);
    };
    run_workers(3, [&](std::size_t number) {
        if (number == 0) {
            for (std::size_t i = 0; i < kNewcomers; ++i)
                run_workers(2, [&](std::size_t) {
                    for (int step = 0; step < 200; ++step)
                        charge_and_refund(64);
                });
            is_over.store(true);
        }
        while (!is_over.load())
            charge_and_refund(number == 1 ? kBudget - 2'000 : 256);
    });
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
    EXPECT_LE(use_of(tag).peak_bytes, kBudget);
    EXPECT_EQ(check_ledger(), Status::ok);
}

}  // namespace
}  // namespace ouro
