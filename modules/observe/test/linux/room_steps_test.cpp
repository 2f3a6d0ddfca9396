// Requests that fit a budget, while another thread moves credit below it, or they are stopped themselves.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "stop_everywhere.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/ledger.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using test::stop_everywhere;

// So much that no credit is left for it.
constexpr std::size_t kMuch = 400'000;

// A budget of kMuch below which the calling thread has credit, and something to do that another one's request
// is beside: the request fits, wherever the work is stopped. Credit on its way between an account and a
// thread is in nobody's way.
struct RoomScene {
    std::size_t asked;
    std::function<void()> prepare = [] {};
    std::function<void()> stepped;
    // What is in use when all is done.
    std::size_t left = 0;
};
void expect_room_everywhere(Tag tag, const RoomScene& scene) {
    Status status = Status::ok;
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             test::rest_below_a_peak(tag, 1'000'000);
                             ASSERT_TRUE(set_budget(tag, {.hard_bytes = kMuch}));
                             scene.prepare();
                         },
                     .stepped = scene.stepped,
                     .other = {.meanwhile = [&] { status = test::charge(tag, scene.asked); }},
                     .check =
                         [&] {
                             EXPECT_EQ(status, Status::ok);
                             if (status == Status::ok) test::refund(tag, scene.asked);
                             if (scene.left != 0) test::refund(tag, scene.left);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         }},
                    100);
}

TEST(RoomSteps, WhatFitsIsNotRefusedAnywhereInARefundBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    expect_room_everywhere(tag, {.asked = kMuch - 150'000,
                                 .prepare =
                                     [&] {
                                         ASSERT_EQ(test::charge(tag, 100'000), Status::ok);
                                         ASSERT_EQ(test::charge(tag, 50'000), Status::ok);
                                     },
                                 .stepped = [&] { test::refund(tag, 100'000); },
                                 .left = 50'000});
}

TEST(RoomSteps, WhatFitsIsNotRefusedAnywhereInAChargeBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    expect_room_everywhere(tag, {.asked = kMuch - 100'000,
                                 .stepped = [&] { ASSERT_EQ(test::charge(tag, 100'000), Status::ok); },
                                 .left = 100'000});
}

// The same where nothing is left to be taken back.
TEST(RoomSteps, WhatFitsIsNotRefusedAnywhereInAChargeThatIsTakenBackBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    expect_room_everywhere(tag, {.asked = kMuch - 100'000,
                                 .prepare = [&] { ASSERT_EQ(detail::charge_slow(tag, 100'000), Status::ok); },
                                 .stepped = [&] { detail::uncharge_slow(tag, 100'000); }});
}

// Credit is taken back for a request, and at last nobody is given any; until others have called so often that
// they are. Wherever the request comes to again and again, it is stopped for as long as that takes.
TEST(RoomSteps, WhatFitsIsNotRefusedWhereverOthersRestAndHaveCreditAgain) {
    const Tag tag = fresh_tag(fresh_tag());
    constexpr std::size_t kSmall = 1'000;
    constexpr std::size_t kAsked = kMuch - kSmall;
    constexpr int kCallsToRest = 200;
    const auto swing = [&] {
        for (int call = 0; call < kCallsToRest; ++call) {
            if (test::charge(tag, kSmall) == Status::ok) test::refund(tag, kSmall);
        }
    };
    Status status = Status::ok;
    stop_everywhere({.prepare =
                         [&] {
                             ASSERT_TRUE(set_budget(tag, {}));
                             test::rest_below_a_peak(tag, 1'000'000);
                             ASSERT_TRUE(set_budget(tag, {.hard_bytes = kMuch}));
                         },
                     .stepped = [&] { status = test::charge(tag, kAsked); },
                     .other = {.before = swing, .meanwhile = swing},
                     .check =
                         [&] {
                             EXPECT_EQ(status, Status::ok);
                             if (status == Status::ok) test::refund(tag, kAsked);
                             EXPECT_EQ(use_of(tag).live_bytes, 0U);
                             EXPECT_EQ(check_ledger(), Status::ok);
                         },
                     .is_repeated = true},
                    100);
}

// A revocation that is stopped when it has taken what the caller was just freeing, and before the accounts
// know.
class StoppedRevocation {
public:
    StoppedRevocation(Tag tag, std::int64_t bytes) : tag_(tag), bytes_(bytes) {
        detail::LedgerShard& shard = *detail::t_ledger.shard;
        cell_ = &shard.cells[tag.id()];
        cell_->allowance.fetch_add(bytes);
        cell_->frees.fetch_add(1);
        cell_->floor.store(std::numeric_limits<std::int64_t>::max() - 1);
        revoked_ = shard.slow_cells[tag.id()].revoked.fetch_add(bytes) + bytes;
    }
    void finish() {
        detail::Ledger& ledger = detail::observe_image()->ledger;
        for (const Tag tag : {tag_, Tag{}}) {
            ledger.accounts[tag.id()].held.fetch_sub(bytes_);
            ledger.accounts[tag.id()].reserved.fetch_sub(bytes_);
        }
        cell_->floor.store(revoked_);
    }

private:
    Tag tag_;
    std::int64_t bytes_;
    detail::LedgerCell* cell_;
    std::int64_t revoked_;
};

TEST(RoomSteps, WhatWasFreedIsThereWhateverRevocationHasIt) {
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = kMuch}));
    ASSERT_EQ(test::charge(tag, kMuch), Status::ok);
    const std::size_t peak = use_of(tag).peak_bytes;
    StoppedRevocation revocation(tag, kMuch / 2);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        revocation.finish();
    });
    // The rest of the free.
    detail::settle_slow(tag);
    const Status status = test::charge(tag, kMuch / 2);
    other.join();
    // Unless the other one was late by so much that nobody waits for it.
    if (use_of(tag).is_peak_exact) {
        EXPECT_EQ(status, Status::ok);
    }
    EXPECT_EQ(use_of(tag).peak_bytes, peak);
    EXPECT_EQ(check_ledger(), Status::ok);
    test::refund(tag, status == Status::ok ? kMuch : kMuch / 2);
}

}  // namespace
}  // namespace ouro
