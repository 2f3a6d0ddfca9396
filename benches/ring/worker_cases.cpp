// What a second thread is worth: the time that a commit takes with it, as a part of the time without; beside
// the same of a plain copy of those pages.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/jobs/job_pool.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

// The least of a few, in nanoseconds.
template <class Prepare, class Action>
double least_time(Prepare prepare, Action action) {
    double least = 1e18;
    for (int i = 0; i < 5; ++i) {
        prepare();
        const std::uint64_t begin = os::monotonic_ns();
        action();
        least = std::min(least, static_cast<double>(os::monotonic_ns() - begin));
    }
    return least;
}

void copy_pages(MemoryBlock image, std::byte* pool, const std::vector<std::uint32_t>& list, std::size_t begin,
                std::size_t end) {
    for (std::size_t index = begin; index < end; ++index)
        copy_streaming(pool + index * kPage, image.data + std::size_t{list[index]} * kPage, kPage);
    finish_streaming();
}

void measure_speed_up(Session& session, std::size_t bytes, const WritePattern& pattern, bool hashes) {
    JobPool jobs = must(JobPool::create({.workers = 1}), "make a pool");
    RingScene alone(bytes, Tracking::declared, hashes, bytes * 4);
    RingScene together(bytes, Tracking::declared, hashes, bytes * 4, &jobs);
    const PageLists lists(pattern, alone.pages());
    const RawMapping pool = filled_memory(bytes);
    std::uint64_t tick = 0;
    const auto commit_time = [&](RingScene& scene) {
        return least_time([&] { scene.write(lists.at(++tick)); }, [&] { scene.commit(); });
    };
    const auto copy_time = [&](bool is_shared) {
        return least_time([&] { alone.write(lists.at(++tick)); },
                          [&] {
                              const auto& list = lists.at(tick);
                              const auto copy = [&](std::size_t begin, std::size_t end) {
                                  copy_pages(alone.world(), pool.block().data, list, begin, end);
                              };
                              if (is_shared)
                                  parallel_for(jobs, list.size(), 64, copy);
                              else
                                  copy(0, list.size());
                          });
    };
    session
        .measure(std::string("two threads' share of one's time: commit") + (hashes ? " with hash" : "") +
                     ", " + pattern.name + " of " + size_name(bytes),
                 kTimes)
        .ours([&](Round& round) { round.add_figure(commit_time(together) / commit_time(alone)); })
        .peer("a plain copy of these pages", "streaming",
              [&](Round& round) { round.add_figure(copy_time(true) / copy_time(false)); })
        .bar(ratio_at_most(1 / 0.9))
        .operations(1)
        .median()
        .on_any_core()
        .different_results()
        .run();
}

}  // namespace

void measure_workers(Session& session) {
    const std::size_t bytes = session.sized(100 * kMiB, 4 * kMiB);
    for (const WritePattern& pattern :
         {WritePattern{"10 % random", 100, false, false}, WritePattern{"100 %", 1000, true, true}}) {
        measure_speed_up(session, bytes, pattern, false);
        measure_speed_up(session, bytes, pattern, true);
    }
}

}  // namespace ouro::bench
