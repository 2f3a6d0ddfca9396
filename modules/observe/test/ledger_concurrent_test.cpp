#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>
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
    std::uint64_t charged_bytes = 0;
    std::uint64_t refused = 0;

    void add(const Outcome& other) {
        charged += other.charged;
        charged_bytes += other.charged_bytes;
        refused += other.refused;
    }
};

// Random charges and refunds; `charges` is what is live before and after. Calls on_charge(tag, bytes) after
// each charge, and with less than nothing before each refund.
template <class OnCharge>
Outcome churn(std::uint64_t seed, unsigned operations, const std::vector<Tag>& tags, Charges& charges,
              OnCharge&& on_charge) {
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
            outcome.charged_bytes += wanted.bytes;
            charges.push_back(wanted);
            on_charge(wanted.tag, static_cast<std::int64_t>(wanted.bytes));
        } else {
            const std::size_t at = random.below(static_cast<std::uint32_t>(charges.size()));
            on_charge(charges[at].tag, -static_cast<std::int64_t>(charges[at].bytes));
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

struct Amount {
    std::size_t bytes = 0;
    std::size_t blocks = 0;
};

Amount sum_within(const std::array<Charges, kThreads>& all, Tag tag) {
    Amount sum;
    for (const Charges& charges : all) {
        for (const Charge& charge : charges) {
            if (!is_tag_within(charge.tag, tag)) continue;
            sum.bytes += charge.bytes;
            ++sum.blocks;
        }
    }
    return sum;
}

void expect_live(const std::array<Charges, kThreads>& all, const std::vector<Tag>& tags) {
    for (const Tag tag : tags) {
        const Amount live = sum_within(all, tag);
        EXPECT_EQ(use_of(tag).live_bytes, live.bytes);
        EXPECT_EQ(use_of(tag).live_blocks, live.blocks);
        EXPECT_GE(use_of(tag).peak_bytes, live.bytes);
    }
}

// What is surely live under each tag of a family, and the most that was.
class Watch {
public:
    explicit Watch(const std::vector<Tag>& tags) : tags_(tags), sums_(tags.size()) {}

    void add(Tag tag, std::int64_t bytes) {
        for (std::size_t at = 0; at < tags_.size(); ++at) {
            if (!is_tag_within(tag, tags_[at])) continue;
            const std::int64_t now = sums_[at].live.fetch_add(bytes) + bytes;
            auto& most = sums_[at].most;
            for (std::int64_t seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
            }
        }
    }
    void begin_anew() {
        for (Sum& sum : sums_)
            sum.most.store(sum.live.load());
    }
    [[nodiscard]] std::int64_t live(std::size_t at) const { return sums_[at].live.load(); }
    [[nodiscard]] std::int64_t most(std::size_t at) const { return sums_[at].most.load(); }

private:
    struct Sum {
        std::atomic<std::int64_t> live{0};
        std::atomic<std::int64_t> most{0};
    };
    const std::vector<Tag>& tags_;
    std::vector<Sum> sums_;
};

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
    Outcome all;
    for (std::uint64_t phase = 0; phase < 8; ++phase) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " phase " << phase);
        std::array<Outcome, kThreads> outcomes;
        run_workers(kThreads, [&](std::size_t number) {
            outcomes[number] = churn(phase * kThreads + number, 20'000, tags,
                                     charges[(number + phase) % kThreads], [](Tag, std::int64_t) {});
        });
        for (const Outcome& outcome : outcomes)
            all.add(outcome);
        expect_live(charges, tags);
        const TagUse use = use_of(tags[0]);
        const Amount live = sum_within(charges, tags[0]);
        EXPECT_EQ(use.allocations, all.charged);
        EXPECT_EQ(use.frees, all.charged - live.blocks);
        EXPECT_EQ(use.allocated_bytes, all.charged_bytes);
        EXPECT_EQ(use.freed_bytes, all.charged_bytes - live.bytes);
        EXPECT_EQ(check_ledger(), Status::ok);
    }
    refund_all(charges);
    expect_live(charges, tags);
    EXPECT_EQ(check_ledger(), Status::ok);
}

class BudgetRounds {
public:
    static constexpr std::uint32_t kLargest = 400'000;

    // All at work under the budgets of the round; in every other one they change all the while.
    Outcome run(std::uint64_t round) {
        std::array<Outcome, kThreads> outcomes;
        std::atomic<std::size_t> working{kThreads};
        watch_.begin_anew();
        run_workers(kThreads + 1, [&](std::size_t number) {
            if (number == kThreads) {
                while (round % 2 != 0 && working.load() != 0) {
                    set_one(1 + random_.below(6));
                    os::yield_thread();
                }
                return;
            }
            outcomes[number] = churn(round * kThreads + number, 20'000, tags_, charges_[number],
                                     [&](Tag tag, std::int64_t bytes) { watch_.add(tag, bytes); });
            working.fetch_sub(1);
        });
        Outcome all;
        for (const Outcome& outcome : outcomes)
            all.add(outcome);
        return all;
    }

