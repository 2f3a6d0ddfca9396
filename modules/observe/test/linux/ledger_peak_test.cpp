// Peaks where there are very many cells. In processes of their own, for it takes most of the tags there can
// be.
#include "charges.hpp"
#include "child_process.hpp"
#include "fresh_tags.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using os::testing_support::run_in_child;
using test::fresh_tag;

// A thread that stands still from its first charge on, so that another may act in its place.
class StandingThread {
public:
    explicit StandingThread(Tag tag)
        : thread_([this, tag] {
              if (test::charge(tag, 1) == Status::ok) test::refund(tag, 1);
              shard_.store(detail::t_ledger.shard);
              shard_.notify_all();
              is_over_.wait(false);
          }) {
        shard_.wait(nullptr);
    }
    ~StandingThread() {
        is_over_.store(true);
        is_over_.notify_all();
        thread_.join();
    }
    StandingThread(const StandingThread&) = delete;
    StandingThread& operator=(const StandingThread&) = delete;

    [[nodiscard]] detail::LedgerShard* shard() const { return shard_.load(); }

private:
    std::atomic<detail::LedgerShard*> shard_{nullptr};
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

struct Peaks {
    std::size_t real = 0;
    std::size_t told = 0;
};

// Two threads in turn, so that what was in use is known after every step.
Peaks swing(Tag tag, std::uint64_t seed, const std::array<detail::LedgerShard*, 2>& shards) {
    Random random(seed);
    std::array<std::vector<std::size_t>, 2> charges;
    std::size_t live = use_of(tag).live_bytes;
    Peaks peaks{.real = live};
    reset_peaks();
    for (unsigned step = 0; step < 40'000; ++step) {
        const std::size_t who = random.below(2);
        detail::t_ledger.shard = shards[who];
        auto& own = charges[who];
        const bool is_rising = step / 200 % 2 == 0;
        if (own.empty() || random.below(8) < (is_rising ? 5U : 3U)) {
            const std::size_t bytes = 1'000 + random.below(30'000);
            if (test::charge(tag, bytes) != Status::ok) continue;
            own.push_back(bytes);
            live += bytes;
            peaks.real = std::max(peaks.real, live);
        } else {
            std::swap(own[random.below(static_cast<std::uint32_t>(own.size()))], own.back());
            test::refund(tag, own.back());
            live -= own.back();
            own.pop_back();
        }
    }
    peaks.told = use_of(tag).peak_bytes;
    for (std::size_t who = 0; who < shards.size(); ++who) {
        detail::t_ledger.shard = shards[who];
        for (const std::size_t bytes : charges[who])
            test::refund(tag, bytes);
    }
    detail::t_ledger.shard = shards[0];
    return peaks;
}

TEST(LedgerPeak, IsExactAmongManyCells) {
    const Tag tag = fresh_tag();
    const int result = run_in_child([&] {
        for (int i = 0; i < 900; ++i) {
            char name[32];
            std::snprintf(name, sizeof name, "peak-%d", i);
            if (!register_tag(name)) break;
        }
        if (test::charge(tag, std::size_t{64} << 20) != Status::ok) return 1;
        const StandingThread other(tag);
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Peaks peaks = swing(tag, seed, {detail::t_ledger.shard, other.shard()});
            if (peaks.told == peaks.real) continue;
            std::fprintf(stderr, "seed %u: %zu in use, %zu told\n", static_cast<unsigned>(seed), peaks.real,
                         peaks.told);
            return 2;
        }
        return check_ledger() == Status::ok ? 0 : 3;
    });
    EXPECT_EQ(result, 0);
}

// A thread that stands where others wait for it costs them a tenth of a second once, not with every climb.
TEST(LedgerPeak, AThreadStoppedInTheMiddleOfACallIsWaitedForOnce) {
    const Tag tag = fresh_tag(fresh_tag());
    const StandingThread thread(tag);
    detail::LedgerShard& shard = *thread.shard();
    auto& allocated = shard.cells[tag.id()].allocated;
    test::rest_below_a_peak(tag, 5'000);
    // It has taken more than there is, and not looked yet.
    allocated.fetch_add(100);
    ASSERT_EQ(test::charge(tag, 10'000), Status::ok);
    EXPECT_FALSE(use_of(tag).is_peak_exact);
    const std::uint32_t place = shard.stuck_place.load();
    EXPECT_EQ(place, shard.credit_moves.load() + 1);
    allocated.fetch_sub(100);
    test::refund(tag, 10'000);
    // When it has gone on, nothing is in the way.
    reset_peaks();
    ASSERT_EQ(test::charge(tag, 20'000), Status::ok);
    EXPECT_TRUE(use_of(tag).is_peak_exact);
    EXPECT_EQ(use_of(tag).peak_bytes, 20'000U);
    test::refund(tag, 20'000);
}

}  // namespace
}  // namespace ouro
