#include "jobs_support.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <deque>

namespace ouro {
namespace {

using jobs_test::make_pool;
using jobs_test::Plug;

struct CountedJob final : Job {
    explicit CountedJob(std::atomic<unsigned>& total) noexcept : Job(&run), counter(total) {}
    static void run(Job& job) noexcept { ++static_cast<CountedJob&>(job).counter; }
    std::atomic<unsigned>& counter;
};

TEST(Job, IsPostedRunAndPostedAgain) {
    for (const unsigned workers : {0U, 1U, 3U}) {
        JobPool pool = make_pool(workers);
        unsigned runs = 0;
        JobWith job([&] { ++runs; });
        EXPECT_FALSE(job.is_done());
        EXPECT_FALSE(job.is_pending());
        // Nothing to wait for.
        wait(job);
        for (unsigned round = 1; round <= 100; ++round) {
            ASSERT_TRUE(post(pool, job));
            wait(job);
            EXPECT_TRUE(job.is_done());
            EXPECT_FALSE(job.is_pending());
            ASSERT_EQ(runs, round);
        }
        EXPECT_EQ(pool.stats().posted_jobs, 100U);
        EXPECT_EQ(pool.stats().finished_jobs, 100U);
        EXPECT_EQ(pool.check(), Status::ok);
    }
}

TEST(Job, HasRunWhenItWasPostedToNobody) {
    JobPool pool = make_pool(0);
    bool has_run = false;
    JobWith job([&] { has_run = true; });
    ASSERT_TRUE(post(pool, job));
    EXPECT_TRUE(has_run);
    EXPECT_TRUE(job.is_done());
}

TEST(Job, RunsWithoutBeingWaitedFor) {
    JobPool pool = make_pool(1);
    for (int round = 0; round < 20; ++round) {
        jobs_test::await_all_asleep(pool);
        JobWith job([] {});
        ASSERT_TRUE(post(pool, job));
        while (!job.is_done())
            os::yield_thread();
    }
    // It may notice the job by itself while it lies down.
    EXPECT_LE(pool.stats().wakes, 20U);
}

TEST(Job, CannotBePostedTwiceAtOnce) {
    JobPool pool = make_pool(1);
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    EXPECT_EQ(post(pool, stuck).status(), Status::busy);
    EXPECT_TRUE(stuck.is_pending());
    std::atomic<unsigned> runs{0};
    CountedJob queued(runs);
    ASSERT_TRUE(post(pool, queued));
    EXPECT_EQ(post(pool, queued).status(), Status::busy);
    plug.may_end.reach(1);
    wait(stuck);
    wait(queued);
    EXPECT_EQ(runs.load(), 1U);
}

// A wait is not held up by whoever came before.
TEST(Job, IsRunByWhoeverWaitsForItWhenNobodyHasBegun) {
    JobPool pool = make_pool(1);
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    std::atomic<unsigned> runs{0};
    CountedJob first(runs);
    CountedJob second(runs);
    ASSERT_TRUE(post(pool, first));
    ASSERT_TRUE(post(pool, second));
    wait(second);
    EXPECT_EQ(runs.load(), 1U);
    EXPECT_TRUE(second.is_done());
    EXPECT_TRUE(first.is_pending());
    plug.may_end.reach(1);
    wait(stuck);
    wait(first);
    EXPECT_EQ(runs.load(), 2U);
    EXPECT_EQ(pool.stats().finished_jobs, 3U);
}

TEST(Job, IsRefusedWhenTooManyWait) {
    JobPool pool = make_pool(1, {.max_posted_jobs = 3});
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    std::atomic<unsigned> runs{0};
    std::deque<CountedJob> jobs;
    // Three become four places.
    for (int i = 0; i < 5; ++i)
        jobs.emplace_back(runs);
    for (std::size_t i = 0; i < 4; ++i)
        ASSERT_TRUE(post(pool, jobs[i]));
    EXPECT_EQ(post(pool, jobs[4]).status(), Status::capacity_exhausted);
    EXPECT_FALSE(jobs[4].is_pending());
    EXPECT_FALSE(jobs[4].is_done());
    wait(jobs[4]);
    // Whoever waits makes room.
    wait(jobs[0]);
    EXPECT_TRUE(post(pool, jobs[4]));
    EXPECT_EQ(post(pool, jobs[0]).status(), Status::capacity_exhausted);
    EXPECT_TRUE(jobs[0].is_done());
    plug.may_end.reach(1);
    for (CountedJob& job : jobs)
        wait(job);
    wait(stuck);
    EXPECT_EQ(runs.load(), 5U);
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

// Far more than there are places, with a worker that never sees them.
TEST(Job, PlacesOfJobsThatWereWaitedForAreUsedAgain) {
    JobPool pool = make_pool(1, {.max_posted_jobs = 2});
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    std::atomic<unsigned> runs{0};
    for (unsigned round = 1; round <= 100; ++round) {
        CountedJob job(runs);
        ASSERT_TRUE(post(pool, job));
        wait(job);
        ASSERT_EQ(runs.load(), round);
    }
    plug.may_end.reach(1);
    wait(stuck);
}

TEST(Job, EverythingPostedIsRunBeforeThePoolGoes) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<unsigned> runs{0};
        std::deque<CountedJob> jobs;
        for (int i = 0; i < 50; ++i)
            jobs.emplace_back(runs);
        {
            JobPool pool = make_pool(2);
            for (CountedJob& job : jobs)
                ASSERT_TRUE(post(pool, job));
        }
        ASSERT_EQ(runs.load(), 50U);
        for (const CountedJob& job : jobs)
            EXPECT_TRUE(job.is_done());
    }
}

TEST(Job, MayPostWaitAndShareOut) {
    for (const unsigned workers : {0U, 1U, 4U}) {
        JobPool pool = make_pool(workers);
        std::atomic<unsigned> runs{0};
        JobWith outer([&] {
            CountedJob inner(runs);
            EXPECT_TRUE(post(pool, inner));
            parallel_for(pool, 100, 1, [&](std::size_t begin, std::size_t end) {
                runs += static_cast<unsigned>(end - begin);
            });
            wait(inner);
        });
        ASSERT_TRUE(post(pool, outer));
        wait(outer);
        EXPECT_EQ(runs.load(), 101U);
    }
}

// One worker is kept by a job; loops go on with the others.
TEST(Job, DoesNotHoldUpLoops) {
    JobPool pool = make_pool(2);
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    for (const Split split : {Split::dynamic, Split::even}) {
        for (int round = 0; round < 50; ++round) {
            jobs_test::Visits visits(300);
            parallel_for(
                pool, 300, 1, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); }, split);
            EXPECT_EQ(visits.wrong(), 0U);
        }
    }
    plug.may_end.reach(1);
    wait(stuck);
}

}  // namespace
}  // namespace ouro
