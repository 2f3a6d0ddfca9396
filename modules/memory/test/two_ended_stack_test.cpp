#include "resource_model.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TwoEndedStack;
using ouro::testing_support::ResourceModel;

constexpr std::size_t kBytes = std::size_t{1} << 20;
// What sizes are rounded up to.
constexpr std::size_t kUnit = ouro::kDefaultAlignment;

TEST(TwoEndedStack, TheEndsGrowTowardsEachOther) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const auto front = stack->front().allocate(100);
    const auto back = stack->back().allocate(100);
    ASSERT_TRUE(front && back);
    EXPECT_EQ(front->size, ouro::align_up(100, kUnit));
    EXPECT_EQ(back->end(), front->data + kBytes);
    EXPECT_EQ(stack->front().allocate(1)->data, front->end());
    EXPECT_EQ(stack->back().allocate(1)->end(), back->data);
    EXPECT_EQ(stack->free_bytes(), kBytes - 2 * (front->size + kUnit));
    EXPECT_TRUE(stack->front().owns(back->data));
    EXPECT_EQ(stack->check(), Status::ok);
}

TEST(TwoEndedStack, TheNewestBlockOfTheFrontChangesInPlace) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    auto& front = stack->front();
    const auto older = front.allocate(100);
    const auto block = front.allocate(100, 256);
    const auto back = stack->back().allocate(100);
    ASSERT_TRUE(older && block && back);
    std::memset(block->data, 1, block->size);
    // Into memory that it did not have yet, and up to the other end.
    const std::size_t room = static_cast<std::size_t>(back->data - block->data);
    const auto grown = front.try_resize(*block, room, 256);
    ASSERT_TRUE(grown);
    EXPECT_EQ(*grown, (MemoryBlock{block->data, room}));
    EXPECT_EQ(std::count(block->data, block->data + 100, std::byte{1}), 100);
    std::memset(grown->data, 2, grown->size);
    EXPECT_EQ(front.stats().peak_bytes, front.used_bytes());
    EXPECT_EQ(front.try_resize(*grown, room + 1, 256).status(), Status::capacity_exhausted);
    EXPECT_EQ(front.try_resize(*grown, SIZE_MAX, 256).status(), Status::size_overflow);
    EXPECT_EQ(front.try_resize(*grown, 0, 256).status(), Status::zero_size);
    EXPECT_EQ(front.try_resize(*grown, 1, 3).status(), Status::bad_alignment);
    const auto shrunk = front.try_resize(*grown, 17, 256);
    ASSERT_TRUE(shrunk);
    EXPECT_EQ(*shrunk, (MemoryBlock{block->data, ouro::align_up(17, kUnit)}));
    EXPECT_EQ(front.allocate(1)->data, shrunk->end());
    EXPECT_EQ(stack->check(), Status::ok);
    // An older one keeps what it has.
    EXPECT_EQ(*front.try_resize(*older, older->size), *older);
    EXPECT_EQ(front.try_resize(*older, 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(front.try_resize(*older, older->size + 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(stack->check(), Status::ok);
}

TEST(TwoEndedStack, AGrowthThatTheSealForbidsChangesNothing) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes, .commit_step_bytes = 1});
    ASSERT_TRUE(stack);
    const auto block = stack->front().allocate(100);
    ASSERT_TRUE(block);
    const ouro::SealScope seal;
    EXPECT_EQ(stack->front().try_resize(*block, kBytes / 2).status(), Status::sealed);
    EXPECT_EQ(stack->front().used_bytes(), block->size);
    EXPECT_EQ(*stack->front().try_resize(*block, 50), (MemoryBlock{block->data, ouro::align_up(50, kUnit)}));
}

