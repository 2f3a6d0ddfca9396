// Random calls on every strategy and on random compositions of them, each byte checked.
#include "campaign.hpp"

#include "composition.hpp"
#include "resource_model.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/two_ended_stack.hpp>

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
using ouro::testing_support::campaign_table;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
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
// How often memory goes back or all is freed at once.
constexpr std::uint32_t kStepsBetweenWhole = 400;

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
    limits.uses_marks = random.chance(0.5);
    return limits;
}

// Memory goes back, or everything is freed at once, where the resource can.
void change_as_a_whole(Composition& built, ResourceModel& model, Random& random) {
    if (random.chance(0.8)) return built.give_back();
    model.verify_all();
    if (built.start_over()) model.forget_all();
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
        if (shape.below(kStepsBetweenWhole) == 0) change_as_a_whole(built, model, shape);
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

// One of them drives the two ends of a stack.
std::uint64_t case_count() {
    return campaign_table().size() + kRandomCases + 1;
}

// The composition for a seed is its own for each round of the random ones.
template <class TextFor>
void run_case(std::uint64_t seed, std::uint64_t seed_step, TextFor text_for) {
    run_rounds({.first_seed = seed,
                .seed_step = seed_step,
                .operations = share_of_operations(kSliceOperations, kLongOperations, case_count()),
                .round_operations = kRoundOperations},
               text_for, run_round);
}

class Campaign : public testing::TestWithParam<std::string> {};

TEST_P(Campaign, EveryByteIsKept) {
    run_case(first_seed(), 1, [](std::uint64_t) { return GetParam(); });
}

INSTANTIATE_TEST_SUITE_P(Compositions, Campaign, testing::ValuesIn(campaign_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

class RandomCampaign : public testing::TestWithParam<std::uint64_t> {};

// The first case begins with the seed itself: it is the one to reproduce a failure with.
TEST_P(RandomCampaign, EveryByteIsKept) {
    run_case(first_seed() + GetParam(), kRandomCases,
             [](std::uint64_t seed) { return random_composition(seed); });
}

// Two models, each with an end; what one of them writes beyond its own is the other's.
RoundResult run_both_ends(const std::string&, std::uint64_t seed, std::uint64_t operations) {
    Random shape(seed, 3);
    const std::size_t bytes = one_of(shape, std::array{std::size_t{16}, std::size_t{256}}) * kKibibyte;
    auto stack = ouro::TwoEndedStack::create({.max_bytes = bytes});
    if (!stack) {
        ADD_FAILURE() << "cannot create the stack";
        return {};
    }
    const ResourceModel::Limits limits{.max_size = one_of(shape, std::array{std::size_t{100}, bytes / 32}),
                                       .max_alignment = 64,
                                       .max_live_blocks = 100,
                                       .rare_size = bytes / 3,
                                       .newest_only = true,
                                       .uses_marks = shape.chance(0.5)};
    ResourceModel front(stack->front(), limits, seed);
    ResourceModel back(stack->back(), limits, seed + 1);
    for (std::uint64_t done = 0; done < operations; ++done) {
        (shape.chance(0.5) ? front : back).step();
        if (shape.below(kStepsBetweenWhole) == 0) stack->trim();
        if (testing::Test::HasFailure()) return {};
    }
    for (ResourceModel* const model : {&front, &back}) {
        model->verify_all();
        model->free_all();
    }
    EXPECT_EQ(stack->front().check(), Status::ok);
    EXPECT_EQ(stack->back().check(), Status::ok);
    EXPECT_EQ(stack->front().stats().live_blocks + stack->back().stats().live_blocks, 0U);
    return {operations, front.refusals() + back.refusals()};
}

TEST(CampaignOfBothEnds, EveryByteIsKept) {
    run_rounds(
        {.first_seed = first_seed(),
         .seed_step = 1,
         .operations = share_of_operations(kSliceOperations, kLongOperations, case_count()),
         .round_operations = kRoundOperations},
        [](std::uint64_t) { return std::string("both ends of a stack"); }, run_both_ends);
}

// Where there are marks the models do free to them.
TEST(CampaignOfMarks, EveryByteIsKept) {
    for (const std::string text : {"frame", "huge", "stack", "two_ended_back", "two_ended_front",
                                   "tagged(frame)", "fallback(stack)", "guarded_checked(tagged(stack))"}) {
        SCOPED_TRACE(text);
        Composition built(text, kKibibyte * kKibibyte);
        ASSERT_TRUE(built.is_built());
        ResourceModel::Limits limits = built.limits();
        limits.uses_marks = true;
        ResourceModel model(built.resource(), limits, first_seed());
        for (int step = 0; step < 5000 && !HasFailure(); ++step)
            model.step();
        EXPECT_GT(model.freed_marks(), 10U);
        if (built.resource().info().frees_blocks) {
            EXPECT_EQ(built.resource().stats().live_blocks, model.live_blocks());
        }
        model.verify_all();
        model.free_all();
        EXPECT_EQ(built.resource().check(), Status::ok);
    }
}

// Of what the random ones are made of, that which is easily left out.
TEST(RandomCompositions, HoldPoolsAndChainsThatBeginWithOne) {
    std::vector<std::string> all;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed)
        all.push_back(random_composition(seed));
    for (const std::string part : {"pool", "fallback(pool,", "local_pool", "object_pool", "tlsf_growing(",
                                   "tlsf_regions", "tlsf_heap", "capacity_pool("}) {
        const auto holds = [&](const std::string& text) { return text.find(part) != std::string::npos; };
        EXPECT_TRUE(std::ranges::any_of(all, holds)) << part;
    }
}

std::vector<std::uint64_t> case_numbers() {
    std::vector<std::uint64_t> numbers(kRandomCases);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

INSTANTIATE_TEST_SUITE_P(Cases, RandomCampaign, testing::ValuesIn(case_numbers()));

}  // namespace
