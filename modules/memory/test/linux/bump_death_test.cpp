#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::StackAllocator;

TEST(StackAllocatorDeath, TheWrongOrderIsCaught) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto first = stack->allocate(64);
    const auto second = stack->allocate(64);
    ASSERT_TRUE(first && second);
    EXPECT_DEATH(stack->deallocate(*first), "newest block only");
    EXPECT_DEATH((void)stack->reallocate(*first, 128), "newest block only");
    stack->deallocate(*second);
    EXPECT_DEATH(stack->deallocate(*second), "newest block only");
}

TEST(StackAllocatorDeath, AStaleMarkerIsCaught) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto low = stack->mark();
    ASSERT_TRUE(stack->allocate(64));
    const auto high = stack->mark();
    stack->pop_to(low);
    EXPECT_DEATH(stack->pop_to(high), "freed already");
}

TEST(FrameAllocatorDeath, TheGuardBehindTheEndFaults) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    const auto block = frame->allocate(65536);
    ASSERT_TRUE(block);
    volatile auto* behind = reinterpret_cast<volatile unsigned char*>(block->end());
    EXPECT_DEATH(*behind = 1, "");
}

TEST(FrameAllocatorDeath, AStaleMarkerIsCaught) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(64));
    const auto marker = frame->mark();
    frame->reset();
    EXPECT_DEATH(frame->rewind(marker), "freed already");
}

}  // namespace
