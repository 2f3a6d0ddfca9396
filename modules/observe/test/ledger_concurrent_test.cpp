#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kSeed = 20'26'11;

struct Charge {
    Tag tag;
    std::size_t bytes = 0;
};

std::size_t random_size(Random& random) {
    return 1 + random.below(random.below(50) == 0 ? 20'000 : 300);
}

// What one thread charged and did not refund.
using Charges = std::vector<Charge>;

struct Outcome {
    std::uint64_t charged = 0;
    std::uint64_t refused = 0;
};

// Random charges and refunds; `charges` is what is live before and after.
template <class Allowed>
Outcome churn(std::uint64_t seed, unsigned operations, const std::vector<Tag>& tags, Charges& charges,
              Allowed&& on_charge) {
    Random random(kSeed, seed);
    Outcome outcome;
    for (unsigned i = 0; i < operations; ++i) {
        if (charges.empty() || random.below(100) < 55) {
            const Charge wanted{tags[random.below(static_cast<std::uint32_t>(tags.size()))],
                                random_size(random)};
            if (test::charge(wanted.tag, wanted.bytes) != Status::ok) {
                ++outcome.refused;
                continue;
            }
            ++outcome.charged;
            charges.push_back(wanted);
            on_charge(static_cast<std::int64_t>(wanted.bytes));
        } else {
            const std::size_t at = random.below(static_cast<std::uint32_t>(charges.size()));
            on_charge(-static_cast<std::int64_t>(charges[at].bytes));
            test::refund(charges[at].tag, charges[at].bytes);
            charges[at] = charges.back();
            charges.pop_back();
        }
    }
    return outcome;
}

std::vector<Tag> family(unsigned children) {
    std::vector<Tag> tags{fresh_tag()};
    for (unsigned i = 0; i < children; ++i)
        tags.push_back(fresh_tag(tags[i / 2]));
    return tags;
}

std::size_t sum_within(const std::array<Charges, kThreads>& all, Tag tag) {
    std::size_t sum = 0;
    for (const Charges& charges : all) {
        for (const Charge& charge : charges)
            sum += is_tag_within(charge.tag, tag) ? charge.bytes : 0;
    }
    return sum;
}

void refund_all(std::array<Charges, kThreads>& all) {
    for (Charges& charges : all) {
        for (const Charge& charge : charges)
            test::refund(charge.tag, charge.bytes);
        charges.clear();
    }
}

// Each phase, another thread frees what the one before it has charged.
TEST(LedgerConcurrent, CountsEqualTheModelAfterEveryPhase) {
    const std::vector<Tag> tags = family(6);
    std::array<Charges, kThreads> charges;
    std::uint64_t charged = 0;
    for (std::uint64_t phase = 0; phase < 8; ++phase) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " phase " << phase);
        std::array<Outcome, kThreads> outcomes;
        run_workers(kThreads, [&](std::size_t number) {
            outcomes[number] = churn(phase * kThreads + number, 20'000, tags,
                                     charges[(number + phase) % kThreads], [](std::int64_t) {});
        });
        for (const Outcome& outcome : outcomes)
            charged += outcome.charged;
        for (const Tag tag : tags)
            EXPECT_EQ(use_of(tag).live_bytes, sum_within(charges, tag));
        EXPECT_EQ(use_of(tags[0]).allocations, charged);
        EXPECT_EQ(check_ledger(), Status::ok);
    }
    refund_all(charges);
    for (const Tag tag : tags) {
        EXPECT_EQ(use_of(tag).live_bytes, 0U);
        EXPECT_EQ(use_of(tag).live_blocks, 0U);
        EXPECT_GE(use_of(tag).peak_bytes, use_of(tag).live_bytes);
    }
    EXPECT_EQ(check_ledger(), Status::ok);
}

