#include "graph_storm.hpp"
#include "jobs_support.hpp"
#include "workers.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/job_arenas.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <cstring>
#include <deque>
#include <string>

namespace ouro {
namespace {

using jobs_test::make_pool;
using jobs_test::RandomGraph;
using testing_support::run_workers;

TEST(TaskGraphConcurrent, EveryEdgeIsKept) {
    for (const unsigned workers : {0U, 1U, 3U, 8U}) {
        JobPool pool = make_pool(workers);
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
            RandomGraph graph(pool, seed);
            for (std::uint32_t round = 1; round <= 12; ++round)
                ASSERT_EQ(graph.run_and_count_errors(), 0U) << "round " << round;
        }
        jobs_test::await_all_asleep(pool);
        EXPECT_EQ(pool.check(), Status::ok);
    }
}

TEST(TaskGraphConcurrent, SeveralThreadsRunGraphsAtOnce) {
    JobPool pool = make_pool(2);
    run_workers(4, [&](std::size_t number) {
        RandomGraph graph(pool, 100 + number);
        for (int round = 0; round < 20; ++round)
            EXPECT_EQ(graph.run_and_count_errors(), 0U) << "seed " << 100 + number;
    });
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

// One task lets far more begin than its ring holds, and one waits for all of them. Without atomics.
TEST(TaskGraphConcurrent, WideGraphsPassPlainMemoryOn) {
    constexpr std::uint32_t kWidth = 1000;
    for (const unsigned spin : {0U, 500U}) {
        JobPool pool = make_pool(3, {.spin_pauses = spin});
        SystemAllocator memory = *SystemAllocator::create({});
        TaskGraph graph(memory);
        std::uint64_t start = 0;
        std::uint64_t total = 0;
        std::vector<std::uint64_t> parts(kWidth);
        const auto first = graph.add([&] { ++start; });
        const auto last = graph.add([&] {
            for (const std::uint64_t part : parts)
                total += part;
        });
        ASSERT_TRUE(first && last);
        for (std::uint32_t i = 0; i < kWidth; ++i) {
            const auto part = graph.add([&, i] { parts[i] = start + i; });
            ASSERT_TRUE(part && graph.order(*first, *part) && graph.order(*part, *last));
        }
        ASSERT_TRUE(graph.prepare());
        std::uint64_t expected = 0;
        for (std::uint64_t round = 1; round <= 30; ++round) {
            graph.run(pool);
            expected += kWidth * round + std::uint64_t{kWidth} * (kWidth - 1) / 2;
            ASSERT_EQ(total, expected);
        }
    }
}

// A chain with a little beside it: whoever is idle is told of the one task that is for it, or it lies there
// until the end of the chain.
TEST(TaskGraphConcurrent, NoTaskIsLeftLying) {
    JobPool pool = make_pool(1, {.spin_pauses = 0});
    SystemAllocator memory = *SystemAllocator::create({});
    TaskGraph graph(memory);
    std::atomic<std::uint32_t> missing{0};
    const auto root = graph.add([&] { missing = 2; });
    ASSERT_TRUE(root);
    for (int i = 0; i < 2; ++i) {
        // Each waits for the other, so that one of them must be taken by the worker or the caller who sleeps.
        const auto half = graph.add([&] {
            missing.fetch_sub(1);
            while (missing.load() != 0)
                os::yield_thread();
        });
        ASSERT_TRUE(half && graph.order(*root, *half));
    }
    ASSERT_TRUE(graph.prepare());
    for (int round = 0; round < 500; ++round)
        graph.run(pool);
    EXPECT_EQ(pool.stats().graph_tasks, 1500U);
}

// Callers of different loops are all participant 0, and still have arenas of their own.
TEST(JobArenasConcurrent, NobodyMeetsAnotherInScratchMemory) {
    JobPool pool = make_pool(2);
    auto made = JobArenas::create(pool, {.max_bytes = std::size_t{256} << 10, .outside_threads = 2});
    ASSERT_TRUE(made);
    JobArenas& arenas = *made;
    std::atomic<unsigned> refused{0};
    run_workers(4, [&](std::size_t number) {
        for (int round = 0; round < 60; ++round) {
            parallel_for(pool, 12, 1, [&](std::size_t begin, std::size_t) {
                ScratchScope scratch(arenas);
                if (!scratch.has_arena()) {
                    ++refused;
                    return;
                }
                const auto mark = static_cast<unsigned char>(number * 64 + begin);
                const auto block = scratch.allocate(500);
                ASSERT_TRUE(block);
                std::memset(block->data, mark, 500);
                parallel_for(pool, 4, 1, [&](std::size_t, std::size_t) {
                    ScratchScope inner(arenas);
                    if (!inner.has_arena()) return;
                    const auto more = inner.allocate(300);
                    ASSERT_TRUE(more);
                    std::memset(more->data, ~mark, 300);
                });
                for (std::size_t i = 0; i < 500; ++i)
                    ASSERT_EQ(block->data[i], std::byte{mark});
            });
        }
    });
    EXPECT_LE(refused.load(), arenas.stats().refused_scopes);
    EXPECT_EQ(arenas.check(), Status::ok);
}

TEST(JobPriorityConcurrent, JobsOfAllPrioritiesAreRunOnce) {
    JobPool pool = make_pool(2, {.max_posted_jobs = 16});
    run_workers(3, [&](std::size_t number) {
        Random random(number + 1);
        std::atomic<unsigned> runs{0};
        const auto count = [&runs] { ++runs; };
        for (int round = 0; round < 100; ++round) {
            std::deque<JobWith<decltype(count)>> jobs;
            unsigned accepted = 0;
            for (int i = 0; i < 12; ++i) {
                const auto priority = static_cast<JobPriority>(random.below(kJobPriorities));
                accepted += post(pool, jobs.emplace_back(count), priority) ? 1U : 0U;
            }
            for (auto& job : jobs)
                wait(job);
            EXPECT_EQ(runs.exchange(0), accepted);
        }
    });
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

}  // namespace
}  // namespace ouro
