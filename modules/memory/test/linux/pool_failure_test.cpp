// Pools and two-ended stacks while the system refuses.
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::PoolAllocator;
using ouro::Status;
using ouro::os::OsCall;
namespace inject = ouro::os::fault_injection;

TEST(PoolFailure, ARefusedCommitIsAStatusAndThePoolGoesOn) {
    auto pool = PoolAllocator::create({.block_bytes = 4096, .max_blocks = 1000, .growth_factor = 1.0});
    ASSERT_TRUE(pool);
    inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(pool->allocate_block().status(), Status::out_of_memory);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(pool->live_blocks(), 0U);
    EXPECT_EQ(pool->stats().failures, 1U);
    EXPECT_EQ(pool->check(), Status::ok);
    EXPECT_TRUE(pool->allocate_block());
}

TEST(PoolFailure, WhenALargeStepIsRefusedASmallOneServes) {
    auto pool = PoolAllocator::create({.block_bytes = 4096, .initial_blocks = 100, .max_blocks = 10'000});
    ASSERT_TRUE(pool);
    const std::size_t before = pool->stats().committed_bytes;
    for (std::size_t i = 0; i < before / 4096; ++i)
        ASSERT_TRUE(pool->allocate_block());
    inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
    EXPECT_TRUE(pool->allocate_block());
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_LT(pool->stats().committed_bytes, 2 * before);
    EXPECT_EQ(pool->stats().failures, 0U);
    EXPECT_EQ(pool->check(), Status::ok);
}

TEST(PoolFailure, ARefusedReturnOfMemoryHarmsNothing) {
    auto pool = PoolAllocator::create({.block_bytes = 4096, .max_blocks = 1000});
    ASSERT_TRUE(pool);
    std::vector<ouro::MemoryBlock> blocks;
    for (int i = 0; i < 500; ++i)
        blocks.push_back(*pool->allocate_block());
    for (const auto block : blocks)
        pool->deallocate(block);
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(pool->trim(), 0U);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(pool->pool_stats().shrinks, 0U);
    EXPECT_EQ(pool->check(), Status::ok);
    EXPECT_EQ(pool->allocate_block()->data, blocks[0].data);
}

TEST(PoolFailure, CreationTellsWhatWasRefused) {
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(PoolAllocator::create({}).status(), Status::out_of_address_space);
    inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(PoolAllocator::create({.initial_blocks = 1}).status(), Status::out_of_memory);
    inject::fail_nth(OsCall::map_memory, 2, ENOMEM);
    EXPECT_EQ(ouro::Pool<int>::create({}).status(), Status::out_of_address_space);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
}

TEST(PoolFailure, AnObjectIsBuiltWithItsGenerationOrNotAtAll) {
    for (std::uint64_t nth = 1; nth <= 2; ++nth) {
        auto pool = ouro::Pool<int>::create({.max_objects = 100});
        ASSERT_TRUE(pool);
        inject::fail_nth(OsCall::protect_memory, nth, ENOMEM);
        EXPECT_EQ(pool->emplace(1).status(), Status::out_of_memory);
        EXPECT_TRUE(inject::has_fired());
        inject::clear();
        EXPECT_EQ(pool->count(), 0U);
        EXPECT_EQ(pool->check(), Status::ok);
        EXPECT_TRUE(pool->begin() == pool->end());
        const auto handle = pool->emplace(2);
        ASSERT_TRUE(handle);
        EXPECT_EQ(*pool->get(*handle), 2);
    }
}

TEST(TwoEndedStackFailure, ARefusedCommitLeavesBothEndsAsTheyWere) {
    auto stack = ouro::TwoEndedStack::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    for (ouro::TwoEndedStack::End* end : {&stack->front(), &stack->back()}) {
        inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
        EXPECT_EQ(end->allocate(100).status(), Status::out_of_memory);
        inject::clear();
        EXPECT_EQ(end->used_bytes(), 0U);
        EXPECT_EQ(stack->check(), Status::ok);
        const auto block = end->allocate(200'000);
        ASSERT_TRUE(block);
        end->deallocate(*block);
        inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
        stack->trim();
        EXPECT_TRUE(inject::has_fired());
        inject::clear();
        EXPECT_EQ(stack->check(), Status::ok);
        EXPECT_TRUE(end->allocate(200'000));
    }
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(ouro::TwoEndedStack::create({}).status(), Status::out_of_address_space);
    inject::clear();
}

}  // namespace