// Budgets change at random while several threads charge: what is live never passes the largest of them, and
// never grows beyond one that was made smaller.
TEST(LedgerConcurrent, AHardBudgetIsNeverExceeded) {
    constexpr unsigned kOperations = 1'000'000 / kThreads;
    constexpr std::int64_t kLargest = 400'000;
    const std::vector<Tag> tags = family(6);
    std::array<Charges, kThreads> charges;
    std::array<Outcome, kThreads> outcomes;
    std::atomic<std::int64_t> live{0};
    std::atomic<std::int64_t> most{0};
    std::atomic<std::size_t> working{kThreads};
    ASSERT_TRUE(set_budget(tags[0], {.hard_bytes = kLargest}));
    run_workers(kThreads + 1, [&](std::size_t number) {
        if (number == kThreads) {
            Random random(kSeed, 99);
            while (working.load() != 0) {
                const std::size_t top = random.below(kLargest) + 1;
                ASSERT_TRUE(set_budget(tags[0], {.hard_bytes = top}));
                const Tag below = tags[1 + random.below(6)];
                ASSERT_TRUE(set_budget(below, {.hard_bytes = random.below(kLargest) + 1}));
                os::yield_thread();
            }
            return;
        }
        outcomes[number] = churn(number, kOperations, tags, charges[number], [&](std::int64_t bytes) {
            const std::int64_t now = live.fetch_add(bytes) + bytes;
            for (std::int64_t seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
            }
        });
        working.fetch_sub(1);
    });
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    EXPECT_LE(most.load(), kLargest);
    EXPECT_GT(most.load(), kLargest / 2);
    std::uint64_t refused = 0;
    for (const Outcome& outcome : outcomes)
        refused += outcome.refused;
    EXPECT_GT(refused, 0U);
    EXPECT_EQ(use_of(tags[0]).live_bytes, static_cast<std::size_t>(live.load()));
    EXPECT_EQ(use_of(tags[0]).failures, refused);
    for (const Tag tag : tags)
        EXPECT_EQ(use_of(tag).live_bytes, sum_within(charges, tag));
    EXPECT_EQ(check_ledger(), Status::ok);
    refund_all(charges);
    EXPECT_EQ(use_of(tags[0]).live_bytes, 0U);
}

// After a budget was made smaller, only what was under way then may still pass it.
TEST(LedgerConcurrent, ASmallerBudgetHoldsFromTheMomentItIsSet) {
    const Tag tag = fresh_tag();
    constexpr std::size_t kBytes = 64;
    for (std::size_t round = 0; round < 50; ++round) {
        std::atomic<bool> is_set{false};
        std::atomic<std::size_t> charged{0};
        std::size_t before = 0;
        ASSERT_TRUE(set_budget(tag, {}));
        run_workers(kThreads, [&](std::size_t number) {
            if (number == 0) {
                for (std::size_t i = 0; i < round * 100; ++i)
                    os::spin_pause();
                ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1}));
                before = use_of(tag).live_bytes;
                is_set.store(true);
                return;
            }
            for (int after = 0; after < 1'000;) {
                if (test::charge(tag, kBytes) == Status::ok) charged.fetch_add(1);
                after += is_set.load() ? 1 : 0;
            }
        });
        EXPECT_LE(use_of(tag).live_bytes, before + (kThreads - 1) * kBytes) << "round " << round;
        EXPECT_EQ(use_of(tag).live_bytes, charged.load() * kBytes);
        for (std::size_t i = 0; i < charged.load(); ++i)
            test::refund(tag, kBytes);
    }
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST(LedgerConcurrent, ThreadsThatEndLeaveTheirCountsBehind) {
    const Tag tag = fresh_tag();
    const std::size_t cost = observe_cost().used_bytes;
    for (int round = 0; round < 100; ++round) {
        run_workers(2, [&](std::size_t) {
            ASSERT_EQ(test::charge(tag, 1'000), Status::ok);
            ASSERT_EQ(test::charge(tag, 10), Status::ok);
            test::refund(tag, 1'000);
        });
    }
    EXPECT_EQ(use_of(tag).live_bytes, 2'000U);
    EXPECT_EQ(use_of(tag).live_blocks, 200U);
    // Their places are taken over.
    EXPECT_LE(observe_cost().used_bytes, cost + 4 * sizeof(detail::LedgerShard));
    for (int i = 0; i < 200; ++i)
        test::refund(tag, 10);
    EXPECT_EQ(check_ledger(), Status::ok);
}

}  // namespace
}  // namespace ouro
