// Pools and the process around them: forks, broken contracts, threads that cannot be had.
#include "child_process.hpp"
#include "jobs_support.hpp"
#include "mapping_table.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/job_arenas.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <optional>

#include <dirent.h>

namespace ouro {
namespace {

using jobs_test::make_pool;
using os::testing_support::run_in_child;

TEST(JobPoolFork, APoolOfTheParentCanBeDestroyedInTheChild) {
    std::optional<JobPool> pool(make_pool(2));
    const int result = run_in_child([&] {
        pool.reset();
        auto own = JobPool::create({.workers = 1});
        if (!own) return 1;
        std::atomic<std::size_t> sum{0};
        parallel_for(*own, 100, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
        return sum.load() == 100 ? 0 : 2;
    });
    EXPECT_EQ(result, 0);
}

TEST(JobDeathTest, BrokenContractsAreNamed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(Job(nullptr), "a job needs something to do");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(1);
            jobs_test::Milestone never;
            JobWith job([&] { never.wait_for(1); });
            (void)post(pool, job);
            job.~JobWith();
        },
        "wait for a job before it is destroyed");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(1);
            Job* self = nullptr;
            JobWith job([&] { wait(*self); });
            self = &job;
            (void)post(pool, job);
            wait(job);
        },
        "a job cannot wait for itself");
    EXPECT_DEATH(
        {
            std::optional<JobPool> pool(make_pool(1));
            JobWith job([&] { pool.reset(); });
            (void)post(*pool, job);
            while (!job.is_done())
                os::yield_thread();
        },
        "a worker cannot end its own pool");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(0);
            const JobPool taken(std::move(pool));
            JobWith job([] {});
            (void)post(pool, job);
        },
        "a pool that was moved from takes no jobs");
}

TEST(TaskGraphDeathTest, BrokenContractsAreNamed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SystemAllocator memory = *SystemAllocator::create({});
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(1);
            TaskGraph graph(memory);
            (void)graph.add([] {});
            graph.run(pool);
        },
        "a graph is prepared before it is run");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(1);
            TaskGraph graph(memory);
            (void)graph.add([&] { graph.run(pool); });
            (void)graph.prepare();
            graph.run(pool);
        },
        "a graph runs once at a time");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(1);
            TaskGraph graph(memory);
            (void)graph.add([&] { (void)graph.add([] {}); });
            (void)graph.prepare();
            graph.run(pool);
        },
        "a graph that is running stays as it is");
}

TEST(JobArenasDeathTest, BrokenContractsAreNamed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(0);
            auto arenas = std::make_optional(JobArenas::create(pool));
            const ScratchScope scratch(**arenas);
            arenas.reset();
        },
        "arenas go when nobody is in a scope on them");
    EXPECT_DEATH(
        {
            JobPool pool = make_pool(0);
            auto arenas = JobArenas::create(pool);
            std::optional<ScratchScope> outer;
            outer.emplace(*arenas);
            const ScratchScope inner(*arenas);
            outer.reset();
        },
        "scopes end in the opposite order");
}

TEST(JobPoolPinning, WorkersStayOnTheirCores) {
    JobPool pool = make_pool(3, {.pins_workers = true});
    std::atomic<unsigned> wrong{0};
    for (int round = 0; round < 50; ++round) {
        parallel_for(pool, 30, 1, [&](std::size_t, std::size_t, unsigned participant) {
            cpu_set_t cores;
            CPU_ZERO(&cores);
            if (::sched_getaffinity(0, sizeof(cores), &cores) != 0) ++wrong;
            if (participant != 0 && CPU_COUNT(&cores) != 1) ++wrong;
            os::yield_thread();
        });
    }
    EXPECT_EQ(wrong.load(), 0U);
}

#if defined(OURO_FAULT_INJECTION)

namespace inject = os::fault_injection;
using os::OsCall;

unsigned thread_count() {
    unsigned count = 0;
    DIR* folder = ::opendir("/proc/self/task");
    EXPECT_NE(folder, nullptr);
    while (folder != nullptr) {
        const dirent* entry = ::readdir(folder);
        if (entry == nullptr) break;
        count += entry->d_name[0] != '.' ? 1U : 0U;
    }
    if (folder != nullptr) ::closedir(folder);
    return count;
}

