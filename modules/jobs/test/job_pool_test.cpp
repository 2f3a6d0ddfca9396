#include "jobs_support.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <limits>

namespace ouro {
namespace {

using jobs_test::make_pool;

TEST(JobPool, HasAsManyWorkersAsAskedFor) {
    for (const unsigned workers : {0U, 1U, 2U, 7U}) {
        const JobPool pool = make_pool(workers);
        EXPECT_EQ(pool.worker_count(), workers);
        EXPECT_EQ(pool.participant_count(), workers + 1);
        EXPECT_EQ(pool.current_participant(), 0U);
        EXPECT_EQ(pool.check(), Status::ok);
    }
}

TEST(JobPool, LeavesACoreToTheCallerByDefault) {
    const auto pool = JobPool::create();
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->worker_count(), std::min(os::core_count() - 1, kMaxWorkers));
}

TEST(JobPool, RefusesWhatItCannotBe) {
    EXPECT_EQ(JobPool::create({.workers = kMaxWorkers + 1}).status(), Status::bad_argument);
    EXPECT_EQ(JobPool::create({.workers = 1, .name = nullptr}).status(), Status::bad_argument);
    EXPECT_EQ(JobPool::create({.workers = 1, .max_posted_jobs = 0}).status(), Status::bad_argument);
    constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(JobPool::create({.workers = 1, .max_posted_jobs = kTooMany}).status(), Status::bad_argument);
    EXPECT_EQ(JobPool::create({.workers = 1, .stack_bytes = kTooMany}).status(), Status::bad_argument);
}

TEST(JobPool, TakesANameOfAnyLength) {
    for (const char* name : {"", "w", "a-name-much-longer-than-systems-show"}) {
        JobPool pool = make_pool(2, {.name = name});
        jobs_test::Visits visits(100);
        parallel_for(pool, 100, 1, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); });
        EXPECT_EQ(visits.wrong(), 0U);
    }
}

TEST(JobPool, StaysAtWorkWhenItsHandleMoves) {
    JobPool first = make_pool(2);
    JobPool second(std::move(first));
    EXPECT_EQ(second.worker_count(), 2U);
    first = make_pool(1);
    first = std::move(second);
    EXPECT_EQ(first.worker_count(), 2U);
    jobs_test::Visits visits(1000);
    parallel_for(first, 1000, 1, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); });
    EXPECT_EQ(visits.wrong(), 0U);
    EXPECT_EQ(first.stats().shared_loops, 1U);
}

// What moved-from pools do is a part of the contract.
TEST(JobPool, RunsLoopsOnTheCallerAfterItWasMovedFrom) {
    JobPool first = make_pool(2);
    const JobPool second(std::move(first));
    unsigned calls = 0;
    parallel_for(first, 1000, 1, [&](std::size_t begin, std::size_t end) {
        EXPECT_EQ(begin, 0U);
        EXPECT_EQ(end, 1000U);
        ++calls;
    });
    EXPECT_EQ(calls, 1U);
    EXPECT_EQ(first.current_participant(), 0U);
    EXPECT_EQ(first.check(), Status::ok);
    EXPECT_EQ(first.stats().shared_loops, 0U);
}

TEST(JobPool, TwoPoolsKnowTheirOwnWorkersOnly) {
    JobPool outer = make_pool(3);
    JobPool inner = make_pool(2);
    std::atomic<unsigned> wrong{0};
    parallel_for(outer, 64, 1, [&](std::size_t, std::size_t, unsigned participant) {
        if (outer.current_participant() != participant) ++wrong;
        // A worker of the one is a caller to the other.
        if (inner.current_participant() != 0) ++wrong;
        parallel_for(inner, 8, 1, [&](std::size_t, std::size_t, unsigned inside) {
            if (inner.current_participant() != inside) ++wrong;
            if (inside != 0 && outer.current_participant() != 0) ++wrong;
        });
    });
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(outer.check(), Status::ok);
    EXPECT_EQ(inner.check(), Status::ok);
}

TEST(JobPool, CountsWhatItDid) {
    JobPool pool = make_pool(1);
    std::atomic<std::uint64_t> calls{0};
    constexpr unsigned kLoops = 20;
    for (unsigned i = 0; i < kLoops; ++i)
        parallel_for(pool, 100, 1, [&](std::size_t, std::size_t) { ++calls; });
    JobWith job([] {});
    ASSERT_TRUE(post(pool, job));
    wait(job);
    const JobPoolStats stats = pool.stats();
    EXPECT_EQ(stats.shared_loops, kLoops);
    EXPECT_EQ(stats.body_calls, calls.load());
    EXPECT_EQ(stats.crowded_out_loops, 0U);
    EXPECT_EQ(stats.posted_jobs, 1U);
    EXPECT_EQ(stats.finished_jobs, 1U);
    EXPECT_EQ(pool.check(), Status::ok);
}

TEST(JobPool, CanBeMadeAndEndedManyTimes) {
    for (int round = 0; round < 30; ++round) {
        JobPool pool = make_pool(3);
        if (round % 3 == 0) continue;
        std::atomic<std::size_t> sum{0};
        parallel_for(pool, 50, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
        EXPECT_EQ(sum.load(), 50U);
    }
}

}  // namespace
}  // namespace ouro
