// Loops over many elements that cost little each.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "jobs/jobs_suite.hpp"
#include "jobs/loop_work.hpp"
#include "jobs/tbb_peer.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

// The same memory for all candidates of a case: where it lies, in pages of which size, makes more of a
// difference than who shares it out.
struct Elements {
    explicit Elements(std::size_t count) : positions(count), speeds(count) {
        for (std::size_t i = 0; i < count; ++i)
            speeds[i] = static_cast<float>(i % 1024);
    }
    std::vector<float> positions;
    std::vector<float> speeds;
};

// Steps from the same start each round; the bits at the end are the checksum.
template <class Step>
Work stepping(Elements& elements, Step step) {
    return [&elements, step](Round& round) {
        std::ranges::fill(elements.positions, 1.0F);
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i)
                step(std::span(elements.positions), std::span<const float>(elements.speeds));
        });
        round.check(hash_bytes(std::as_bytes(std::span(elements.positions))));
    };
}

void add_tbb(Case& measured, Elements& elements, std::size_t grain) {
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
        measured.peer(peer.name, tbb_peer::version(), stepping(elements, step));
    }
}

void measure_grain(Session& session, JobPool& pool, Elements& elements, std::size_t grain, Split split) {
    const std::string how = split == Split::even ? ", even" : "";
    const std::string count = std::to_string(elements.positions.size());
    Case measured = session.measure(count + " elements, grain " + std::to_string(grain) + how, kMicroseconds);
    const auto step = [&pool, grain, split](auto positions, auto speeds) {
        parallel_for(
            pool, positions.size(), grain,
            [&](std::size_t begin, std::size_t end) { integrate(positions, speeds, begin, end); }, split);
    };
    measured.ours(stepping(elements, step));
    add_tbb(measured, elements, grain);
    measured
        .bound("a serial loop",
               stepping(elements, [](auto positions,
                                     auto speeds) { integrate(positions, speeds, 0, positions.size()); }))
        .bar(ratio_at_most(1.0))
        .operations(session.sized(10, 2))
        .on_any_core()
        .run();
}

}  // namespace

void measure_loops(Session& session) {
    JobPool pool = must(JobPool::create(), "pool");
    Elements elements(session.sized(1'000'000, 20'000));
    for (const std::size_t grain : {64U, 256U, 1024U, 4096U})
        measure_grain(session, pool, elements, grain, Split::dynamic);
    measure_grain(session, pool, elements, 4096, Split::even);
}

}  // namespace ouro::bench