TEST(JobPoolFaults, NoThreadIsLeftWhenOneCannotBeStarted) {
    // The first use takes what the C library keeps for later.
    {
        const JobPool warm = make_pool(4);
    }
    const unsigned before = thread_count();
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
        inject::fail_nth(OsCall::start_thread, nth, EAGAIN);
        const auto pool = JobPool::create({.workers = 4});
        EXPECT_EQ(pool.status(), Status::too_many_threads);
        EXPECT_TRUE(inject::has_fired());
        // The system lists a thread a little longer than one waits for it.
        while (thread_count() != before)
            os::yield_thread();
    }
    inject::clear();
    EXPECT_TRUE(JobPool::create({.workers = 4}));
}

TEST(JobPoolFaults, NoMemoryIsLeftWhenThereIsNotEnough) {
    {
        const JobPool warm = make_pool(1);
    }
    const os::testing_support::NoMappingLeak no_leak;
    for (const OsCall call : {OsCall::map_memory, OsCall::protect_memory}) {
        inject::fail_nth(call, 1, ENOMEM);
        const auto pool = JobPool::create({.workers = 0});
        EXPECT_FALSE(pool) << inject::name_of(call);
        EXPECT_TRUE(inject::has_fired()) << inject::name_of(call);
    }
    inject::clear();
}

TEST(JobArenasFaults, NoMemoryIsLeftWhenThereIsNotEnough) {
    JobPool pool = make_pool(1);
    {
        const auto warm = JobArenas::create(pool);
    }
    const os::testing_support::NoMappingLeak no_leak;
    for (std::uint64_t nth = 1; nth <= 6; ++nth) {
        inject::fail_nth(OsCall::map_memory, nth, ENOMEM);
        EXPECT_FALSE(JobArenas::create(pool)) << nth;
        EXPECT_TRUE(inject::has_fired()) << nth;
    }
    inject::clear();
}

// After the first round everything is there that is needed.
TEST(JobArenasFaults, ScopesAskNothingOfTheSystemAfterTheFirstRound) {
    JobPool pool = make_pool(0);
    auto arenas = JobArenas::create(pool);
    ASSERT_TRUE(arenas);
    for (int round = 0; round < 500; ++round) {
        if (round == 1) inject::clear();
        ScratchScope scratch(*arenas);
        ASSERT_TRUE(scratch.allocate(std::size_t{1} << 20));
    }
    EXPECT_EQ(inject::uses(OsCall::map_memory), 0U);
    EXPECT_EQ(inject::uses(OsCall::protect_memory), 0U);
}

TEST(JobPoolFaults, ASleepThatFailsOnlyLooksAgain) {
    JobPool pool = make_pool(2, {.spin_pauses = 0});
    for (std::uint64_t nth = 1; nth <= 20; ++nth) {
        inject::fail_nth(OsCall::wait_on_word, nth % 3 + 1, EINTR);
        JobWith job([] {});
        ASSERT_TRUE(post(pool, job));
        while (!job.is_done())
            os::yield_thread();
        std::atomic<std::size_t> sum{0};
        parallel_for(pool, 100, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
        EXPECT_EQ(sum.load(), 100U);
    }
    inject::clear();
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

TEST(JobPoolFaults, ASleepingPoolMakesNoSystemCallsAndAWorkingOneTakesNothing) {
    JobPool pool = make_pool(4);
    parallel_for(pool, 100, 1, [](std::size_t, std::size_t) {});
    jobs_test::await_all_asleep(pool);
    inject::clear();
    jobs_test::rest();
    // The call to sleep is the last one that each makes, and may come right after it is seen asleep; and
    // ours.
    EXPECT_LE(inject::uses(OsCall::wait_on_word), pool.worker_count() + 1);
    for (int round = 0; round < 100; ++round)
        parallel_for(pool, 100, 1, [](std::size_t, std::size_t) {});
    EXPECT_EQ(inject::uses(OsCall::map_memory), 0U);
    EXPECT_EQ(inject::uses(OsCall::start_thread), 0U);
}

#endif

}  // namespace
}  // namespace ouro
