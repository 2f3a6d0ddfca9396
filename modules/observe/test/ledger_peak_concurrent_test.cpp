// A tag's peak while several threads use it at once: never below what was surely live, and never above what
// the threads' own peaks come to, which they reach at different times.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kSeed = 20'26'18;
constexpr std::size_t kLargest = 4'000;

// A count, and the most that it was.
class Level {
public:
    void add(std::size_t bytes) {
        const std::size_t now = count_.fetch_add(bytes) + bytes;
        for (std::size_t seen = most_.load(); now > seen && !most_.compare_exchange_weak(seen, now);) {
        }
    }
    void remove(std::size_t bytes) { count_.fetch_sub(bytes); }
    std::size_t most() const { return most_.load(); }

private:
    std::atomic<std::size_t> count_ = 0;
    std::atomic<std::size_t> most_ = 0;
};

struct Levels {
    // Of all threads: counted after it was charged, and no more before it is refunded.
    Level live;
    std::array<Level, kThreads> of_thread;
};

// Goes up and down many times, between nothing and some megabytes.
void swing(Tag tag, std::uint64_t stream, Level& all, Level& own) {
    Random random(kSeed, stream);
    std::vector<std::size_t> charges;
    const auto refund_last = [&] {
        all.remove(charges.back());
        test::refund(tag, charges.back());
        own.remove(charges.back());
        charges.pop_back();
    };
    bool is_rising = true;
    for (int step = 0; step < 20'000; ++step) {
        if (charges.empty() || random.below(200) == 0) is_rising = charges.empty() || !is_rising;
        if (!is_rising) {
            refund_last();
            continue;
        }
        charges.push_back(1 + random.below(kLargest));
        own.add(charges.back());
        EXPECT_EQ(test::charge(tag, charges.back()), Status::ok);
        all.add(charges.back());
    }
    while (!charges.empty())
        refund_last();
}

TEST(LedgerPeakConcurrent, LiesBetweenTheTruthAndTheSumOfTheThreadsPeaks) {
    for (std::uint64_t round = 0; round < 10; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
        const Tag tag = fresh_tag();
        Levels levels;
        run_workers(kThreads, [&](std::size_t number) {
            swing(tag, round * kThreads + number, levels.live, levels.of_thread[number]);
        });
        std::size_t sum = 0;
        for (const Level& level : levels.of_thread)
            sum += level.most();
        const TagUse use = use_of(tag);
        EXPECT_EQ(use.live_bytes, 0U);
        EXPECT_GE(use.peak_bytes, levels.live.most());
        EXPECT_LE(use.peak_bytes, sum);
        if (testing::Test::HasFailure()) break;
    }
}

// What a thread knows of the past must not grow with all that it ever gives back, once looks were owed:
// readers in other processes would take it for a peak.
TEST(LedgerPeakConcurrent, AThreadForgetsWhatIsInThePeaks) {
    constexpr std::size_t kMuch = 1'000'000;
    const Tag tag = fresh_tag();
    ASSERT_EQ(test::charge(tag, kMuch), Status::ok);
    test::refund(tag, kMuch);
    // Its own, or the common one where threads have none.
    detail::LedgerShard& shard =
        detail::t_ledger.shard != nullptr ? *detail::t_ledger.shard : detail::known_image()->ledger.shards[0];
    auto& least = shard.cells[tag.id()].least;
    const std::int64_t nothing = shard.slow_cells[tag.id()].revoked.load();
    ASSERT_GE(least.load(), nothing);
    least.store(nothing - 50'000'000);
    // Below the peak, where nobody would look for its own sake.
    EXPECT_GE(use_of(tag).peak_bytes, kMuch);
    ASSERT_EQ(test::charge(tag, kMuch / 2), Status::ok);
    test::refund(tag, kMuch / 2);
    EXPECT_GE(least.load(), nothing);
    EXPECT_EQ(check_ledger(), Status::ok);
}

}  // namespace
}  // namespace ouro
