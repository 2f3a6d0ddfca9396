#include <ouro/memory/stack_allocator.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::StackAllocator;
using ouro::StackScope;

TEST(StackAllocator, FreesInOppositeOrder) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    std::vector<MemoryBlock> blocks;
    for (std::size_t i = 0; i < 100; ++i) {
        const auto block = stack->allocate(1 + i * 7, std::size_t{1} << (i % 8));
        ASSERT_TRUE(block);
        blocks.push_back(*block);
    }
    EXPECT_EQ(stack->stats().live_blocks, 100U);
    for (std::size_t i = 100; i-- > 0;)
        stack->deallocate(blocks[i], std::size_t{1} << (i % 8));
    EXPECT_EQ(stack->stats().live_blocks, 0U);
    EXPECT_EQ(stack->used_bytes(), 0U);
}

TEST(StackAllocator, ScopesNest) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    ASSERT_TRUE(stack->allocate(10));
    const auto height = stack->mark();
    {
        const StackScope outer(*stack);
        ASSERT_TRUE(stack->allocate(1000));
        {
            const StackScope inner(*stack);
            ASSERT_TRUE(stack->allocate(1000));
            EXPECT_EQ(stack->stats().live_blocks, 3U);
        }
        EXPECT_EQ(stack->stats().live_blocks, 2U);
    }
    EXPECT_EQ(stack->used_bytes(), height.used_bytes);
    EXPECT_EQ(stack->stats().live_blocks, 1U);
}

TEST(StackAllocator, TheNewestBlockChangesInPlace) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto block = stack->allocate(100);
    ASSERT_TRUE(block);
    const auto grown = stack->reallocate(*block, 100'000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, block->data);
    EXPECT_EQ(stack->stats().live_blocks, 1U);
    stack->deallocate(*grown);
    EXPECT_EQ(stack->used_bytes(), 0U);
}

}  // namespace
