#include "harness/measure.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::bench {
namespace {

Candidate recorded(const std::string& name, std::vector<std::string>& turns) {
    return {name, [&turns, name](Round& round) {
                turns.push_back(name);
                round.add_time(1);
            }};
}

Candidate answering(const std::string& name, std::vector<std::uint64_t> checksums) {
    return {name, [checksums, turn = std::size_t{0}](Round& round) mutable {
                round.add_time(1);
                round.check(checksums[turn++ % checksums.size()]);
            }};
}

TEST(Measure, CandidatesTakeTurnsAndEachRoundStartsWithAnother) {
    std::vector<std::string> turns;
    const std::vector<Candidate> candidates{recorded("a", turns), recorded("b", turns), recorded("c", turns)};
    const auto outcomes = run_alternating(candidates, {.rounds = 3, .operations = 1}, {});
    EXPECT_EQ(outcomes.size(), 3U);
    const std::vector<std::string> expected{"a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"};
    EXPECT_EQ(turns, expected);
}

TEST(Measure, TheObserverSeesEveryTurnAndTheWarmUpAsRoundZero) {
    std::vector<std::string> turns;
    const std::vector<Candidate> candidates{recorded("a", turns), recorded("b", turns)};
    std::vector<std::pair<unsigned, std::string>> seen;
    (void)run_alternating(candidates, {.rounds = 1, .operations = 1},
                          [&](unsigned round, const Candidate& c) { seen.emplace_back(round, c.name); });
    const std::vector<std::pair<unsigned, std::string>> expected{{0, "a"}, {0, "b"}, {1, "b"}, {1, "a"}};
    EXPECT_EQ(seen, expected);
}

TEST(Measure, TheWarmUpDoesNotCount) {
    double next = 1;
    const std::vector<Candidate> candidates{{"slower each time", [&](Round& round) {
                                                 round.add_time(next * 10);
                                                 next += 1;
                                             }}};
    // Two operations a round: the warm-up's 10 ns are dropped, the rounds have 20, 30 and 40 ns.
    EXPECT_EQ(run_alternating(candidates, {.rounds = 3, .operations = 2}, {})[0].ns, 10);
    next = 1;
    const Plan median{.rounds = 3, .operations = 2, .statistic = Statistic::median};
    EXPECT_EQ(run_alternating(candidates, median, {})[0].ns, 15);
}

TEST(Measure, TheFirstCandidateSetsTheNumberOfOperationsForAll) {
    std::vector<std::uint64_t> asked_of_second;
    const std::vector<Candidate> candidates{
        {"10 ns each", [](Round& round) { round.add_time(10.0 * static_cast<double>(round.operations())); }},
        {"second", [&](Round& round) {
             asked_of_second.push_back(round.operations());
             round.add_time(1);
         }}};
    (void)run_alternating(candidates, {.rounds = 2, .target_ns = 50'000}, {});
    EXPECT_EQ(asked_of_second, (std::vector<std::uint64_t>{5'000, 5'000, 5'000}));
}

TEST(Measure, CalibrationEndsForWorkThatTakesNoTime) {
    const std::vector<Candidate> candidates{{"nothing", [](Round&) {}}};
    EXPECT_EQ(run_alternating(candidates, {.rounds = 1}, {})[0].ns, 0);
}

TEST(Measure, DifferentResultsOfCandidatesAreAnError) {
    const std::vector<Candidate> candidates{answering("a", {7}), answering("b", {8})};
    EXPECT_THROW((void)run_alternating(candidates, {.rounds = 1, .operations = 1}, {}), std::runtime_error);
    const Plan allowed{.rounds = 1, .operations = 1, .same_results = false};
    EXPECT_NO_THROW((void)run_alternating(candidates, allowed, {}));
}

TEST(Measure, ACandidateMustAgreeWithItself) {
    const std::vector<Candidate> candidates{answering("fickle", {7, 8})};
    const Plan plan{.rounds = 1, .operations = 1, .same_results = false};
    EXPECT_THROW((void)run_alternating(candidates, plan, {}), std::runtime_error);
}

TEST(Measure, ACandidateWithoutChecksumIsNotCompared) {
    std::vector<std::string> turns;
    const std::vector<Candidate> candidates{answering("a", {7}), recorded("b", turns)};
    EXPECT_NO_THROW((void)run_alternating(candidates, {.rounds = 1, .operations = 1}, {}));
}

TEST(Measure, RepeatCallsEachOperationOnceAndSumsTheResults) {
    Round round(5);
    repeat([](std::uint64_t i) { return i; })(round);
    EXPECT_EQ(round.checksum(), 10U);

    std::uint64_t calls = 0;
    Round silent(5);
    repeat([&](std::uint64_t) { ++calls; })(silent);
    EXPECT_EQ(calls, 5U);
    EXPECT_FALSE(silent.checksum().has_value());
}

TEST(Measure, MemoryIsPassedOn) {
    const std::vector<Candidate> candidates{{"a", [](Round& round) { round.use_memory(4096); }}};
    EXPECT_EQ(run_alternating(candidates, {.rounds = 1, .operations = 1}, {})[0].memory_bytes, 4096U);
}

TEST(Measure, MedianOfAnEvenNumberIsTheMiddle) {
    EXPECT_EQ(summarize({4, 1, 3, 2}, Statistic::median), 2.5);
    EXPECT_EQ(summarize({4, 1, 3, 2}, Statistic::minimum), 1);
}

}  // namespace
}  // namespace ouro::bench
