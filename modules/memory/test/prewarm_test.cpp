// Memory that is there before it is needed. That it needs no fault is shown where the system can be asked, in
// linux/first_touch_test.cpp.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>

#include <initializer_list>

#include <gtest/gtest.h>

namespace {

using namespace ouro;

constexpr std::size_t kMax = std::size_t{4} << 20;
constexpr std::size_t kWarm = std::size_t{1} << 20;

Expected<FrameAllocator> make_frame(std::size_t bytes) {
    return FrameAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
}
Expected<StackAllocator> make_stack(std::size_t bytes) {
    return StackAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
}
Expected<PoolAllocator> make_pool(std::size_t bytes) {
    return PoolAllocator::create({.block_bytes = 64, .max_blocks = kMax / 64, .prewarm_bytes = bytes});
}
Expected<TlsfAllocator> make_tlsf(std::size_t bytes) {
    return TlsfAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
}
Expected<SmallObjectAllocator> make_heap(std::size_t bytes) {
    return SmallObjectAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
}

// Uses half of what is warm, which leaves room for what the strategy itself needs: nothing more is committed.
template <class Make>
void expect_warm(Make make) {
    auto cold = make(0);
    ASSERT_TRUE(cold);
    EXPECT_LT(cold->stats().committed_bytes, kWarm);
    auto warm = make(kWarm);
    ASSERT_TRUE(warm);
    const std::size_t committed = warm->stats().committed_bytes;
    EXPECT_GE(committed, kWarm);
    EXPECT_LT(committed, kMax);
    EXPECT_EQ(warm->stats().live_blocks, 0U);
    for (std::size_t used = 0; used < kWarm / 2; used += 64) {
        const auto block = warm->allocate(64, 16);
        ASSERT_TRUE(block);
        block->data[0] = block->data[63] = std::byte{1};
    }
    EXPECT_EQ(warm->stats().committed_bytes, committed);
    EXPECT_EQ(warm->check(), Status::ok);
    // More than there can be is refused, however much more.
    for (const std::size_t bytes : std::initializer_list<std::size_t>{kMax + kWarm, SIZE_MAX / 2, SIZE_MAX})
        EXPECT_EQ(make(bytes).status(), Status::capacity_exhausted) << bytes;
    const SealScope sealed;
    EXPECT_EQ(make(kWarm).status(), Status::sealed);
}

TEST(Prewarm, TheMemoryIsThereFromTheBeginning) {
    {
        SCOPED_TRACE("frame");
        expect_warm(make_frame);
    }
    {
        SCOPED_TRACE("stack");
        expect_warm(make_stack);
    }
    {
        SCOPED_TRACE("pool");
        expect_warm(make_pool);
    }
    {
        SCOPED_TRACE("small objects");
        expect_warm(make_heap);
    }
}

TEST(Prewarm, AHeapInAnImageHasRoomForBlocks) {
    auto cold = make_tlsf(0);
    auto warm = make_tlsf(2 * kWarm);
    ASSERT_TRUE(cold && warm);
    const std::size_t committed = warm->stats().committed_bytes;
    EXPECT_GE(committed, 2 * kWarm);
    EXPECT_LT(cold->stats().committed_bytes, committed);
    ASSERT_TRUE(warm->allocate(2 * kWarm - 4096));
    EXPECT_EQ(warm->stats().committed_bytes, committed);
    EXPECT_EQ(warm->check(), Status::ok);
    EXPECT_EQ(make_tlsf(kMax).status(), Status::capacity_exhausted);
    EXPECT_EQ(make_tlsf(SIZE_MAX).status(), Status::capacity_exhausted);
}

TEST(Prewarm, AFrameKeepsItWhateverFramesNeed) {
    auto frame = FrameAllocator::create({.max_bytes = kMax, .decay_resets = 2, .prewarm_bytes = kWarm});
    ASSERT_TRUE(frame && frame->allocate(2 * kWarm));
    for (int i = 0; i < 10; ++i)
        frame->reset();
    EXPECT_EQ(frame->committed_bytes(), kWarm);
}

TEST(Prewarm, WhatAHeapNeverUsedIsNoFreeMemoryToReturn) {
    auto heap = make_heap(kWarm);
    ASSERT_TRUE(heap);
    EXPECT_EQ(heap->purge().bytes, 0U);
    const auto block = heap->allocate(kWarm / 2);
    ASSERT_TRUE(block);
    heap->deallocate(*block);
    EXPECT_EQ(heap->purge().bytes, kWarm / 2);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(Prewarm, ObjectsHaveTheirMemoryToo) {
    auto pool = Pool<std::uint64_t>::create({.max_objects = 100'000, .prewarm_bytes = 50'000 * 8});
    ASSERT_TRUE(pool);
    EXPECT_GE(pool->stats().committed_bytes, 50'000 * 8U);
    ASSERT_TRUE(pool->emplace(1U));
}

}  // namespace