TEST(TwoEndedStack, ABlockOfTheBackKeepsItsSizeInPlace) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    auto& back = stack->back();
    const auto block = back.allocate(100);
    ASSERT_TRUE(block);
    const std::size_t used = back.used_bytes();
    EXPECT_EQ(*back.try_resize(*block, block->size), *block);
    EXPECT_EQ(*back.try_resize(*block, block->size - kUnit + 1), *block);
    EXPECT_EQ(back.try_resize(*block, 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(back.try_resize(*block, block->size + 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(back.used_bytes(), used);
    back.deallocate(*block);
    EXPECT_EQ(back.used_bytes(), 0U);
}

TEST(TwoEndedStack, WhereTheEndsMeetItIsExhausted) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const auto half = stack->front().allocate(kBytes / 2 + kUnit);
    ASSERT_TRUE(half);
    EXPECT_EQ(stack->back().allocate(kBytes / 2).status(), Status::capacity_exhausted);
    const auto rest = stack->back().allocate(kBytes / 2 - kUnit);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->data, half->end());
    std::memset(half->data, 1, half->size);
    std::memset(rest->data, 2, rest->size);
    EXPECT_EQ(stack->free_bytes(), 0U);
    EXPECT_EQ(stack->front().allocate(1).status(), Status::capacity_exhausted);
    EXPECT_EQ(stack->back().allocate(1).status(), Status::capacity_exhausted);
    EXPECT_EQ(stack->back().allocate(1, 4096).status(), Status::capacity_exhausted);
    EXPECT_EQ(stack->front().stats().failures, 1U);
    EXPECT_EQ(stack->back().stats().failures, 3U);
    EXPECT_EQ(stack->check(), Status::ok);
    // What one end gives back, the other may take.
    stack->front().deallocate(*half);
    EXPECT_TRUE(stack->back().allocate(kBytes / 2));
}

TEST(TwoEndedStack, SenselessRequestsHaveTheirStatus) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    for (TwoEndedStack::End* end : {&stack->front(), &stack->back()}) {
        EXPECT_EQ(end->allocate(0).status(), Status::zero_size);
        EXPECT_EQ(end->allocate(16, 24).status(), Status::bad_alignment);
        EXPECT_EQ(end->allocate(SIZE_MAX).status(), Status::size_overflow);
        EXPECT_EQ(end->allocate(SIZE_MAX / 2).status(), Status::capacity_exhausted);
        EXPECT_NE(end->allocate(16, SIZE_MAX / 2 + 1).status(), Status::ok);
        EXPECT_EQ(end->allocate(2 * kBytes).status(), Status::capacity_exhausted);
        const auto block = end->reallocate({}, 100, 64);
        ASSERT_TRUE(block);
        EXPECT_EQ(end->reallocate(*block, 0, 64).status(), Status::zero_size);
        EXPECT_EQ(end->reallocate(*block, 2 * kBytes, 64).status(), Status::capacity_exhausted);
        end->deallocate({});
        end->deallocate(*block, 64);
        EXPECT_EQ(end->used_bytes(), 0U);
    }
    EXPECT_EQ(TwoEndedStack::create({.max_bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(TwoEndedStack::create({.max_bytes = SIZE_MAX}).status(), Status::size_overflow);
}

TEST(TwoEndedStack, ScopesAndMarkersFreeOneEndOnly) {
    auto stack = TwoEndedStack::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const auto kept = stack->front().allocate(1000);
    ASSERT_TRUE(kept);
    {
        const TwoEndedStack::Scope scope(stack->back());
        ASSERT_TRUE(stack->back().allocate(5000, 256));
        const auto marker = stack->back().mark();
        ASSERT_TRUE(stack->back().allocate(5000));
        ASSERT_TRUE(stack->front().allocate(1000));
        stack->back().pop_to(marker);
        EXPECT_EQ(stack->back().stats().live_blocks, 1U);
    }
    EXPECT_EQ(stack->back().used_bytes(), 0U);
    EXPECT_EQ(stack->back().stats().live_blocks, 0U);
    EXPECT_GE(stack->back().stats().peak_bytes, 10'000U);
    EXPECT_EQ(stack->front().stats().live_blocks, 2U);
}

TEST(TwoEndedStack, TheNewestBlockChangesAndKeepsItsBytes) {
    for (const std::size_t alignment : {std::size_t{16}, std::size_t{256}}) {
        auto stack = TwoEndedStack::create({.max_bytes = kBytes});
        ASSERT_TRUE(stack);
        for (TwoEndedStack::End* end : {&stack->front(), &stack->back()}) {
            ASSERT_TRUE(end->allocate(48));
            auto block = end->allocate(100, alignment);
            ASSERT_TRUE(block);
            for (const std::size_t size : {300U, 60'000U, 200U, 100U}) {
                for (std::size_t i = 0; i < 100; ++i)
                    block->data[i] = static_cast<std::byte>(i + size);
                const auto before = *block;
                block = end->reallocate(before, size, alignment);
                ASSERT_TRUE(block);
                EXPECT_TRUE(ouro::is_aligned(block->data, alignment));
                for (std::size_t i = 0; i < 100; ++i)
                    ASSERT_EQ(block->data[i], static_cast<std::byte>(i + size));
            }
            end->deallocate(*block, alignment);
            EXPECT_EQ(end->used_bytes(), ouro::align_up(48, kUnit));
        }
    }
}

TEST(TwoEndedStack, CommitsFromBothEndsAndTrims) {
    auto stack = TwoEndedStack::create({.max_bytes = std::size_t{16} << 20, .commit_step_bytes = 1});
    ASSERT_TRUE(stack);
    EXPECT_EQ(stack->front().stats().committed_bytes + stack->back().stats().committed_bytes, 0U);
    const auto front = stack->front().allocate(1);
    const auto back = stack->back().allocate(1);
    ASSERT_TRUE(front && back);
    EXPECT_EQ(stack->front().stats().committed_bytes, ouro::os::page_size());
    EXPECT_EQ(stack->back().stats().committed_bytes, ouro::os::page_size());
    for (int round = 0; round < 3; ++round) {
        const auto most = stack->front().allocate(std::size_t{10} << 20);
        const auto rest = stack->back().allocate(stack->free_bytes());
        ASSERT_TRUE(most && rest);
        most->data[0] = rest->data[0] = std::byte{1};
        if (round == 1) stack->back().deallocate(*rest);
        stack->front().deallocate(*most);
        if (round != 1) stack->back().deallocate(*rest);
        EXPECT_EQ(stack->front().stats().committed_bytes + stack->back().stats().committed_bytes,
                  std::size_t{16} << 20);
        stack->trim();
        EXPECT_EQ(stack->front().stats().committed_bytes, ouro::os::page_size());
        EXPECT_EQ(stack->back().stats().committed_bytes, ouro::os::page_size());
        EXPECT_EQ(stack->check(), Status::ok);
    }
}

TEST(TwoEndedStack, LivesOnOtherResourcesAndMoves) {
    auto below = ouro::StackAllocator::create({});
    ASSERT_TRUE(below);
    {
        auto made = TwoEndedStack::create_on(*below, 10'000, "moved");
        ASSERT_TRUE(made);
        const auto front = made->front().allocate(100);
        const auto back = made->back().allocate(100);
        ASSERT_TRUE(front && back);
        TwoEndedStack stack = *std::move(made);
        EXPECT_EQ(stack.front().info().name, "moved");
        EXPECT_EQ(stack.front().stats().live_blocks, 1U);
        EXPECT_EQ(made->front().allocate(1).status(), Status::capacity_exhausted);
        stack.trim();
        stack.front().deallocate(*front);
        stack.back().deallocate(*back);
        EXPECT_EQ(stack.check(), Status::ok);
        EXPECT_EQ(below->stats().live_blocks, 1U);
    }
    EXPECT_EQ(below->stats().live_blocks, 0U);
}

TEST(TwoEndedStack, RandomCallsAtBothEndsKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto frame = ouro::FrameAllocator::create({.max_bytes = kBytes});
        ASSERT_TRUE(frame);
        // Odd sizes, so that the ends often meet.
        auto stack = seed % 2 == 0 ? TwoEndedStack::create({.max_bytes = 64 << 10, .commit_step_bytes = 1})
                                   : TwoEndedStack::create_on(*frame, 60'007);
        ASSERT_TRUE(stack);
        ResourceModel front(stack->front(), {.newest_only = true}, seed);
        ResourceModel back(stack->back(), {.newest_only = true}, seed + 100);
        ouro::Random random(seed);
        for (int step = 0; step < 8000; ++step) {
            (random.chance(0.5) ? front : back).step();
            if (testing::Test::HasFatalFailure()) return;
            if (step % 200 == 0) stack->trim();
            ASSERT_EQ(stack->check(), Status::ok);
        }
        EXPECT_GT(stack->front().stats().failures + stack->back().stats().failures, 0U);
        back.free_all();
        front.free_all();
        EXPECT_EQ(stack->front().used_bytes() + stack->back().used_bytes(), 0U);
    }
}

}  // namespace
