#pragma once

#include "jobs_support.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <deque>
#include <string>

namespace ouro::jobs_test {

// Everything at once, by chance.
class Storm {
public:
    Storm(JobPool& pool, std::uint64_t seed, std::uint64_t stream) : pool_(pool), random_(seed, stream) {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            switch (random_.below(4)) {
                case 0:
                    loop(random_.below(400), random_.below(20), 0);
                    break;
                case 1:
                    loop(1 + random_.below(12), 1, 1 + random_.below(30));
                    break;
                case 2:
                    post_and_wait(1 + random_.below(8));
                    break;
                default:
                    os::yield_thread();
            }
        }
    }

private:
    void loop(std::size_t count, std::size_t grain, std::size_t inner) {
        Visits visits(count * (inner + 1));
        parallel_for(
            pool_, count, grain,
            [&](std::size_t begin, std::size_t end) {
                visits.visit(begin, end);
                for (std::size_t i = begin; i < end && inner != 0; ++i) {
                    const std::size_t base = count + i * inner;
                    parallel_for(pool_, inner, 2, [&](std::size_t from, std::size_t to) {
                        visits.visit(base + from, base + to);
                    });
                }
            },
            random_.below(2) == 0 ? Split::dynamic : Split::even);
        ASSERT_EQ(visits.wrong(), 0U);
    }

    void post_and_wait(std::size_t count) {
        std::atomic<unsigned> runs{0};
        const auto work = [&] {
            parallel_for(pool_, 20, 4, [&](std::size_t begin, std::size_t end) {
                runs += static_cast<unsigned>(end - begin);
            });
        };
        std::deque<JobWith<decltype(work)>> jobs;
        unsigned accepted = 0;
        for (std::size_t i = 0; i < count; ++i)
            accepted += post(pool_, jobs.emplace_back(work)) ? 1U : 0U;
        for (auto& job : jobs)
            wait(job);
        ASSERT_EQ(runs.load(), accepted * 20);
    }

    JobPool& pool_;
    Random random_;
};

// Several threads do that on one pool; the seed decides on everything but the timing.
inline void run_storm(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const unsigned workers = 1 + random.below(6);
    const unsigned spin = random.below(2) * 200;
    JobPool pool = make_pool(workers, {.max_posted_jobs = 16, .spin_pauses = spin});
    testing_support::run_workers(3, [&](std::size_t number) { Storm(pool, seed, number + 1).run(100); });
    await_all_asleep(pool);
    ASSERT_EQ(pool.check(), Status::ok);
    ASSERT_EQ(pool.stats().finished_jobs, pool.stats().posted_jobs);
}

}  // namespace ouro::jobs_test
