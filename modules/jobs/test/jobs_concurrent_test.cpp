#include "jobs_storm.hpp"
#include "jobs_support.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/os/clock.hpp>

#include <array>
#include <deque>
#include <string>

namespace ouro {
namespace {

using jobs_test::make_pool;
using jobs_test::Visits;
using testing_support::run_workers;

// What a body writes is seen after the loop, and what the caller wrote is seen in the body, without atomics.
TEST(JobsConcurrent, ALoopPassesPlainMemoryOnBothWays) {
    JobPool pool = make_pool(3);
    std::vector<std::uint32_t> values(500);
    for (std::uint32_t round = 1; round <= 300; ++round) {
        const Split split = round % 2 == 0 ? Split::even : Split::dynamic;
        std::uint32_t factor = round;
        parallel_for(
            pool, values.size(), 3,
            [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    values[i] += factor;
            },
            split);
        factor = 0;
        for (const std::uint32_t value : values)
            ASSERT_EQ(value, round * (round + 1) / 2);
    }
}

// The same of jobs, whichever side takes them.
TEST(JobsConcurrent, AJobPassesPlainMemoryOnBothWays) {
    JobPool pool = make_pool(2);
    std::uint64_t value = 0;
    JobWith job([&] { value = value * 3 + 1; });
    std::uint64_t expected = 0;
    Random random(1);
    for (int round = 0; round < 2000; ++round) {
        value += 7;
        expected = (expected + 7) * 3 + 1;
        ASSERT_TRUE(post(pool, job));
        if (random.below(2) == 0) {
            while (!job.is_done())
                os::spin_pause();
        } else {
            wait(job);
        }
        ASSERT_EQ(value, expected);
    }
}

TEST(JobsConcurrent, SeveralThreadsShareOutAtOnce) {
    JobPool pool = make_pool(2);
    run_workers(4, [&](std::size_t number) {
        for (int round = 0; round < 100; ++round) {
            Visits visits(200 + number);
            std::atomic<unsigned> outsiders{0};
            parallel_for(pool, 200 + number, 4,
                         [&](std::size_t begin, std::size_t end, unsigned participant) {
                             visits.visit(begin, end);
                             if (participant == 0 && outsiders.fetch_add(1) != 0)
                                 ADD_FAILURE() << "two callers in one loop";
                             if (participant == 0) outsiders.fetch_sub(1);
                         });
            EXPECT_EQ(visits.wrong(), 0U);
        }
    });
    EXPECT_EQ(pool.stats().shared_loops, 400U);
    EXPECT_EQ(pool.check(), Status::ok);
}

TEST(JobsConcurrent, LoopsNestOnAllWorkersAtOnce) {
    JobPool pool = make_pool(3);
    for (int round = 0; round < 20; ++round) {
        Visits visits(16 * 50);
        parallel_for(pool, 16, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                parallel_for(pool, 50, 3, [&, i](std::size_t from, std::size_t to) {
                    visits.visit(i * 50 + from, i * 50 + to);
                });
            }
        });
        ASSERT_EQ(visits.wrong(), 0U);
    }
    EXPECT_EQ(pool.check(), Status::ok);
}

// Far more threads than cores: nobody waits for long for one that does not run.
TEST(JobsConcurrent, OversubscribedPoolsFinishToo) {
    const unsigned workers = os::core_count() * 4;
    JobPool pool = make_pool(std::min(workers, kMaxWorkers));
    run_workers(3, [&](std::size_t) {
        for (int round = 0; round < 50; ++round) {
            Visits visits(100);
            parallel_for(pool, 100, 1, [&](std::size_t begin, std::size_t end) {
                visits.visit(begin, end);
                if (begin % 10 == 0) os::yield_thread();
            });
            EXPECT_EQ(visits.wrong(), 0U);
        }
    });
    EXPECT_EQ(pool.check(), Status::ok);
}

