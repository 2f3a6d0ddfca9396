#include "harness/measure.hpp"

#include <algorithm>
#include <stdexcept>

namespace ouro::bench {
namespace {

struct Samples {
    std::vector<double> ns;
    std::optional<std::uint64_t> checksum;
    std::optional<std::uint64_t> memory_bytes;
};

double time_of(const Candidate& candidate, std::uint64_t operations) {
    Round round(operations);
    candidate.work(round);
    return round.elapsed_ns();
}

std::uint64_t calibrate(const Candidate& candidate, double target_ns) {
    // A clock that stands still must not make this endless.
    constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 32;
    std::uint64_t operations = 1;
    while (operations < kMostOperations) {
        // The better of two, since one may have been interrupted.
        const double elapsed_ns = std::min(time_of(candidate, operations), time_of(candidate, operations));
        if (elapsed_ns >= target_ns / 2) {
            const double scaled = static_cast<double>(operations) * target_ns / elapsed_ns;
            return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(scaled));
        }
        const double growth = target_ns / std::max(elapsed_ns, 1.0);
        operations *= static_cast<std::uint64_t>(std::clamp(growth, 2.0, 10.0));
    }
    return operations;
}

void require_same(std::optional<std::uint64_t>& expected, std::optional<std::uint64_t> found,
                  const std::string& name) {
    if (!found) return;
    if (expected && *expected != *found)
        throw std::runtime_error("'" + name + "' computed " + std::to_string(*found) + " where " +
                                 std::to_string(*expected) + " was expected: the figures would not compare");
    expected = found;
}

void take_turn(const Candidate& candidate, std::uint64_t operations, bool counts, Samples& samples) {
    Round round(operations);
    candidate.work(round);
    require_same(samples.checksum, round.checksum(), candidate.name);
    if (!counts) return;
    samples.ns.push_back(round.elapsed_ns() / static_cast<double>(operations));
    if (round.memory_bytes()) samples.memory_bytes = round.memory_bytes();
}

}  // namespace

double summarize(std::vector<double> values, Statistic statistic) {
    std::sort(values.begin(), values.end());
    if (statistic == Statistic::minimum) return values.front();
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<Outcome> run_alternating(std::span<const Candidate> candidates, const Plan& plan,
                                     const TurnObserver& observer) {
    if (candidates.empty()) return {};
    const std::uint64_t operations =
        plan.operations != 0 ? plan.operations : calibrate(candidates.front(), plan.target_ns);
    std::vector<Samples> samples(candidates.size());
    for (unsigned round = 0; round <= plan.rounds; ++round) {
        for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
            const std::size_t chosen = (round + turn) % candidates.size();
            if (observer) observer(round, candidates[chosen]);
            take_turn(candidates[chosen], operations, round != 0, samples[chosen]);
        }
    }
    std::optional<std::uint64_t> common;
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (plan.same_results) require_same(common, samples[i].checksum, candidates[i].name);
        outcomes.push_back({summarize(std::move(samples[i].ns), plan.statistic), samples[i].memory_bytes});
    }
    return outcomes;
}

}  // namespace ouro::bench
