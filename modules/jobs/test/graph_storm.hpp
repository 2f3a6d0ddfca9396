#pragma once

#include "jobs_support.hpp"

#include <ouro/base/random.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::jobs_test {

// A graph by chance whose tasks look whether all of their predecessors have run in this round. The values are
// plain memory: where an edge were not kept, ThreadSanitizer would see it too.
class RandomGraph {
public:
    RandomGraph(JobPool& pool, std::uint64_t seed)
        : pool_(pool), memory_(*SystemAllocator::create({})), graph_(memory_), random_(seed) {
        const std::uint32_t count = 1 + random_.below(300);
        rounds_.resize(count);
        predecessors_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto priority = static_cast<JobPriority>(random_.below(kJobPriorities));
            EXPECT_TRUE(graph_.add([this, i] { run_task(i); }, priority));
        }
        shuffle(count);
        add_edges(count);
        EXPECT_TRUE(graph_.prepare());
        EXPECT_EQ(graph_.check(), Status::ok);
    }

    // How many tasks did not run once, or ran before one that they wait for.
    [[nodiscard]] unsigned run_and_count_errors() {
        ++round_;
        graph_.run(pool_);
        EXPECT_EQ(graph_.check(), Status::ok);
        for (const std::uint32_t round : rounds_)
            errors_ += round != round_ ? 1U : 0U;
        return errors_.exchange(0);
    }

private:
    // Edges go from earlier to later in an order that is not that of adding.
    void shuffle(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            order_.push_back(i);
        for (std::uint32_t i = count; i > 1; --i)
            std::swap(order_[i - 1], order_[random_.below(i)]);
    }
    void add_edges(std::uint32_t count) {
        const std::uint32_t most = random_.below(6);
        // Long and narrow, or short and wide.
        const std::uint32_t reach = 1 + random_.below(count);
        for (std::uint32_t after = 1; after < count; ++after) {
            for (std::uint32_t edges = random_.below(most + 1); edges != 0; --edges) {
                const std::uint32_t before = after - 1 - random_.below(std::min(after, reach));
                predecessors_[order_[after]].push_back(order_[before]);
                EXPECT_TRUE(
                    graph_.order(static_cast<TaskId>(order_[before]), static_cast<TaskId>(order_[after])));
            }
        }
    }
    void run_task(std::uint32_t task) {
        for (const std::uint32_t before : predecessors_[task])
            errors_ += rounds_[before] != round_ ? 1U : 0U;
        errors_ += rounds_[task] + 1 != round_ ? 1U : 0U;
        if (task % 16 == 0) {
            std::atomic<std::size_t> sum{0};
            parallel_for(pool_, 40, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
            errors_ += sum.load() != 40 ? 1U : 0U;
        }
        rounds_[task] = round_;
    }

    JobPool& pool_;
    SystemAllocator memory_;
    TaskGraph graph_;
    Random random_;
    std::vector<std::uint32_t> order_;
    std::vector<std::vector<std::uint32_t>> predecessors_;
    std::vector<std::uint32_t> rounds_;
    std::uint32_t round_ = 0;
    std::atomic<unsigned> errors_{0};
};

}  // namespace ouro::jobs_test
