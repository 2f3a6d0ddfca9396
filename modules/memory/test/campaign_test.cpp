// Random calls on every strategy and on random compositions of them, each byte checked.
#include "campaign.hpp"

#include "composition.hpp"
#include "resource_model.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::Status;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
using ouro::testing_support::composition_table;
using ouro::testing_support::first_seed;
using ouro::testing_support::kKibibyte;
using ouro::testing_support::one_of;
using ouro::testing_support::random_composition;
using ouro::testing_support::ResourceModel;
using ouro::testing_support::RoundResult;
using ouro::testing_support::run_rounds;
using ouro::testing_support::share_of_operations;

constexpr std::uint64_t kLongOperations = 100'000'000;
constexpr std::uint64_t kSliceOperations = 1'000'000;
constexpr std::uint64_t kRoundOperations = 20'000;
// A case is a test of its own, with its own seeds, so that they can run side by side.
constexpr std::uint64_t kRandomCases = 24;

// From a few large blocks to many small ones, with and without room to spare.
ResourceModel::Limits random_limits(const Composition& built, std::size_t bytes, Random& random) {
    ResourceModel::Limits limits = built.limits();
    const auto& traits = built.traits();
    limits.max_size = std::min(traits.max_size, one_of(random, std::array{std::size_t{40}, std::size_t{300},
                                                                          2 * kKibibyte, 20 * kKibibyte}));
    limits.max_alignment = std::min(
        traits.max_alignment, one_of(random, std::array{std::size_t{16}, std::size_t{256}, 4 * kKibibyte}));
    limits.max_live_blocks =
        one_of(random, std::array{std::size_t{5}, std::size_t{50}, std::size_t{200}, std::size_t{500}});
    limits.rare_size =
        std::min(traits.max_size, one_of(random, std::array{std::size_t{0}, bytes / 16, bytes / 3}));
    return limits;
}

// Random calls until the operations are done, or until a resource that frees nothing is full.
RoundResult run_round(const std::string& text, std::uint64_t seed, std::uint64_t operations) {
    constexpr std::uint64_t kChecks = 8;
    constexpr std::size_t kFull = 100;
    Random shape(seed, 1);
    const std::size_t bytes = one_of(shape, std::array{kKibibyte, 4 * kKibibyte}) * kKibibyte;
    Composition built(text, bytes);
    if (!built.is_built()) return {};
    const bool frees_blocks = built.resource().info().frees_blocks;
    ResourceModel model(built.resource(), random_limits(built, bytes, shape), seed);
    std::uint64_t done = 0;
    while (done < operations && (frees_blocks || model.refusals_in_a_row() < kFull)) {
        model.step();
        ++done;
        if (done % (kRoundOperations / kChecks) == 0) {
            EXPECT_EQ(built.resource().check(), Status::ok);
            model.verify_all();
        }
        if (testing::Test::HasFailure()) return {};
    }
    model.verify_all();
    model.free_all();
    EXPECT_EQ(built.resource().check(), Status::ok);
    return {done, model.refusals()};
}

// The composition for a seed is its own for each round of the random ones.
template <class TextFor>
void run_case(std::uint64_t seed, std::uint64_t seed_step, TextFor text_for) {
    const std::uint64_t cases = composition_table().size() + kRandomCases;
    run_rounds({.first_seed = seed,
                .seed_step = seed_step,
                .operations = share_of_operations(kSliceOperations, kLongOperations, cases),
                .round_operations = kRoundOperations},
               text_for, run_round);
}

class Campaign : public testing::TestWithParam<std::string> {};

TEST_P(Campaign, EveryByteIsKept) {
    run_case(first_seed(), 1, [](std::uint64_t) { return GetParam(); });
}

INSTANTIATE_TEST_SUITE_P(Compositions, Campaign, testing::ValuesIn(composition_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

class RandomCampaign : public testing::TestWithParam<std::uint64_t> {};

// The first case begins with the seed itself: it is the one to reproduce a failure with.
TEST_P(RandomCampaign, EveryByteIsKept) {
    run_case(first_seed() + GetParam(), kRandomCases,
             [](std::uint64_t seed) { return random_composition(seed); });
}

std::vector<std::uint64_t> case_numbers() {
    std::vector<std::uint64_t> numbers(kRandomCases);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

INSTANTIATE_TEST_SUITE_P(Cases, RandomCampaign, testing::ValuesIn(case_numbers()));

}  // namespace
