#include "world_model_campaign.hpp"

#include <cstdint>

namespace ouro {
namespace {

using namespace testing_support;

// In parts that ctest runs side by side; with OURO_TEST_LONG a hundred million operations in all.
constexpr std::uint64_t kParts = 20;
constexpr std::uint64_t kSlice = 200'000;
// A tenth where everything is checked, which takes ten times as long.
constexpr std::uint64_t kCampaign = OURO_ASSERT_LEVEL == 0 ? 100'000'000 : 10'000'000;
// A world is begun anew after so many.
constexpr std::uint64_t kRoundOperations = 100'000;

ModelCounts run_world(std::uint64_t seed, std::uint64_t operations) {
    const ModelShape shape = shape_of(seed);
    EcsRig rig(shape.bytes, shape.options);
    auto pool = JobPool::create({.workers = shape.workers});
    EXPECT_TRUE(rig.is_ready() && pool);
    if (!rig.is_ready() || !pool) return {};
    return WorldCampaign(rig, shape, *pool, seed).run(operations);
}

class WorldModelParts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WorldModelParts, TheWorldIsWhatTheModelSays) {
    run_rounds({.first_seed = first_seed() + GetParam(),
                .seed_step = kParts,
                .operations = share_of_operations(kSlice, kCampaign, kParts),
                .round_operations = kRoundOperations},
               text_of_shape, [](const std::string&, std::uint64_t seed, std::uint64_t operations) {
                   const ModelCounts done = run_world(seed, operations);
                   return RoundResult{done.operations, done.refusals};
               });
}

// A campaign that does nothing would always be right.
TEST(WorldModelCampaign, DoesAllThereIsToDo) {
    const ModelCounts done = run_world(5, 40'000);
    const ModelCounts refused = run_world(3, 5'000);
    EXPECT_GT(done.ticks, 100U);
    EXPECT_GT(done.rollbacks, 10U);
    EXPECT_GT(done.futures, 2U);
    EXPECT_GT(done.looks_back, 30U);
    EXPECT_GT(done.looks_aside, 5U);
    EXPECT_GT(done.loads, 0U);
    EXPECT_GT(done.migrations, 0U);
    EXPECT_GT(done.takeovers, 1U);
    EXPECT_GT(done.events, 5'000U);
    EXPECT_GT(done.reactions, 50U);
    EXPECT_GT(done.commands, 1'000U);
    EXPECT_GT(done.skipped_commands, 200U);
    EXPECT_GT(done.stale_names, 500U);
    EXPECT_GT(done.followers, 50U);
    EXPECT_GT(done.circles, 5U);
    EXPECT_GT(done.tree_parts, 10U);
    EXPECT_GT(done.most_entities, 150U);
    EXPECT_GT(done.most_archetypes, 200U);
    EXPECT_GT(refused.refusals, 50U);
}

INSTANTIATE_TEST_SUITE_P(Campaign, WorldModelParts, testing::Range(std::uint64_t{0}, kParts));

}  // namespace
}  // namespace ouro
