#include "jobs_support.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <vector>

namespace ouro {
namespace {

using jobs_test::make_pool;
using jobs_test::Plug;

struct Noted {
    std::vector<int>* notes;
    int number;
    void operator()() const { notes->push_back(number); }
};

// One worker, which is kept until everything is posted and then shows its order.
class Line {
public:
    Line() : pool_(make_pool(1)), stuck_([this] { plug_(); }) {
        EXPECT_TRUE(post(pool_, stuck_));
        plug_.begun.wait_for(1);
    }
    void add(int number, JobPriority priority) {
        EXPECT_TRUE(post(pool_, jobs_.emplace_back(Noted{&notes_, number}), priority));
    }
    // Nobody else takes any, who would do it out of turn.
    const std::vector<int>& run() {
        plug_.may_end.reach(1);
        for (const auto& job : jobs_) {
            while (!job.is_done())
                os::yield_thread();
        }
        wait(stuck_);
        return notes_;
    }
    [[nodiscard]] JobPool& pool() { return pool_; }

private:
    JobPool pool_;
    Plug plug_;
    JobWith<std::function<void()>> stuck_;
    std::vector<int> notes_;
    std::deque<JobWith<Noted>> jobs_;
};

TEST(JobPriority, HigherOnesComeFirstAndOlderOnesAmongEquals) {
    Line line;
    line.add(5, JobPriority::low);
    line.add(3, JobPriority::normal);
    line.add(1, JobPriority::high);
    line.add(4, JobPriority::normal);
    line.add(2, JobPriority::high);
    line.add(6, JobPriority::low);
    EXPECT_EQ(line.run(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(line.pool().stats().finished_jobs, 7U);
    jobs_test::await_all_asleep(line.pool());
    EXPECT_EQ(line.pool().check(), Status::ok);
}

// Any number of high ones lets the others through from time to time.
TEST(JobPriority, LowerOnesAreNotForgottenBesideManyHighOnes) {
    Line line;
    line.add(1, JobPriority::normal);
    line.add(2, JobPriority::low);
    for (int i = 0; i < 200; ++i)
        line.add(0, JobPriority::high);
    const std::vector<int>& order = line.run();
    const auto position = [&](int number) { return std::ranges::find(order, number) - order.begin(); };
    EXPECT_LE(position(1), 8);
    EXPECT_LE(position(2), 64);
    EXPECT_GT(position(1), 0);
    EXPECT_GT(position(2), 8);
}

TEST(JobPriority, EachPriorityHasItsRoom) {
    JobPool pool = make_pool(1, {.max_posted_jobs = 2});
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    const auto nothing = [] {};
    std::deque<JobWith<decltype(nothing)>> jobs;
    for (const JobPriority priority : {JobPriority::high, JobPriority::normal, JobPriority::low}) {
        EXPECT_TRUE(post(pool, jobs.emplace_back(nothing), priority));
        EXPECT_TRUE(post(pool, jobs.emplace_back(nothing), priority));
        EXPECT_EQ(post(pool, jobs.emplace_back(nothing), priority).status(), Status::capacity_exhausted);
    }
    plug.may_end.reach(1);
    for (auto& job : jobs)
        wait(job);
    wait(stuck);
    EXPECT_EQ(pool.stats().posted_jobs, 7U);
}

// The worker takes a high job although a loop has chunks left, and no other.
TEST(JobPriority, HighOnesGoBeforeLoops) {
    JobPool pool = make_pool(1);
    Plug plug;
    JobWith stuck([&] { plug(); });
    ASSERT_TRUE(post(pool, stuck));
    plug.begun.wait_for(1);
    JobWith high([&] {});
    JobWith normal([&] {});
    ASSERT_TRUE(post(pool, high, JobPriority::high));
    ASSERT_TRUE(post(pool, normal, JobPriority::normal));
    bool high_was_first = false;
    bool normal_came_later = false;
    std::atomic<bool> has_come{false};
    parallel_for(pool, 64, 1, [&](std::size_t, std::size_t, unsigned participant) {
        if (participant == 0) {
            // There are chunks left until the worker has come for one.
            plug.may_end.reach(1);
            while (!has_come.load())
                os::yield_thread();
        } else if (!has_come.load()) {
            high_was_first = high.is_done();
            normal_came_later = !normal.is_done();
            has_come.store(true);
        }
    });
    EXPECT_TRUE(high_was_first);
    EXPECT_TRUE(normal_came_later);
    wait(normal);
    wait(high);
    wait(stuck);
}

TEST(JobPriority, IsOfNoMatterWithoutWorkers) {
    JobPool pool = make_pool(0);
    std::vector<int> notes;
    JobWith<Noted> low({&notes, 1});
    JobWith<Noted> high({&notes, 2});
    ASSERT_TRUE(post(pool, low, JobPriority::low));
    ASSERT_TRUE(post(pool, high, JobPriority::high));
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace ouro
