#include "resource_model.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::LocalPoolAllocator;
using ouro::MemoryBlock;
using ouro::PoolAllocator;
using ouro::Status;

// Named by types of the test's own, because the library's have no run-time type information.
struct FreedAnywhere {
    using Pool = PoolAllocator;
};
struct OneThread {
    using Pool = LocalPoolAllocator;
};
template <class Kind>
class Pools : public testing::Test {};
using BothPools = testing::Types<FreedAnywhere, OneThread>;
TYPED_TEST_SUITE(Pools, BothPools);

template <class Pool>
std::vector<MemoryBlock> take(Pool& pool, std::size_t count) {
    std::vector<MemoryBlock> blocks;
    for (std::size_t i = 0; i < count; ++i) {
        const auto block = pool.allocate_block();
        EXPECT_TRUE(block);
        if (!block) break;
        blocks.push_back(*block);
    }
    return blocks;
}

template <class Pool>
void give(Pool& pool, const std::vector<MemoryBlock>& blocks) {
    for (const MemoryBlock block : blocks)
        pool.deallocate(block);
}

TYPED_TEST(Pools, GivesTheWholeBlockAndTakesTheLastOneFirst) {
    auto pool = TypeParam::Pool::create({.block_bytes = 64, .max_blocks = 1000});
    ASSERT_TRUE(pool);
    const auto first = pool->allocate(1);
    const auto second = pool->allocate(64);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->size, 64U);
    EXPECT_EQ(second->data, first->data + 64);
    pool->deallocate(*second);
    pool->deallocate(*first);
    EXPECT_EQ(pool->allocate(10)->data, first->data);
    EXPECT_EQ(pool->allocate(10)->data, second->data);
    EXPECT_EQ(pool->stats().live_blocks, 2U);
    EXPECT_EQ(pool->check(), Status::ok);
}

TYPED_TEST(Pools, RefusesWhatDoesNotFitABlock) {
    auto pool = TypeParam::Pool::create({.block_bytes = 48, .alignment = 16, .max_blocks = 4});
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->allocate(0, 16).status(), Status::zero_size);
    EXPECT_EQ(pool->allocate(49, 16).status(), Status::capacity_exhausted);
    EXPECT_EQ(pool->allocate(SIZE_MAX / 2, 16).status(), Status::capacity_exhausted);
    EXPECT_EQ(pool->allocate(16, 32).status(), Status::bad_alignment);
    EXPECT_EQ(pool->allocate(16, 24).status(), Status::bad_alignment);
    EXPECT_EQ(pool->allocate(16, 0).status(), Status::bad_alignment);
    EXPECT_EQ(pool->stats().failures, 6U);
    EXPECT_EQ(pool->stats().live_blocks, 0U);
    EXPECT_TRUE(pool->allocate(48, 16));
    EXPECT_TRUE(pool->allocate(1, 1));
}

TYPED_TEST(Pools, ReallocatesInPlaceOrNotAtAll) {
    auto pool = TypeParam::Pool::create({.block_bytes = 64, .max_blocks = 4});
    ASSERT_TRUE(pool);
    const auto block = pool->reallocate({}, 10);
    ASSERT_TRUE(block);
    std::memset(block->data, 7, block->size);
    const auto larger = pool->reallocate(*block, 64);
    ASSERT_TRUE(larger);
    EXPECT_EQ(larger->data, block->data);
    EXPECT_EQ(pool->reallocate(*block, 65).status(), Status::capacity_exhausted);
    EXPECT_EQ(pool->reallocate(*block, 0).status(), Status::zero_size);
    EXPECT_EQ(static_cast<int>(block->data[63]), 7);
    EXPECT_EQ(pool->stats().live_blocks, 1U);
    pool->deallocate({});
}

