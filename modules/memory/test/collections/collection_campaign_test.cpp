// Collections of all kinds that share one resource, a random composition with a budget, grow, shrink, end
// and begin again, each beside its model. What the resource refuses leaves them as they were, and at the end
// nothing is left behind.
#include "campaign.hpp"
#include "collection_kinds.hpp"
#include "composition.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::CapacityPool;
using ouro::MemoryResource;
using ouro::Random;
using ouro::Status;
using ouro::TaggedAllocator;
using ouro::testing_support::collection_kinds;
using ouro::testing_support::CollectionModel;
using ouro::testing_support::Composition;
using ouro::testing_support::first_seed;
using ouro::testing_support::FreeOrder;
using ouro::testing_support::kKibibyte;
using ouro::testing_support::one_of;
using ouro::testing_support::random_composition;
using ouro::testing_support::RoundResult;
using ouro::testing_support::run_rounds;
using ouro::testing_support::share_of_operations;
using ouro::testing_support::Tracked;

constexpr std::uint64_t kLongOperations = 50'000'000;
constexpr std::uint64_t kSliceOperations = 600'000;
constexpr std::uint64_t kRoundOperations = 5'000;
constexpr std::uint64_t kCases = 8;

// Several collections that live at once.
class Zoo {
public:
    Zoo(MemoryResource& resource, Random& random) : resource_(resource), random_(random) {
        models_.resize(1 + random.below(10));
        for (auto& model : models_)
            replace(model);
    }

    void step() {
        auto& model = models_[random_.below(static_cast<std::uint32_t>(models_.size()))];
        if (random_.chance(0.005)) return replace(model);
        const std::uint64_t refusals = model->refusals();
        ASSERT_NO_FATAL_FAILURE(model->step());
        const bool is_refused = model->refusals() != refusals;
        refusals_ += is_refused ? 1U : 0U;
        refusals_in_a_row_ = is_refused ? refusals_in_a_row_ + 1 : 0;
        if (is_refused) model->verify();
    }
    void verify() {
        for (auto& model : models_)
            ASSERT_NO_FATAL_FAILURE(model->verify());
    }
    [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
    [[nodiscard]] std::uint64_t refusals_in_a_row() const { return refusals_in_a_row_; }

private:
    void replace(std::unique_ptr<CollectionModel>& model) {
        if (model != nullptr) {
            ASSERT_NO_FATAL_FAILURE(model->verify());
        }
        model.reset();
        const auto kinds = collection_kinds();
        model =
            kinds[random_.below(static_cast<std::uint32_t>(kinds.size()))].make(resource_, random_.next());
    }

    MemoryResource& resource_;
    Random& random_;
    std::vector<std::unique_ptr<CollectionModel>> models_;
    std::uint64_t refusals_ = 0;
    std::uint64_t refusals_in_a_row_ = 0;
};

// Random calls until the operations are done, or until a resource that frees nothing is full.
RoundResult use_collections(Composition& built, CapacityPool& pool, MemoryResource& resource, Random& random,
                            std::uint64_t operations) {
    constexpr std::uint64_t kChecks = 10;
    constexpr std::uint64_t kFull = 20;
    RoundResult done;
    Zoo zoo(resource, random);
    const bool frees_blocks = built.resource().info().frees_blocks;
    while (done.operations < operations && (frees_blocks || zoo.refusals_in_a_row() < kFull)) {
        zoo.step();
        if (random.chance(0.001)) pool.trim(random.below(2) * 64 * kKibibyte);
        if (++done.operations % (kRoundOperations / kChecks) == 0) {
            zoo.verify();
            EXPECT_EQ(pool.check(), Status::ok);
            EXPECT_EQ(built.resource().check(), Status::ok);
        }
        if (testing::Test::HasFailure()) break;
    }
    zoo.verify();
    done.refusals = zoo.refusals();
    return done;
}

RoundResult run_round(const std::string& text, std::uint64_t seed, std::uint64_t operations) {
    Random random(seed, 2);
    Composition built(text, one_of(random, std::array{kKibibyte, 4 * kKibibyte}) * kKibibyte);
    if (!built.is_built()) return {};
    TaggedAllocator tagged(built.resource(),
                           {.name = "collections",
                            .budget_bytes = one_of(random, std::array{4 * kKibibyte, 100 * kKibibyte,
                                                                      TaggedAllocator::kNoBudget})});
    RoundResult done;
    {
        CapacityPool pool(tagged,
                          {.largest_block_bytes = 64 * kKibibyte,
                           .max_kept_bytes = one_of(random, std::array{kKibibyte, 4096 * kKibibyte})});
        MemoryResource& resource = random.chance(0.5) ? static_cast<MemoryResource&>(pool) : tagged;
        done = use_collections(built, pool, resource, random, operations);
        EXPECT_EQ(pool.stats().live_blocks, 0U);
        EXPECT_EQ(pool.check(), Status::ok);
    }
    EXPECT_EQ(Tracked::live, 0);
    EXPECT_EQ(tagged.counts().live_blocks, 0U);
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
    EXPECT_EQ(built.resource().check(), Status::ok);
    return done;
}

class CollectionCampaign : public testing::TestWithParam<std::uint64_t> {};

// The first case begins with the seed itself: it is the one to reproduce a failure with.
TEST_P(CollectionCampaign, MatchesTheModels) {
    run_rounds(
        {.first_seed = first_seed() + GetParam(),
         .seed_step = kCases,
         .operations = share_of_operations(kSliceOperations, kLongOperations, kCases),
         .round_operations = kRoundOperations},
        [](std::uint64_t seed) { return random_composition(seed, FreeOrder::any); }, run_round);
}

INSTANTIATE_TEST_SUITE_P(Cases, CollectionCampaign, testing::Range(std::uint64_t{0}, kCases));

}  // namespace
