// What it costs to hand work out and to know that it is done, where the work itself is nothing.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "jobs/jobs_suite.hpp"
#include "jobs/loop_work.hpp"
#include "jobs/tbb_peer.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <deque>

namespace ouro::bench {
namespace {

constexpr std::size_t kJobs = 1000;
constexpr const char* kHowToGetTbb = "install libtbb-dev";

// So many rounds of the work, each of which marks everything.
template <class MarkAll>
Work marking(std::size_t count, MarkAll mark_all) {
    return [count, mark_all](Round& round) mutable {
        Marks marks(count);
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                marks.begin_round();
                mark_all(marks);
            }
        });
        round.check(marks.count());
    };
}

template <class MarkAll>
void add_tbb(Case& measured, const char* name, std::size_t count, MarkAll mark_all) {
    if (tbb_peer::version().empty())
        measured.missing_peer(name, kHowToGetTbb);
    else
        measured.peer(name, tbb_peer::version(), marking(count, mark_all));
}

void measure_loop(Session& session, JobPool& pool, const char* name, std::size_t count, Split split) {
    Case measured = session.measure(name, kMicroseconds);
    measured.ours(marking(count, [&pool, split](Marks& marks) {
        parallel_for(
            pool, marks.size(), 1, [&](std::size_t begin, std::size_t end) { marks.mark(begin, end); },
            split);
    }));
    add_tbb(measured, "parallel_for, auto", count,
            [](Marks& marks) { tbb_peer::mark_all(marks, tbb_peer::Partition::automatic); });
    add_tbb(measured, "parallel_for, simple", count,
            [](Marks& marks) { tbb_peer::mark_all(marks, tbb_peer::Partition::simple); });
    measured.bound("a serial loop", marking(count, [](Marks& marks) { marks.mark(0, marks.size()); }))
        .bar(ratio_at_most(1.0))
        .on_any_core()
        .run();
}

struct MarkOne {
    Marks* marks;
    std::size_t index;
    void operator()() const noexcept { marks->mark(index, index + 1); }
};

Work posting(JobPool& pool) {
    return [&pool](Round& round) {
        Marks marks(kJobs);
        std::deque<JobWith<MarkOne>> jobs;
        for (std::size_t i = 0; i < kJobs; ++i)
            jobs.emplace_back(MarkOne{&marks, i});
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                marks.begin_round();
                for (auto& job : jobs)
                    must(post(pool, job), "post");
                for (auto& job : jobs)
                    wait(job);
            }
        });
        round.check(marks.count());
    };
}

void measure_posts(Session& session, JobPool& pool) {
    Case measured = session.measure("post 1,000 empty jobs and wait for each", kMicroseconds);
    measured.ours(posting(pool));
    add_tbb(measured, "task_group", kJobs, [](Marks& marks) { tbb_peer::mark_in_tasks(marks); });
    measured.bound("a serial loop", marking(kJobs, [](Marks& marks) { marks.mark(0, marks.size()); }))
        .bar(ratio_at_most(1.0))
        .on_any_core()
        .run();
}

}  // namespace

void measure_empty_jobs(Session& session) {
    // Room for the next round too where a worker has not finished with the last.
    JobPool pool = must(JobPool::create({.max_posted_jobs = 4 * kJobs}), "pool");
    measure_loop(session, pool, "share out two empty chunks", 2, Split::even);
    measure_loop(session, pool, "share out 1,000 empty jobs", kJobs, Split::dynamic);
    measure_posts(session, pool);
}

}  // namespace ouro::bench
