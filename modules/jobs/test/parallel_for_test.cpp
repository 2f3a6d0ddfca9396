#include "jobs_support.hpp"

#include <ouro/jobs/parallel_for.hpp>

#include <limits>

namespace ouro {
namespace {

using jobs_test::make_pool;
using jobs_test::Visits;

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

TEST(EvenRange, CoversEverythingInOrderAndEvenly) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 8U, 9U, 1000U}) {
        for (const std::size_t parts : {1U, 2U, 3U, 8U, 13U}) {
            std::size_t next = 0;
            for (std::size_t part = 0; part < parts; ++part) {
                const IndexRange range = even_range(count, parts, part);
                EXPECT_EQ(range.begin, next);
                EXPECT_GE(range.size(), count / parts);
                EXPECT_LE(range.size(), count / parts + 1);
                const IndexRange before = even_range(count, parts, part > 0 ? part - 1 : 0);
                EXPECT_LE(range.size(), before.size());
                next = range.end;
            }
            EXPECT_EQ(next, count);
        }
    }
    EXPECT_EQ(even_range(kMost, 3, 2).end, kMost);
}

TEST(ParallelFor, VisitsEachIndexOnce) {
    for (const unsigned workers : {0U, 1U, 2U, 5U}) {
        JobPool pool = make_pool(workers);
        for (const std::size_t count : {0U, 1U, 2U, 3U, 63U, 64U, 65U, 1000U}) {
            for (const std::size_t grain : {0U, 1U, 2U, 7U, 64U, 5000U}) {
                for (const Split split : {Split::dynamic, Split::even}) {
                    Visits visits(count);
                    parallel_for(
                        pool, count, grain,
                        [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); }, split);
                    EXPECT_EQ(visits.wrong(), 0U) << workers << " workers, " << count << " by " << grain;
                }
            }
        }
        EXPECT_EQ(pool.check(), Status::ok);
    }
}

TEST(ParallelFor, RangesBeginAtMultiplesOfTheGrain) {
    JobPool pool = make_pool(3);
    for (const Split split : {Split::dynamic, Split::even}) {
        std::atomic<unsigned> wrong{0};
        const auto look = [&](std::size_t begin, std::size_t end) {
            const bool ends_well = end == 1000 || end % 7 == 0;
            if (begin % 7 != 0 || begin >= end || !ends_well) ++wrong;
        };
        parallel_for(pool, 1000, 7, look, split);
        EXPECT_EQ(wrong.load(), 0U);
    }
}

TEST(ParallelFor, AnEvenSplitDependsOnTheNumbersAlone) {
    for (const unsigned workers : {1U, 3U, 6U}) {
        JobPool pool = make_pool(workers);
        const std::size_t parts = pool.participant_count();
        for (int round = 0; round < 20; ++round) {
            std::atomic<unsigned> calls{0};
            std::atomic<unsigned> wrong{0};
            const auto look = [&](std::size_t begin, std::size_t end) {
                ++calls;
                bool is_share = false;
                for (std::size_t i = 0; i < parts; ++i)
                    is_share = is_share || even_range(1003, parts, i) == IndexRange{begin, end};
                if (!is_share) ++wrong;
            };
            parallel_for(pool, 1003, 1, look, Split::even);
            EXPECT_EQ(calls.load(), parts);
            EXPECT_EQ(wrong.load(), 0U);
        }
    }
}

TEST(ParallelFor, RunsAsOneCallWhereNothingCanBeShared) {
    JobPool alone = make_pool(0);
    JobPool pool = make_pool(2);
    unsigned calls = 0;
    const auto count_whole = [&](std::size_t begin, std::size_t end, unsigned participant) {
        if (begin == 0 && end == 100 && participant == 0) ++calls;
    };
    parallel_for(alone, 100, 1, count_whole);
    EXPECT_EQ(calls, 1U);
    parallel_for(pool, 100, 100, count_whole);
    EXPECT_EQ(calls, 2U);
    parallel_for(pool, 100, kMost, count_whole);
    EXPECT_EQ(calls, 3U);
    parallel_for(pool, 0, 1, count_whole);
    EXPECT_EQ(calls, 3U);
}

std::atomic<std::size_t> g_sum{0};

void add_to_sum(std::size_t begin, std::size_t end) {
    g_sum += end - begin;
}