TYPED_TEST(Pools, ExhaustionIsAStatusAndPasses) {
    auto pool = TypeParam::Pool::create({.block_bytes = 24, .alignment = 8, .max_blocks = 777});
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->block_bytes(), 24U);
    const auto blocks = take(*pool, 777);
    ASSERT_EQ(blocks.size(), 777U);
    EXPECT_EQ(pool->allocate_block().status(), Status::capacity_exhausted);
    EXPECT_EQ(pool->stats().live_bytes, 777U * 24U);
    EXPECT_EQ(pool->check(), Status::ok);
    pool->deallocate(blocks[300]);
    EXPECT_EQ(pool->allocate_block()->data, blocks[300].data);
    EXPECT_EQ(pool->allocate_block().status(), Status::capacity_exhausted);
}

TYPED_TEST(Pools, BlocksAreAlignedAsPromised) {
    for (std::size_t alignment = 1; alignment <= 4 * ouro::os::page_size(); alignment *= 4) {
        SCOPED_TRACE("alignment " + std::to_string(alignment));
        auto pool = TypeParam::Pool::create({.block_bytes = 40, .alignment = alignment, .max_blocks = 20});
        auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{16} << 20});
        ASSERT_TRUE(pool && frame);
        ASSERT_TRUE(frame->allocate(16));
        auto on_frame =
            TypeParam::Pool::create_on(*frame, {.block_bytes = 40, .alignment = alignment, .max_blocks = 20});
        ASSERT_TRUE(on_frame);
        for (int i = 0; i < 20; ++i) {
            const auto own = pool->allocate(40, alignment);
            const auto borrowed = on_frame->allocate(40, alignment);
            ASSERT_TRUE(own && borrowed);
            EXPECT_TRUE(ouro::is_aligned(own->data, alignment));
            EXPECT_TRUE(ouro::is_aligned(borrowed->data, alignment));
        }
        EXPECT_FALSE(on_frame->allocate_block());
    }
}

