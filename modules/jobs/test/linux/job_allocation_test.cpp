// Once a pool is warm, work costs no memory: not on the thread that hands it out, and not where it runs.
#include "jobs_support.hpp"
#include "mapping_table.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <array>
#include <atomic>

namespace ouro {
namespace {

using jobs_test::make_pool;

struct QuietJob final : Job {
    QuietJob() noexcept : Job(&run) {}
    static void run(Job& job) noexcept {
        const NoAllocationScope quiet("a job");
        ++static_cast<QuietJob&>(job).runs;
    }
    std::atomic<unsigned> runs{0};
};

// Posts more than the workers take at once, and waits for all.
void post_all(JobPool& pool, std::array<QuietJob, 500>& jobs) {
    for (std::size_t i = 0; i < jobs.size(); ++i)
        ASSERT_TRUE(post(pool, jobs[i], i % 3 == 0 ? JobPriority::high : JobPriority::normal));
    for (QuietJob& job : jobs)
        wait(job);
}

TEST(JobAllocation, PostedJobsLoopsAndGraphsAllocateNothing) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{16} << 20});
    ASSERT_TRUE(memory);
    for (const unsigned workers : {0U, 1U, 3U}) {
        SCOPED_TRACE(workers);
        JobPool pool = make_pool(workers);
        std::array<QuietJob, 500> jobs;
        std::atomic<std::size_t> rows{0};
        TaskGraph graph(*memory);
        TaskId last{};
        for (int i = 0; i < 100; ++i) {
            const auto task = graph.add([&] { ++rows; });
            ASSERT_TRUE(task);
            const bool is_ordered = i % 3 == 0 || graph.order(last, *task).has_value();
            ASSERT_TRUE(is_ordered);
            last = *task;
        }
        ASSERT_TRUE(graph.prepare());
        const auto work = [&] {
            post_all(pool, jobs);
            for (const Split split : {Split::dynamic, Split::even}) {
                parallel_for(
                    pool, 10'000, 16,
                    [&](std::size_t begin, std::size_t end) {
                        const NoAllocationScope inner("a part of a loop");
                        rows += end - begin;
                    },
                    split);
            }
            graph.run(pool);
        };
        work();
        const os::testing_support::NoMappingLeak same_mappings;
        const NoAllocationScope quiet("jobs that were warm");
        for (int round = 0; round < 20; ++round)
            work();
        EXPECT_EQ(rows, 21U * 20'100U);
        for (const QuietJob& job : jobs)
            EXPECT_EQ(job.runs, 21U);
    }
}

}  // namespace
}  // namespace ouro
