#include "jobs_support.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace ouro {
namespace {

using jobs_test::make_pool;

class TaskGraphTest : public testing::Test {
protected:
    // A task that notes its number.
    TaskId add(int number, JobPriority priority = JobPriority::normal) {
        const auto id = graph_.add([this, number] { notes_.push_back(number); }, priority);
        EXPECT_TRUE(id);
        return *id;
    }
    void order(TaskId before, TaskId after) { EXPECT_TRUE(graph_.order(before, after)); }
    std::vector<int> run_alone() {
        JobPool pool = make_pool(0);
        notes_.clear();
        graph_.run(pool);
        return notes_;
    }

    SystemAllocator memory_ = *SystemAllocator::create({});
    TaskGraph graph_{memory_};
    std::vector<int> notes_;
};

TEST_F(TaskGraphTest, AloneRunsInTheOrderOfAddingWhereNothingElseIsSaid) {
    const TaskId a = add(0);
    const TaskId b = add(1);
    const TaskId c = add(2);
    const TaskId d = add(3);
    add(4);
    order(d, a);
    order(c, b);
    ASSERT_TRUE(graph_.prepare());
    EXPECT_EQ(run_alone(), (std::vector<int>{2, 1, 3, 0, 4}));
    EXPECT_EQ(run_alone(), (std::vector<int>{2, 1, 3, 0, 4}));
    EXPECT_EQ(graph_.task_count(), 5U);
    EXPECT_EQ(graph_.edge_count(), 2U);
    EXPECT_EQ(graph_.check(), Status::ok);
}

TEST_F(TaskGraphTest, AloneBeginsWithTheHighestPriorityThatCanBegin) {
    const TaskId first = add(0, JobPriority::low);
    add(1);
    const TaskId urgent = add(2, JobPriority::high);
    add(3, JobPriority::high);
    order(first, urgent);
    ASSERT_TRUE(graph_.prepare());
    EXPECT_EQ(run_alone(), (std::vector<int>{3, 1, 0, 2}));
}

// One worker that is kept elsewhere leaves everything to the caller, who goes the parallel way.
TEST_F(TaskGraphTest, PrefersHighPrioritiesAmongWhatCanBeginAtOnce) {
    JobPool pool = make_pool(1);
    jobs_test::Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    const TaskId root = add(0);
    for (int i = 1; i <= 6; ++i)
        order(root, add(i, i == 4 ? JobPriority::high : i == 2 ? JobPriority::low : JobPriority::normal));
    ASSERT_TRUE(graph_.prepare());
    graph_.run(pool);
    EXPECT_EQ(notes_, (std::vector<int>{0, 4, 1, 3, 5, 6, 2}));
    plug.may_end.reach(1);
    wait(stuck);
    EXPECT_EQ(pool.stats().graph_tasks, 7U);
    EXPECT_EQ(pool.stats().shared_graphs, 1U);
}

TEST_F(TaskGraphTest, NamesTheTasksOfACycle) {
    const TaskId before = add(0);
    const TaskId a = add(1);
    const TaskId b = add(2);
    const TaskId c = add(3);
    const TaskId behind = add(4);
    order(before, a);
    order(a, b);
    order(b, c);
    order(c, a);
    order(c, behind);
    EXPECT_EQ(graph_.prepare().status(), Status::dependency_cycle);
    EXPECT_FALSE(graph_.is_prepared());
    std::vector<TaskId> cycle(graph_.cycle().begin(), graph_.cycle().end());
    ASSERT_EQ(cycle.size(), 3U);
    std::ranges::rotate(cycle, std::ranges::find(cycle, a));
    EXPECT_EQ(cycle, (std::vector<TaskId>{a, b, c}));
    EXPECT_EQ(graph_.check(), Status::ok);
}

TEST_F(TaskGraphTest, ATaskThatWaitsForItselfIsACycle) {
    add(0);
    const TaskId own = add(1);
    order(own, own);
    EXPECT_EQ(graph_.prepare().status(), Status::dependency_cycle);
    ASSERT_EQ(graph_.cycle().size(), 1U);
    EXPECT_EQ(graph_.cycle()[0], own);
}

TEST_F(TaskGraphTest, CanBeClearedAndBuiltAnewAfterACycle) {
    const TaskId a = add(0);
    const TaskId b = add(1);
    order(a, b);
    order(b, a);
    EXPECT_FALSE(graph_.prepare());
    graph_.clear();
    EXPECT_TRUE(graph_.cycle().empty());
    order(add(5), add(6));
    ASSERT_TRUE(graph_.prepare());
    EXPECT_EQ(run_alone(), (std::vector<int>{5, 6}));
}

TEST_F(TaskGraphTest, GrowsAfterItHasRun) {
    const TaskId a = add(0);
    ASSERT_TRUE(graph_.prepare());
    EXPECT_EQ(run_alone(), (std::vector<int>{0}));
    order(add(1), a);
    EXPECT_FALSE(graph_.is_prepared());
    ASSERT_TRUE(graph_.prepare());
    EXPECT_EQ(run_alone(), (std::vector<int>{1, 0}));
}

TEST_F(TaskGraphTest, RefusesTasksThatItDoesNotHave) {
    const TaskId a = add(0);
    EXPECT_EQ(graph_.order(a, static_cast<TaskId>(1)).status(), Status::bad_argument);
    EXPECT_EQ(graph_.order(static_cast<TaskId>(1), a).status(), Status::bad_argument);
}

TEST_F(TaskGraphTest, AnEdgeMayBeSaidTwice) {
    for (const unsigned workers : {0U, 2U}) {
        graph_.clear();
        notes_.clear();
        const TaskId a = add(0);
        const TaskId b = add(1);
        order(a, b);
        order(a, b);
        ASSERT_TRUE(graph_.prepare());
        JobPool pool = make_pool(workers);
        graph_.run(pool);
        graph_.run(pool);
        EXPECT_EQ(notes_, (std::vector<int>{0, 1, 0, 1}));
    }
}

TEST_F(TaskGraphTest, AnEmptyOneRunsToo) {
    for (const unsigned workers : {0U, 1U}) {
        JobPool pool = make_pool(workers);
        ASSERT_TRUE(graph_.prepare());
        graph_.run(pool);
    }
}

// Those with destructors and those too large for a node are kept, called and ended.
TEST_F(TaskGraphTest, KeepsFunctionsOfAnyKind) {
    auto counter = std::make_shared<std::atomic<int>>(0);
    {
        TaskGraph graph(memory_);
        ASSERT_TRUE(graph.add([counter] { ++*counter; }));
        std::array<int, 100> large{};
        large[99] = 10;
        ASSERT_TRUE(graph.add([counter, large] { *counter += large[99]; }));
        ASSERT_TRUE(graph.add([owned = std::make_unique<int>(100), &counter] { *counter += *owned; }));
        ASSERT_TRUE(graph.add([&](unsigned participant) { *counter += participant < 3 ? 1000 : 0; }));
        ASSERT_TRUE(graph.prepare());
        TaskGraph moved(std::move(graph));
        EXPECT_EQ(graph.task_count(), 0U);
        JobPool pool = make_pool(2);
        moved.run(pool);
        EXPECT_EQ(counter->load(), 1111);
        graph = std::move(moved);
        graph.run(pool);
        EXPECT_EQ(counter->load(), 2222);
        EXPECT_EQ(counter.use_count(), 3);
    }
    EXPECT_EQ(counter.use_count(), 1);
    EXPECT_EQ(memory_.stats().live_bytes, 0U);
}

TEST_F(TaskGraphTest, TakesNoMemoryToRun) {
    std::atomic<unsigned> runs{0};
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(graph_.add([&] { ++runs; }));
        if (i != 0) order(static_cast<TaskId>((i - 1) / 3), static_cast<TaskId>(i));
    }
    ASSERT_TRUE(graph_.prepare());
    const auto allocations = memory_.stats().allocations;
    JobPool pool = make_pool(3);
    for (int i = 0; i < 20; ++i)
        graph_.run(pool);
    EXPECT_EQ(runs.load(), 10'000U);
    EXPECT_EQ(memory_.stats().allocations, allocations);
    // Prepared again with nothing new it finds its memory.
    EXPECT_TRUE(graph_.prepare());
}

// Hands out so many blocks, then no more.
class Rationed final : public MemoryResource {
public:
    explicit Rationed(MemoryResource& below) noexcept : below_(below) {}

    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (left == 0) return Status::out_of_memory;
        --left;
        return below_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        below_.deallocate(block, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept override {
        if (left == 0) return Status::out_of_memory;
        --left;
        return below_.reallocate(block, new_size, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> try_resize(MemoryBlock, std::size_t, std::size_t) noexcept override {
        return Status::not_supported;
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return below_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return below_.info(); }
    [[nodiscard]] ResourceStats stats() const noexcept override { return below_.stats(); }
    [[nodiscard]] Status check() const noexcept override { return below_.check(); }

    unsigned left = 0;

private:
    MemoryResource& below_;
};

// Wherever memory ends, the graph is as it was and goes on when there is more.
TEST_F(TaskGraphTest, GoesOnAfterMemoryWasRefused) {
    Rationed rationed(memory_);
    TaskGraph graph(rationed);
    auto runs = std::make_shared<int>(0);
    const auto until_it_works = [&](const auto& attempt) {
        for (unsigned ration = 0;; ++ration) {
            rationed.left = ration;
            const Status status = attempt();
            EXPECT_EQ(graph.check(), Status::ok);
            if (status == Status::ok) return;
            ASSERT_EQ(status, Status::out_of_memory);
            ASSERT_FALSE(graph.is_prepared());
            ASSERT_LT(ration, 20U);
        }
    };
    for (std::uint32_t i = 0; i < 40; ++i) {
        until_it_works([&] { return graph.add([runs] { ++*runs; }).status(); });
        ASSERT_EQ(graph.task_count(), i + 1);
        ASSERT_EQ(runs.use_count(), static_cast<long>(i) + 2);
        if (i == 0) continue;
        until_it_works([&] { return graph.order(TaskId{i - 1}, TaskId{i}).status(); });
        ASSERT_EQ(graph.edge_count(), i);
    }
    until_it_works([&] { return graph.prepare().status(); });
    JobPool pool = make_pool(1);
    graph.run(pool);
    EXPECT_EQ(*runs, 40);
}

// More runs at once than the pool has places: each inside the one before.
TEST_F(TaskGraphTest, NestsDeeperThanThereArePlaces) {
    JobPool pool = make_pool(2);
    constexpr int kDepth = static_cast<int>(kMaxGraphs) + 2;
    std::atomic<int> leaves{0};
    const auto nest = [&](const auto& self, int depth) -> void {
        if (depth == 0) {
            ++leaves;
            return;
        }
        TaskGraph inner(memory_);
        for (int i = 0; i < 2; ++i)
            ASSERT_TRUE(inner.add([&self, depth, i] { self(self, i == 0 ? depth - 1 : 0); }));
        ASSERT_TRUE(inner.prepare());
        inner.run(pool);
    };
    nest(nest, kDepth);
    EXPECT_EQ(leaves.load(), kDepth + 1);
    EXPECT_GE(pool.stats().crowded_out_graphs, 2U);
    jobs_test::await_all_asleep(pool);
    EXPECT_EQ(pool.check(), Status::ok);
}

// Tasks wait for each other here, so that every worker has to come. A program may not do this.
TEST_F(TaskGraphTest, AllWorkersComeWhenThereIsWorkForAll) {
    for (const unsigned spin : {0U, 2000U}) {
        JobPool pool = make_pool(3, {.spin_pauses = spin});
        graph_.clear();
        std::atomic<std::uint32_t> missing{0};
        const auto meet = [&] {
            if (missing.fetch_sub(1) == 1) os::wake_all(missing);
            for (std::uint32_t left = missing.load(); left != 0; left = missing.load())
                os::wait_on(missing, left);
        };
        // Once from the roots, once from what one task brought.
        const auto root = graph_.add([&] { missing = pool.participant_count(); });
        ASSERT_TRUE(root);
        for (unsigned i = 0; i < pool.participant_count(); ++i) {
            const auto met = graph_.add(meet);
            ASSERT_TRUE(met);
            order(*root, *met);
        }
        ASSERT_TRUE(graph_.prepare());
        for (int round = 0; round < 30; ++round) {
            if (round % 5 == 0) jobs_test::await_all_asleep(pool);
            graph_.run(pool);
        }
        EXPECT_EQ(pool.stats().graph_tasks, 30U * (pool.participant_count() + 1));
    }
}

// The caller has nothing left to run but helps with the loop of a task that another has begun.
TEST_F(TaskGraphTest, TheCallerHelpsWithLoopsOfItsTasks) {
    JobPool pool = make_pool(1);
    jobs_test::Milestone worker_has_begun;
    std::atomic<std::uint32_t> missing{0};
    const auto share_out = [&] {
        missing = 2;
        parallel_for(
            pool, 2, 1,
            [&](std::size_t, std::size_t) {
                if (missing.fetch_sub(1) == 1) os::wake_all(missing);
                for (std::uint32_t left = missing.load(); left != 0; left = missing.load())
                    os::wait_on(missing, left);
            },
            Split::even);
    };
    // Two roots: the caller waits in one until the worker has the other.
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(graph_.add([&](unsigned participant) {
            if (participant == 0) {
                worker_has_begun.wait_for(1);
            } else {
                worker_has_begun.reach(1);
                jobs_test::rest();
                share_out();
            }
        }));
    }
    ASSERT_TRUE(graph_.prepare());
    for (int round = 0; round < 3; ++round) {
        worker_has_begun.reach(0);
        graph_.run(pool);
        EXPECT_EQ(missing.load(), 0U);
    }
    EXPECT_EQ(pool.check(), Status::ok);
}

}  // namespace
}  // namespace ouro