TYPED_TEST(Pools, SenselessOptionsHaveTheirStatus) {
    EXPECT_EQ(TypeParam::Pool::create({.block_bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(TypeParam::Pool::create({.max_blocks = 0}).status(), Status::zero_size);
    EXPECT_EQ(TypeParam::Pool::create({.alignment = 24}).status(), Status::bad_alignment);
    EXPECT_EQ(TypeParam::Pool::create({.block_bytes = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(TypeParam::Pool::create({.max_blocks = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(TypeParam::Pool::create({.initial_blocks = 2, .max_blocks = 1}).status(), Status::bad_argument);
    EXPECT_EQ(TypeParam::Pool::create({.growth_factor = 0.5}).status(), Status::bad_argument);
    EXPECT_EQ(TypeParam::Pool::create({.growth_factor = std::numeric_limits<double>::quiet_NaN()}).status(),
              Status::bad_argument);
    auto small = ouro::FrameAllocator::create({.max_bytes = 1});
    ASSERT_TRUE(small);
    EXPECT_EQ(TypeParam::Pool::create_on(*small, {}).status(), Status::capacity_exhausted);
}

TYPED_TEST(Pools, CountsWhatItDid) {
    auto pool = TypeParam::Pool::create({.name = "counted", .block_bytes = 64, .max_blocks = 100'000});
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->info().name, "counted");
    auto blocks = take(*pool, 10'000);
    give(*pool, blocks);
    blocks = take(*pool, 5'000);
    const auto stats = pool->stats();
    EXPECT_EQ(stats.allocations, 15'000U);
    EXPECT_EQ(stats.live_blocks, 5'000U);
    EXPECT_EQ(stats.peak_bytes, 10'000U * 64U);
    const auto pool_stats = pool->pool_stats();
    EXPECT_EQ(pool_stats.fresh, 10'000U);
    EXPECT_EQ(pool_stats.reused, 5'000U);
    EXPECT_DOUBLE_EQ(pool_stats.hit_rate(), 1.0 / 3.0);
    EXPECT_GE(pool_stats.growths, 1U);
    EXPECT_EQ(pool_stats.remote_frees, 0U);
    EXPECT_EQ(pool->check(), Status::ok);
}

TYPED_TEST(Pools, GrowsByItsFactorFromItsInitialBlocks) {
    const std::size_t block = ouro::os::page_size();
    auto pool = TypeParam::Pool::create(
        {.block_bytes = block, .initial_blocks = 100, .max_blocks = 1000, .growth_factor = 3.0});
    ASSERT_TRUE(pool);
    EXPECT_GE(pool->stats().committed_bytes, 100 * block);
    EXPECT_LE(pool->stats().committed_bytes, 116 * block);
    EXPECT_EQ(pool->pool_stats().growths, 0U);
    const std::size_t before = pool->stats().committed_bytes;
    take(*pool, before / block + 1);
    EXPECT_EQ(pool->stats().committed_bytes, 3 * before);
    EXPECT_EQ(pool->pool_stats().growths, 1U);
    take(*pool, 1000 - pool->live_blocks());
    EXPECT_EQ(pool->stats().committed_bytes, 1000 * block);
}

TYPED_TEST(Pools, TrimGivesTheEndBackAndPrefersLowAddresses) {
    const std::size_t block = 256;
    auto pool = TypeParam::Pool::create({.block_bytes = block, .initial_blocks = 16, .max_blocks = 100'000});
    ASSERT_TRUE(pool);
    const auto blocks = take(*pool, 50'000);
    const std::size_t before = pool->stats().committed_bytes;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i != 1000) pool->deallocate(blocks[i]);
    }
    const std::size_t given_back = pool->trim();
    EXPECT_EQ(given_back, before - pool->stats().committed_bytes);
    EXPECT_LE(pool->stats().committed_bytes, 1001 * block + ouro::os::page_size());
    EXPECT_EQ(pool->check(), Status::ok);
    EXPECT_EQ(pool->pool_stats().shrinks, 1U);
    EXPECT_EQ(pool->stats().live_blocks, 1U);
    EXPECT_EQ(pool->stats().peak_bytes, 50'000 * block);
    for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(pool->allocate_block()->data, blocks[i].data);
    EXPECT_EQ(pool->allocate_block()->data, blocks[1001].data);
    EXPECT_EQ(pool->pool_stats().fresh, 50'001U);
    EXPECT_EQ(pool->trim(), 0U);
}

TYPED_TEST(Pools, TrimOfAnEmptyPoolKeepsTheInitialBlocks) {
    const std::size_t page = ouro::os::page_size();
    auto pool = TypeParam::Pool::create({.block_bytes = page, .initial_blocks = 64, .max_blocks = 1000});
    ASSERT_TRUE(pool);
    give(*pool, take(*pool, 900));
    EXPECT_GT(pool->trim(), 0U);
    EXPECT_EQ(pool->stats().committed_bytes, 64 * page);
    EXPECT_EQ(pool->check(), Status::ok);
    EXPECT_EQ(take(*pool, 1000).size(), 1000U);
}

TYPED_TEST(Pools, ShrinksByItselfBelowItsThreshold) {
    auto pool =
        TypeParam::Pool::create({.block_bytes = 4096, .max_blocks = 20'000, .shrink_threshold = 0.25});
    ASSERT_TRUE(pool);
    auto blocks = take(*pool, 10'000);
    const std::size_t most = pool->stats().committed_bytes;
    while (!blocks.empty()) {
        pool->deallocate(blocks.back());
        blocks.pop_back();
    }
    EXPECT_LT(pool->stats().committed_bytes, most / 8);
    EXPECT_GE(pool->pool_stats().shrinks, 2U);
    // Not at every free: each time there are half as many in use.
    EXPECT_LE(pool->pool_stats().shrinks, 16U);
    EXPECT_EQ(pool->check(), Status::ok);
}

TYPED_TEST(Pools, AResetFreesEverything) {
    auto pool = TypeParam::Pool::create({.block_bytes = 32, .max_blocks = 5000});
    ASSERT_TRUE(pool);
    const auto first = take(*pool, 5000);
    give(*pool, {first.begin(), first.begin() + 700});
    pool->reset();
    EXPECT_EQ(pool->live_blocks(), 0U);
    EXPECT_EQ(pool->check(), Status::ok);
    const auto second = take(*pool, 5000);
    ASSERT_EQ(second.size(), 5000U);
    EXPECT_EQ(second[0].data, first[0].data);
    EXPECT_EQ(pool->stats().peak_bytes, 5000U * pool->block_bytes());
    EXPECT_EQ(pool->pool_stats().fresh, 10'000U);
}

TYPED_TEST(Pools, MovesWithWhatItHolds) {
    auto made = TypeParam::Pool::create({.name = "moved", .block_bytes = 64, .max_blocks = 1000});
    ASSERT_TRUE(made);
    auto blocks = take(*made, 900);
    give(*made, {blocks.begin() + 300, blocks.end()});
    typename TypeParam::Pool pool = *std::move(made);
    EXPECT_EQ(pool.live_blocks(), 300U);
    EXPECT_EQ(pool.check(), Status::ok);
    EXPECT_TRUE(pool.owns(blocks[0].data));
    EXPECT_EQ(pool.allocate_block()->data, blocks.back().data);
    auto other = TypeParam::Pool::create({.block_bytes = 32, .max_blocks = 10});
    ASSERT_TRUE(other);
    *other = std::move(pool);
    EXPECT_EQ(other->live_blocks(), 301U);
    EXPECT_EQ(other->info().name, "moved");
    EXPECT_EQ(other->check(), Status::ok);
}

TYPED_TEST(Pools, LivesOnOtherResourcesAndReturnsItsBlock) {
    auto stack = ouro::StackAllocator::create({});
    ASSERT_TRUE(stack);
    {
        auto pool = TypeParam::Pool::create_on(*stack, {.block_bytes = 64, .max_blocks = 100});
        ASSERT_TRUE(pool);
        EXPECT_EQ(take(*pool, 100).size(), 100U);
        EXPECT_EQ(pool->allocate_block().status(), Status::capacity_exhausted);
        EXPECT_EQ(pool->trim(), 0U);
        EXPECT_EQ(stack->stats().live_blocks, 1U);
    }
    EXPECT_EQ(stack->stats().live_blocks, 0U);
}

TYPED_TEST(Pools, CheckFindsABlockFreedTwiceAndABrokenList) {
    auto pool = TypeParam::Pool::create({.block_bytes = 64, .max_blocks = 10'000});
    ASSERT_TRUE(pool);
    const auto blocks = take(*pool, 2000);
    // Enough to fill the list inside the blocks.
    give(*pool, blocks);
    ASSERT_EQ(pool->check(), Status::ok);
    std::byte saved[8];
    std::byte* const victim = blocks[100].data;
    std::memcpy(saved, victim, sizeof(saved));
    const std::byte* const nowhere = victim + 8;
    std::memcpy(victim, &nowhere, sizeof(nowhere));
    EXPECT_EQ(pool->check(), Status::corrupt_data);
    const std::byte* const itself = victim;
    std::memcpy(victim, &itself, sizeof(itself));
    EXPECT_EQ(pool->check(), Status::corrupt_data);
    std::memcpy(victim, saved, sizeof(saved));
    EXPECT_EQ(pool->check(), Status::ok);
}

TYPED_TEST(Pools, RandomCallsKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{16} << 20});
        ASSERT_TRUE(frame);
        const ouro::PoolOptions options{.block_bytes = seed % 2 == 0 ? std::size_t{8} : std::size_t{200},
                                        .alignment = seed % 2 == 0 ? std::size_t{8} : std::size_t{64},
                                        .max_blocks = 800,
                                        .shrink_threshold = seed % 3 == 0 ? 0.5 : 0.0};
        auto pool = seed < 4 ? TypeParam::Pool::create(options) : TypeParam::Pool::create_on(*frame, options);
        ASSERT_TRUE(pool);
        ouro::testing_support::ResourceModel model(
            *pool,
            {.max_size = options.block_bytes, .max_alignment = options.alignment, .max_live_blocks = 900},
            seed);
        for (int step = 0; step < 8000; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
            if (step % 3000 == 2999) pool->trim();
            ASSERT_TRUE(step % 1000 != 0 || pool->check() == Status::ok);
            ASSERT_EQ(pool->live_blocks(), model.live_blocks());
        }
        model.free_all();
        ASSERT_EQ(pool->check(), Status::ok);
        ASSERT_EQ(pool->stats().live_bytes, 0U);
    }
}

}  // namespace