TEST(ParallelFor, TakesBodiesOfAllKindsByReference) {
    struct Body {
        Body() = default;
        Body(const Body&) = delete;
        Body& operator=(const Body&) = delete;
        void operator()(std::size_t begin, std::size_t end) const { sum += end - begin; }
        mutable std::atomic<std::size_t> sum{0};
    };
    JobPool pool = make_pool(2);
    const Body constant;
    parallel_for(pool, 1000, 1, constant);
    EXPECT_EQ(constant.sum.load(), 1000U);
    Body changing;
    parallel_for(pool, 1000, 1, changing);
    EXPECT_EQ(changing.sum.load(), 1000U);
    g_sum = 0;
    parallel_for(pool, 1000, 1, add_to_sum);
    parallel_for(pool, 1000, 1, &add_to_sum);
    EXPECT_EQ(g_sum.load(), 2000U);
}

// As many chunks as half a word can number, and sizes whose products would wrap around.
TEST(ParallelFor, TakesCountsOfAnySize) {
    JobPool pool = make_pool(2);
    for (const std::size_t grain : {kMost / 2, kMost / 5, kMost - 1}) {
        std::atomic<std::size_t> sum{0};
        std::atomic<unsigned> wrong{0};
        parallel_for(pool, kMost, grain, [&](std::size_t begin, std::size_t end) {
            sum += end - begin;
            if (begin >= end || begin % grain != 0) ++wrong;
        });
        EXPECT_EQ(sum.load(), kMost);
        EXPECT_EQ(wrong.load(), 0U);
    }
    for (const std::size_t grain : {std::size_t{1}, std::size_t{3}}) {
        std::atomic<std::size_t> sum{0};
        std::atomic<unsigned> wrong{0};
        parallel_for(pool, kMost, grain, [&](std::size_t begin, std::size_t end) {
            sum += end - begin;
            if (begin % grain != 0) ++wrong;
        });
        EXPECT_EQ(sum.load(), kMost);
        EXPECT_EQ(wrong.load(), 0U);
    }
}

TEST(ParallelFor, ParticipantsAreApartFromEachOther) {
    JobPool pool = make_pool(4);
    for (const Split split : {Split::dynamic, Split::even}) {
        std::vector<std::atomic<unsigned>> inside(pool.participant_count());
        std::atomic<unsigned> wrong{0};
        const auto look = [&](std::size_t, std::size_t, unsigned participant) {
            if (participant >= inside.size() || inside[participant].fetch_add(1) != 0) ++wrong;
            os::yield_thread();
            inside[participant].fetch_sub(1);
        };
        for (int round = 0; round < 50; ++round)
            parallel_for(pool, 40, 1, look, split);
        EXPECT_EQ(wrong.load(), 0U);
    }
}

// More loops inside each other than there are places for: the innermost run on their callers.
std::size_t nest(JobPool& pool, unsigned depth) {
    if (depth == 0) return 1;
    std::atomic<std::size_t> sum{0};
    parallel_for(pool, 2, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            sum += i == 0 ? nest(pool, depth - 1) : 1;
    });
    return sum.load();
}

TEST(ParallelFor, NestsDeeperThanThereArePlaces) {
    JobPool pool = make_pool(2);
    constexpr unsigned kDepth = kMaxLoops + 10;
    EXPECT_EQ(nest(pool, kDepth), kDepth + 1);
    EXPECT_GT(pool.stats().crowded_out_loops, 0U);
    EXPECT_EQ(pool.check(), Status::ok);
}

// The sum of each part is kept by part, and so is the same for any pool.
TEST(ParallelFor, PartsGiveTheSameSumOnAnyPool) {
    std::vector<float> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1.0F / static_cast<float>(i + 1);
    const auto sum_on = [&](unsigned workers, Split split) {
        constexpr std::size_t kParts = 37;
        JobPool pool = make_pool(workers);
        std::vector<float> sums(kParts);
        const auto add = [&](std::size_t begin, std::size_t end) {
            for (std::size_t part = begin; part < end; ++part) {
                const IndexRange range = even_range(values.size(), kParts, part);
                for (std::size_t i = range.begin; i < range.end; ++i)
                    sums[part] += values[i];
            }
        };
        parallel_for(pool, kParts, 1, add, split);
        float sum = 0;
        for (const float part : sums)
            sum += part;
        return sum;
    };
    const float expected = sum_on(0, Split::even);
    for (const unsigned workers : {1U, 2U, 7U}) {
        EXPECT_EQ(sum_on(workers, Split::dynamic), expected);
        EXPECT_EQ(sum_on(workers, Split::even), expected);
    }
}

}  // namespace
}  // namespace ouro
