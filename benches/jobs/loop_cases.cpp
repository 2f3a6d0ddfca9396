// Loops over many elements that cost little each.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "jobs/jobs_suite.hpp"
#include "jobs/loop_work.hpp"
#include "jobs/tbb_peer.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <string>

namespace ouro::bench {
namespace {

// Steps from the same start each round; the bits at the end are the checksum.
template <class Step>
Work stepping(std::size_t count, Step step) {
    return [count, step](Round& round) {
        std::vector<float> positions(count, 1.0F);
        std::vector<float> speeds(count);
        for (std::size_t i = 0; i < count; ++i)
            speeds[i] = static_cast<float>(i % 1024);
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i)
                step(std::span(positions), std::span<const float>(speeds));
        });
        round.check(hash_bytes(std::as_bytes(std::span(positions))));
    };
}

void add_tbb(Case& measured, std::size_t count, std::size_t grain) {
    struct Peer {
        const char* name;
        tbb_peer::Partition partition;
    };
    for (const Peer& peer : {Peer{"parallel_for, auto", tbb_peer::Partition::automatic},
                             Peer{"parallel_for, simple", tbb_peer::Partition::simple}}) {
        if (tbb_peer::version().empty()) {
            measured.missing_peer(peer.name, "install libtbb-dev");
            continue;
        }
        const auto step = [grain, partition = peer.partition](auto positions, auto speeds) {
            tbb_peer::integrate_all(positions, speeds, grain, partition);
        };
        measured.peer(peer.name, tbb_peer::version(), stepping(count, step));
    }
}

void measure_grain(Session& session, JobPool& pool, std::size_t count, std::size_t grain, Split split) {
    const std::string how = split == Split::even ? ", even" : "";
    Case measured = session.measure(std::to_string(count) + " elements, grain " + std::to_string(grain) + how,
                                    kMicroseconds);
    const auto step = [&pool, grain, split](auto positions, auto speeds) {
        parallel_for(
            pool, positions.size(), grain,
            [&](std::size_t begin, std::size_t end) { integrate(positions, speeds, begin, end); }, split);
    };
    measured.ours(stepping(count, step));
    add_tbb(measured, count, grain);
    measured
        .bound("a serial loop",
               stepping(count, [](auto positions,
                                  auto speeds) { integrate(positions, speeds, 0, positions.size()); }))
        .bar(ratio_at_most(1.0))
        .operations(session.sized(10, 2))
        .on_any_core()
        .run();
}

}  // namespace

void measure_loops(Session& session) {
    JobPool pool = must(JobPool::create(), "pool");
    const std::size_t count = session.sized(1'000'000, 20'000);
    for (const std::size_t grain : {64U, 256U, 1024U, 4096U})
        measure_grain(session, pool, count, grain, Split::dynamic);
    measure_grain(session, pool, count, 4096, Split::even);
}

}  // namespace ouro::bench
