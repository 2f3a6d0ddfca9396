#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::SealScope;
using ouro::StackAllocator;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{1} << 20;

TEST(Seal, RefusesGrowthAndCountsIt) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes, .commit_step_bytes = 65536});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(1000));
    const std::uint64_t before = ouro::refused_growths();
    {
        const SealScope sealed;
        EXPECT_TRUE(ouro::is_sealed());
        EXPECT_TRUE(frame->allocate(1000));
        const std::size_t used = frame->used_bytes();
        EXPECT_EQ(frame->allocate(100'000).status(), Status::sealed);
        EXPECT_EQ(ouro::refused_growths(), before + 1);
        EXPECT_EQ(frame->used_bytes(), used);
        EXPECT_EQ(frame->committed_bytes(), 65536U);
        EXPECT_EQ(frame->check(), Status::ok);
        EXPECT_TRUE(frame->allocate(1000));
        // More than there ever can be is a mistake of its own.
        EXPECT_EQ(frame->allocate(2 * kBytes).status(), Status::capacity_exhausted);
    }
    EXPECT_FALSE(ouro::is_sealed());
    EXPECT_TRUE(frame->allocate(100'000));
    EXPECT_EQ(ouro::refused_growths(), before + 1);
}

TEST(Seal, HoldsForGrowthInPlaceToo) {
    auto stack = StackAllocator::create({.max_bytes = kBytes, .commit_step_bytes = 65536});
    ASSERT_TRUE(stack);
    const auto block = stack->allocate(1000);
    ASSERT_TRUE(block);
    const SealScope sealed;
    EXPECT_EQ(stack->reallocate(*block, 100'000).status(), Status::sealed);
    EXPECT_EQ(stack->try_resize(*block, 100'000).status(), Status::sealed);
    const auto grown = stack->reallocate(*block, 50'000);
    ASSERT_TRUE(grown);
    stack->deallocate(*grown);
    EXPECT_EQ(stack->used_bytes(), 0U);
}

TEST(Seal, KeepsWhatAFrameWouldGiveBack) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes, .decay_resets = 2});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(kBytes / 2));
    frame->reset();
    frame->reset();
    {
        const SealScope sealed;
        for (int i = 0; i < 10; ++i)
            frame->reset();
        EXPECT_GE(frame->committed_bytes(), kBytes / 2);
        EXPECT_TRUE(frame->allocate(kBytes / 2));
    }
    for (int i = 0; i < 10; ++i)
        frame->reset();
    EXPECT_EQ(frame->committed_bytes(), 0U);
}

TEST(Seal, ScopesLeaveAnEarlierSealAlone) {
    ouro::seal();
    ouro::seal();
    {
        const SealScope sealed;
    }
    EXPECT_TRUE(ouro::is_sealed());
    EXPECT_EQ(ouro::check_unsealed(), Status::sealed);
    ouro::unseal();
    EXPECT_FALSE(ouro::is_sealed());
    EXPECT_EQ(ouro::check_unsealed(), Status::ok);
}

}  // namespace