    void set_all() {
        for (std::size_t at = 0; at < tags_.size(); ++at)
            set_one(at);
    }
    // What was live when a budget became smaller may stay; nothing may come above it.
    void expect_kept(std::size_t first, std::size_t end, const std::vector<std::int64_t>& before) const {
        for (std::size_t at = first; at < end; ++at)
            EXPECT_LE(watch_.most(at), std::max(before[at], budgets_[at])) << "tag " << at;
    }
    [[nodiscard]] std::vector<std::int64_t> live() const {
        std::vector<std::int64_t> live;
        for (std::size_t at = 0; at < tags_.size(); ++at)
            live.push_back(watch_.live(at));
        return live;
    }
    void expect_counts() const {
        expect_live(charges_, tags_);
        EXPECT_EQ(check_ledger(), Status::ok);
    }
    void refund() { refund_all(charges_); }
    [[nodiscard]] Tag top() const { return tags_[0]; }

private:
    void set_one(std::size_t at) {
        budgets_[at] = 1 + random_.below(kLargest);
        EXPECT_TRUE(set_budget(tags_[at], {.hard_bytes = static_cast<std::size_t>(budgets_[at])}));
    }

    std::vector<Tag> tags_ = family(6);
    std::array<std::int64_t, 7> budgets_{};
    std::array<Charges, kThreads> charges_;
    Watch watch_{tags_};
    Random random_{kSeed, 99};
};

// A million charges from several threads under random budgets of a whole family.
TEST(LedgerConcurrent, AHardBudgetIsNeverExceeded) {
    BudgetRounds rounds;
    Outcome all;
    for (std::uint64_t round = 0; all.charged + all.refused < 1'000'000; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
        rounds.set_all();
        const std::vector<std::int64_t> before = rounds.live();
        all.add(rounds.run(round));
        // The first one's stays as it is throughout the round.
        rounds.expect_kept(0, round % 2 != 0 ? 1 : before.size(), before);
        rounds.expect_counts();
        if (testing::Test::HasFailure()) break;
    }
    EXPECT_GT(all.refused, 1'000U);
    EXPECT_GT(all.charged, 100'000U);
    EXPECT_EQ(use_of(rounds.top()).failures, all.refused);
    rounds.refund();
    EXPECT_EQ(use_of(rounds.top()).live_bytes, 0U);
}

// Somebody who looks all the time must not take a peak away.
TEST(LedgerConcurrent, ReadersLoseNoPeak) {
    constexpr std::size_t kRounds = 5'000;
    const Tag tag = fresh_tag();
    std::atomic<bool> is_over{false};
    run_workers(2, [&](std::size_t number) {
        if (number == 0) {
            while (!is_over.load()) {
                (void)use_of(tag);
                os::yield_thread();
            }
            return;
        }
        for (std::size_t round = 1; round <= kRounds; ++round) {
            const std::size_t bytes = round * 16;
            EXPECT_EQ(test::charge(tag, bytes), Status::ok);
            test::refund(tag, bytes);
            // Where both look at the same time one may have to look again; what is lost never comes back.
            int looks = 0;
            while (use_of(tag).peak_bytes < bytes && ++looks < 1'000)
                os::yield_thread();
            EXPECT_GE(use_of(tag).peak_bytes, bytes) << "round " << round;
            if (testing::Test::HasFailure()) break;
        }
        is_over.store(true);
    });
    EXPECT_EQ(use_of(tag).peak_bytes, kRounds * 16);
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

// One uses credit without end; the other needs all of it, again and again: what the one has just taken is
// never given to the other.
TEST(LedgerConcurrent, CreditIsNotTakenTwice) {
    constexpr std::int64_t kBudget = 65'536;
    constexpr std::array<std::int64_t, 2> kBytes{16, kBudget - 8};
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = kBudget}));
    std::atomic<bool> is_over{false};
    std::atomic<std::int64_t> live{0};
    std::atomic<std::int64_t> too_much{0};
    // Where the machine is busy, one may have done all its rounds before the other begins.
    constexpr std::size_t kLeastCharges = 100;
    std::array<std::atomic<std::size_t>, 2> charged{};
    const auto is_enough = [&](int rounds) {
        return rounds >= 30'000 && charged[0].load() > kLeastCharges && charged[1].load() > kLeastCharges;
    };
    run_workers(2, [&](std::size_t number) {
        const std::int64_t bytes = kBytes[number];
        for (int i = 0; number == 0 ? !is_over.load() : !is_enough(i); ++i) {
            if (test::charge(tag, static_cast<std::size_t>(bytes)) != Status::ok) continue;
            charged[number].fetch_add(1);
            const std::int64_t now = live.fetch_add(bytes) + bytes;
            if (now > kBudget) too_much.store(now);
            live.fetch_sub(bytes);
            test::refund(tag, static_cast<std::size_t>(bytes));
        }
        is_over.store(true);
    });
    EXPECT_EQ(too_much.load(), 0);
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
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
