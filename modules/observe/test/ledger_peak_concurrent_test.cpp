// A tag's peak while several threads use it at once.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kSeed = 20'26'18;
constexpr int kSteps = 20'000;

// A count, and the most that it was.
class Level {
public:
    void add(std::size_t bytes) {
        const std::size_t now = count_.fetch_add(bytes) + bytes;
        for (std::size_t seen = most_.load(); now > seen && !most_.compare_exchange_weak(seen, now);) {
        }
    }
    void remove(std::size_t bytes) { count_.fetch_sub(bytes); }
    void begin_anew() { most_.store(count_.load()); }
    [[nodiscard]] std::size_t most() const { return most_.load(); }
    [[nodiscard]] std::size_t now() const { return count_.load(); }

private:
    std::atomic<std::size_t> count_ = 0;
    std::atomic<std::size_t> most_ = 0;
};

// Goes up and down many times, from nothing to as much as the largest charge allows: calls charge(bytes),
// which may refuse, and refund(bytes).
template <class Charge, class Refund>
void swing(std::uint64_t stream, std::size_t largest, const Charge& charge, const Refund& refund) {
    Random random(kSeed, stream);
    std::vector<std::size_t> charges;
    const auto refund_last = [&] {
        refund(charges.back());
        charges.pop_back();
    };
    bool is_rising = true;
    for (int step = 0; step < kSteps; ++step) {
        if (charges.empty() || random.below(200) == 0) is_rising = charges.empty() || !is_rising;
        if (!is_rising) {
            refund_last();
            continue;
        }
        const std::size_t bytes = 1 + random.below(static_cast<std::uint32_t>(largest));
        if (charge(bytes)) charges.push_back(bytes);
    }
    while (!charges.empty())
        refund_last();
}

// Small ones stay within the credit of a thread, so that nothing but the peaks makes it slow.
class LedgerPeakConcurrent : public testing::TestWithParam<std::size_t> {};

// What is surely live is counted after the charge and no more before the refund, what may be live the other
// way round: the peak lies between the most of the two.
TEST_P(LedgerPeakConcurrent, LiesBetweenWhatWasSurelyAndWhatMayHaveBeenLive) {
    for (std::uint64_t round = 0; round < 10; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
        const Tag tag = fresh_tag();
        Level sure;
        Level possible;
        run_workers(kThreads, [&](std::size_t number) {
            swing(
                round * kThreads + number, GetParam(),
                [&](std::size_t bytes) {
                    possible.add(bytes);
                    EXPECT_EQ(test::charge(tag, bytes), Status::ok);
                    sure.add(bytes);
                    return true;
                },
                [&](std::size_t bytes) {
                    sure.remove(bytes);
                    test::refund(tag, bytes);
                    possible.remove(bytes);
                });
        });
        const TagUse use = use_of(tag);
        EXPECT_EQ(use.live_bytes, 0U);
        EXPECT_GE(use.peak_bytes, sure.most());
        if (use.is_peak_exact) {
            EXPECT_LE(use.peak_bytes, possible.most());
        }
        EXPECT_EQ(check_ledger(), Status::ok);
        if (testing::Test::HasFailure()) break;
    }
}

// A tree of tags with a model of it, under one lock: so each peak is known to the byte. Sometimes the peaks
// begin anew, and budgets come and go.
class ModelOfPeaks {
public:
    explicit ModelOfPeaks(std::size_t largest) : largest_(largest) {
        for (std::size_t child = 1; child < tags_.size(); ++child)
            tags_[child] = fresh_tag(tags_[0]);
    }

    void run(std::uint64_t stream, std::size_t worker) {
        Random random(kSeed, 1'000 + stream);
        Tag tag = tags_[worker % tags_.size()];
        swing(
            stream, largest_, [&](std::size_t bytes) { return charge(tag, bytes, random.below(400)); },
            [&](std::size_t bytes) { refund(tag, bytes); });
    }

    // How many of the peaks were exact; each of them must be the model's.
    [[nodiscard]] std::size_t compare() const {
        std::size_t exact = 0;
        for (std::size_t at = 0; at < tags_.size(); ++at) {
            const TagUse use = use_of(tags_[at]);
            EXPECT_GE(use.peak_bytes, levels_[at].most()) << at;
            if (!use.is_peak_exact) continue;
            EXPECT_EQ(use.peak_bytes, levels_[at].most()) << at;
            ++exact;
        }
        return exact;
    }

    // Of all the times that they were compared.
    [[nodiscard]] std::size_t exact_peaks() const { return exact_ + compare(); }

private:
    // Calls visit(level) for the tag's and the one above it.
    template <class Visit>
    void visit_levels(Tag tag, const Visit& visit) {
        if (tag != tags_[0]) visit(levels_[tag == tags_[1] ? 1 : 2]);
        visit(levels_[0]);
    }

    bool charge(Tag tag, std::size_t bytes, std::uint32_t chance) {
        const std::lock_guard lock(mutex_);
        if (chance == 0) begin_anew();
        if (chance == 1) {
            EXPECT_TRUE(set_budget(tag, {.hard_bytes = levels_[0].now() + 10 * bytes}));
        }
        if (chance > 390) {
            EXPECT_TRUE(set_budget(tag, {}));
        }
        const Status status = test::charge(tag, bytes);
        if (status != Status::ok) return false;
        visit_levels(tag, [&](Level& level) { level.add(bytes); });
        return true;
    }
    void refund(Tag tag, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        test::refund(tag, bytes);
        visit_levels(tag, [&](Level& level) { level.remove(bytes); });
    }
    void begin_anew() {
        exact_ += compare();
        reset_peaks();
        for (Level& level : levels_)
            level.begin_anew();
    }

    std::size_t largest_;
    std::size_t exact_ = 0;
    std::array<Tag, 3> tags_ = {fresh_tag(), {}, {}};
    std::array<Level, 3> levels_;
    std::mutex mutex_;
};

TEST_P(LedgerPeakConcurrent, IsThatOfAModelToTheByte) {
    for (std::uint64_t round = 0; round < 5; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
        ModelOfPeaks model(GetParam());
        run_workers(kThreads, [&](std::size_t number) { model.run(round * kThreads + number, number); });
        EXPECT_GT(model.exact_peaks(), 0U);
        EXPECT_EQ(check_ledger(), Status::ok);
        if (testing::Test::HasFailure()) break;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LedgerPeakConcurrent, testing::Values(40, 4'000, 400'000));

// Within their credit, where neither does any slow work.
TEST(LedgerPeak, OfTwoThreadsThatComeOneAfterTheOtherIsThatOfOne) {
    const Tag tag = fresh_tag();
    const auto swing_a_little = [&] {
        for (int times = 0; times < 200; ++times) {
            EXPECT_EQ(test::charge(tag, 10'000), Status::ok);
            test::refund(tag, 10'000);
        }
    };
    run_workers(1, [&](std::size_t) { swing_a_little(); });
    swing_a_little();
    run_workers(1, [&](std::size_t) { swing_a_little(); });
    EXPECT_EQ(use_of(tag).peak_bytes, 10'000U);
}

}  // namespace
}  // namespace ouro