// Without any spinning the one worker is about to sleep whenever the next job comes, a little sooner or
// later. Nobody else runs it: a lost wake stays here for ever.
TEST(JobsConcurrent, NoWakeIsLost) {
    constexpr std::uint64_t kSeed = 1;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random(kSeed);
    JobPool pool = make_pool(1, {.spin_pauses = 0});
    unsigned runs = 0;
    // Many where it goes fast; on a busy machine each takes a turn of the scheduler.
    constexpr unsigned kMostRounds = 40'000;
    constexpr std::uint64_t kEnoughNs = 2'000'000'000;
    const std::uint64_t begin_ns = os::monotonic_ns();
    unsigned round = 0;
    while (round < kMostRounds && os::monotonic_ns() - begin_ns < kEnoughNs) {
        ++round;
        JobWith job([&] { ++runs; });
        ASSERT_TRUE(post(pool, job));
        for (unsigned looks = 1; !job.is_done(); ++looks) {
            if (looks % 1024 == 0)
                os::yield_thread();
            else
                os::spin_pause();
        }
        ASSERT_EQ(runs, round);
        for (unsigned pauses = random.below(32); pauses != 0; --pauses)
            os::spin_pause();
    }
    EXPECT_EQ(pool.stats().finished_jobs, round);
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

// Jobs come while the one worker turns from the last one to sleep, without anything that it would be told.
TEST(JobsConcurrent, NoJobIsLostWhileAWorkerTurnsIdle) {
    constexpr std::uint64_t kSeed = 2;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random(kSeed);
    JobPool pool = make_pool(1, {.spin_pauses = 0});
    std::atomic<unsigned> begun{0};
    std::atomic<unsigned> steps{0};
    const auto begin = [&] {
        const unsigned last_steps = steps.load(std::memory_order_relaxed);
        begun.fetch_add(1, std::memory_order_release);
        // The next one comes now, or a little later than the end of this one.
        for (std::atomic<unsigned> step{0}; step.load(std::memory_order_relaxed) < last_steps;)
            step.store(step.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    };
    std::deque<JobWith<decltype(begin)>> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.emplace_back(begin);
    constexpr unsigned kMostRounds = 100'000;
    constexpr std::uint64_t kEnoughNs = 1'000'000'000;
    const std::uint64_t begin_ns = os::monotonic_ns();
    const auto spin_until = [](const auto& question) {
        for (unsigned looks = 1; !question(); ++looks) {
            if (looks % 4096 == 0) os::yield_thread();
        }
    };
    for (unsigned round = 0; round < kMostRounds; ++round) {
        if (round % 64 == 0 && os::monotonic_ns() - begin_ns > kEnoughNs) break;
        auto& job = jobs[round % jobs.size()];
        spin_until([&] { return !job.is_pending(); });
        steps.store(random.below(128), std::memory_order_relaxed);
        ASSERT_TRUE(post(pool, job));
        spin_until([&] { return begun.load(std::memory_order_acquire) == round + 1; });
    }
    for (auto& job : jobs)
        wait(job);
}

TEST(JobsConcurrent, SleepersDoNothingUntilTheyAreWoken) {
    JobPool pool = make_pool(4);
    parallel_for(pool, 100, 1, [](std::size_t, std::size_t) {});
    jobs_test::await_all_asleep(pool);
    const std::uint64_t searches = pool.stats().searches;
    jobs_test::rest();
    const JobPoolStats later = pool.stats();
    EXPECT_EQ(later.searches, searches);
    EXPECT_EQ(later.sleeping_workers, 4U);
    // They still come when there is something.
    jobs_test::Milestone begun;
    JobWith job([&] { begun.reach(1); });
    ASSERT_TRUE(post(pool, job));
    begun.wait_for(1);
    wait(job);
}

// Several wait for one job, which ends while they do.
TEST(JobsConcurrent, SeveralThreadsWaitForOneJob) {
    JobPool pool = make_pool(2);
    for (int round = 0; round < 100; ++round) {
        std::uint32_t value = 0;
        JobWith job([&] { value = 42; });
        ASSERT_TRUE(post(pool, job));
        run_workers(3, [&](std::size_t) {
            wait(job);
            EXPECT_TRUE(job.is_done());
            EXPECT_EQ(value, 42U);
        });
    }
}

// More posters than places: each job is run once or refused.
TEST(JobsConcurrent, ACrowdedQueueLosesNothing) {
    JobPool pool = make_pool(2, {.max_posted_jobs = 4});
    std::array<std::atomic<unsigned>, 4> runs{};
    std::atomic<unsigned> accepted{0};
    run_workers(runs.size(), [&](std::size_t number) {
        const auto count = [&runs, number] { ++runs[number]; };
        std::deque<JobWith<decltype(count)>> jobs;
        for (int i = 0; i < 6; ++i)
            jobs.emplace_back(count);
        unsigned own = 0;
        for (int round = 0; round < 300; ++round) {
            for (auto& job : jobs)
                own += post(pool, job) ? 1U : 0U;
            for (auto& job : jobs)
                wait(job);
        }
        EXPECT_EQ(runs[number].load(), own);
        accepted += own;
    });
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.stats().posted_jobs, accepted.load());
    EXPECT_EQ(pool.stats().finished_jobs, accepted.load());
    EXPECT_EQ(pool.check(), Status::ok);
}

// All shares of an even split wait for each other here, so that every worker has to come. A program may not
// do this: nothing promises that they do.
TEST(JobsConcurrent, AllWorkersComeWhenThereIsWorkForAll) {
    for (const unsigned spin : {0U, 2000U}) {
        JobPool pool = make_pool(5, {.spin_pauses = spin});
        for (int round = 0; round < 50; ++round) {
            if (round % 5 == 0) jobs_test::await_all_asleep(pool);
            std::atomic<std::uint32_t> missing{pool.participant_count()};
            const auto meet = [&](std::size_t, std::size_t) {
                if (missing.fetch_sub(1) == 1) os::wake_all(missing);
                for (std::uint32_t left = missing.load(); left != 0; left = missing.load())
                    os::wait_on(missing, left);
            };
            parallel_for(pool, pool.participant_count(), 1, meet, Split::even);
        }
        EXPECT_EQ(pool.stats().body_calls, 50U * pool.participant_count());
    }
}

TEST(JobsConcurrent, SurvivesEverythingAtOnce) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
        jobs_test::run_storm(seed);
}

}  // namespace
}  // namespace ouro
