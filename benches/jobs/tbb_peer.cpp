#include "jobs/tbb_peer.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

namespace ouro::bench::tbb_peer {
namespace {

template <class Body>
void for_ranges(std::size_t count, std::size_t grain, Partition partition, const Body& body) {
    const tbb::blocked_range<std::size_t> all(0, count, grain);
    const auto call = [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); };
    if (partition == Partition::automatic)
        tbb::parallel_for(all, call, tbb::auto_partitioner());
    else
        tbb::parallel_for(all, call, tbb::simple_partitioner());
}

}  // namespace

std::string version() {
    return "oneTBB " + std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR);
}

void mark_all(Marks& marks, Partition partition) {
    for_ranges(marks.size(), 1, partition,
               [&](std::size_t begin, std::size_t end) { marks.mark(begin, end); });
}

void mark_in_tasks(Marks& marks) {
    tbb::task_group group;
    for (std::size_t i = 0; i < marks.size(); ++i)
        group.run([&marks, i] { marks.mark(i, i + 1); });
    group.wait();
}

void integrate_all(std::span<float> positions, std::span<const float> speeds, std::size_t grain,
                   Partition partition) {
    for_ranges(positions.size(), grain, partition,
               [&](std::size_t begin, std::size_t end) { integrate(positions, speeds, begin, end); });
}

}  // namespace ouro::bench::tbb_peer
