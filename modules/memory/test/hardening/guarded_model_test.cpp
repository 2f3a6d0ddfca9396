// Random calls against a model, through every tier and over several upstreams.
#include "hardening/recorded_errors.hpp"
#include "hardening/reusing_resource.hpp"
#include "resource_model.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::GuardedAllocator;
using ouro::GuardOptions;
using ouro::HardeningTier;
using ouro::MemoryResource;
using ouro::StackAllocator;
using ouro::Status;
using ouro::testing_support::RecordedErrors;
using ouro::testing_support::ResourceModel;
using ouro::testing_support::ReusingResource;

constexpr std::size_t kBytes = std::size_t{16} << 20;
constexpr int kSteps = 3000;

template <HardeningTier kTier>
void drive(MemoryResource& upstream, const GuardOptions& options, bool newest_only) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RecordedErrors errors;
        {
            auto guarded = GuardedAllocator<kTier>::create_on(upstream, options);
            ASSERT_TRUE(guarded);
            ResourceModel model(*guarded, {.newest_only = newest_only}, seed);
            for (int step = 0; step < kSteps; ++step) {
                model.step();
                if (testing::Test::HasFatalFailure()) return;
                ASSERT_TRUE(step % 500 != 0 || guarded->check() == Status::ok);
            }
            ASSERT_EQ(guarded->stats().live_blocks, model.live_blocks());
            model.free_all();
            ASSERT_EQ(guarded->check(), Status::ok);
            ASSERT_EQ(guarded->stats().live_bytes, 0U);
        }
        ASSERT_EQ(RecordedErrors::take_names(), "");
        ASSERT_EQ(upstream.stats().live_blocks, 0U);
    }
}

TEST(GuardedModel, CheckedOverAReusingUpstream) {
    ReusingResource upstream(kBytes);
    drive<HardeningTier::checked>(upstream, {.max_blocks = 4096, .quarantine_blocks = 50}, false);
}

TEST(GuardedModel, CheckedOverAStack) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    drive<HardeningTier::checked>(*stack, {.max_blocks = 4096, .quarantine_blocks = 0}, true);
}

TEST(GuardedModel, HardenedWithEveryBlockGuarded) {
    ReusingResource upstream(kBytes);
    // Fewer slots than blocks, so that some are checked only.
    drive<HardeningTier::hardened>(upstream, {.max_blocks = 4096, .quarantine_blocks = 50, .guard_slots = 64},
                                   false);
}

TEST(GuardedModel, HardenedWithAFewGuarded) {
    ReusingResource upstream(kBytes);
    drive<HardeningTier::hardened>(
        upstream, {.max_blocks = 4096, .sample_every = 7, .guard_side = ouro::GuardSide::alternating}, false);
}

TEST(GuardedModel, ASampledReleaseLooksAtNothingElse) {
    ReusingResource upstream(kBytes);
    const RecordedErrors errors;
    {
        auto guarded = GuardedAllocator<HardeningTier::hardened>::create_on(
            upstream, {.sample_every = 5, .check_unsampled = false, .guard_slots = 16});
        ASSERT_TRUE(guarded);
        ResourceModel model(*guarded, {}, 1);
        for (int step = 0; step < kSteps; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
        }
        ASSERT_EQ(guarded->stats().live_blocks, model.live_blocks());
        ASSERT_EQ(guarded->check(), Status::ok);
        model.free_all();
    }
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(upstream.stats().live_blocks, 0U);
}

}  // namespace
