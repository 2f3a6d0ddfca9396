#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::FrameScope;
using ouro::Status;

TEST(FrameAllocator, AResetFreesEverythingAtOnce) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(frame);
    const auto first = frame->allocate(100);
    ASSERT_TRUE(first);
    for (int i = 0; i < 100'000; ++i)
        ASSERT_TRUE(frame->allocate(64));
    EXPECT_GT(frame->used_bytes(), 6'400'000U);
    frame->reset();
    EXPECT_EQ(frame->used_bytes(), 0U);
    EXPECT_EQ(frame->allocate(100)->data, first->data);
    EXPECT_EQ(frame->stats().allocations, 100'002U);
}

TEST(FrameAllocator, CommitsWhatItNeedsOnly) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{64} << 20, .commit_step_bytes = 65536});
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->committed_bytes(), 0U);
    ASSERT_TRUE(frame->allocate(1));
    EXPECT_EQ(frame->committed_bytes(), 65536U);
    ASSERT_TRUE(frame->allocate(1'000'000));
    EXPECT_LE(frame->committed_bytes(), 1'000'000U + 2 * 65536U);
    EXPECT_EQ(frame->stats().reserved_bytes, std::size_t{64} << 20);
}

TEST(FrameAllocator, GivesBackWhatRecentFramesDidNotNeed) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{64} << 20, .decay_resets = 8});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(std::size_t{16} << 20));
    frame->reset();
    for (int i = 0; i < 7; ++i) {
        ASSERT_TRUE(frame->allocate(100'000));
        frame->reset();
    }
    // The large frame was among the last eight.
    EXPECT_GE(frame->committed_bytes(), std::size_t{16} << 20);
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(frame->allocate(100'000));
        frame->reset();
    }
    EXPECT_LE(frame->committed_bytes(), 150'000 + ouro::os::page_size());
    EXPECT_EQ(frame->stats().peak_bytes, std::size_t{16} << 20);
    const auto block = frame->allocate(std::size_t{16} << 20);
    ASSERT_TRUE(block);
    std::memset(block->data, 1, block->size);
}

TEST(FrameAllocator, ScopesAndMarkersFreeWhatCameAfter) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(100));
    const std::size_t before = frame->used_bytes();
    {
        const FrameScope scope(*frame);
        ASSERT_TRUE(frame->allocate(5000));
        const auto marker = frame->mark();
        ASSERT_TRUE(frame->allocate(5000));
        frame->rewind(marker);
        EXPECT_EQ(frame->used_bytes(), marker.used_bytes);
    }
    EXPECT_EQ(frame->used_bytes(), before);
    EXPECT_GE(frame->stats().peak_bytes, 10'000U);
}

TEST(FrameAllocator, TheNewestBlockChangesInPlace) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    const auto older = frame->allocate(64);
    const auto newest = frame->allocate(64);
    ASSERT_TRUE(older && newest);
    const auto grown = frame->reallocate(*newest, 50'000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, newest->data);
    const auto shrunk = frame->reallocate(*grown, 10);
    ASSERT_TRUE(shrunk);
    EXPECT_EQ(shrunk->data, newest->data);
    EXPECT_EQ(frame->used_bytes(), 64U + 10U);
    const auto moved = frame->reallocate(*older, 128);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, older->data);
    EXPECT_EQ(frame->reallocate(*older, 32)->data, older->data);
}

TEST(FrameAllocator, MovesWithWhatItHolds) {
    auto made = FrameAllocator::create({.name = "moved", .max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(made);
    const auto block = made->allocate(100);
    ASSERT_TRUE(block);
    FrameAllocator frame = *std::move(made);
    EXPECT_TRUE(frame.owns(block->data));
    EXPECT_EQ(frame.used_bytes(), 100U);
    EXPECT_EQ(frame.info().name, "moved");
    EXPECT_FALSE(frame.info().frees_blocks);
}

TEST(FrameAllocator, RefusesSenselessSizes) {
    EXPECT_EQ(FrameAllocator::create({.max_bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(FrameAllocator::create({.max_bytes = SIZE_MAX}).status(), Status::size_overflow);
    auto small = FrameAllocator::create({.max_bytes = 1});
    ASSERT_TRUE(small);
    EXPECT_EQ(FrameAllocator::create_on(*small, std::size_t{1} << 30).status(), Status::capacity_exhausted);
}

}  // namespace
