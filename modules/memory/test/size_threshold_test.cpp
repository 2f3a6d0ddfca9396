// Where the size classes of a heap end is chosen when it is made. Blocks above have units of their own, and
// are freed by size as all others are: both ends must mean the same.
#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kUnit = std::size_t{64} << 10;

SmallObjectAllocator make_heap(std::size_t largest_small_bytes) {
    return *SmallObjectAllocator::create(
        {.max_bytes = std::size_t{32} << 20, .largest_small_bytes = largest_small_bytes});
}

TEST(SizeThreshold, LargerBlocksTakeUnits) {
    auto heap = make_heap(4000);
    EXPECT_EQ(heap.largest_small_bytes(), 4096U);
    for (const std::size_t size : {std::size_t{1}, std::size_t{4000}, std::size_t{4096}, std::size_t{4097},
                                   std::size_t{20'000}, kUnit, kUnit + 1}) {
        SCOPED_TRACE(size);
        const auto block = heap.allocate(size);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->size, SmallObjectAllocator::good_size(size, ouro::kDefaultAlignment, 4000));
        if (size > 4096) {
            EXPECT_EQ(block->size % kUnit, 0U);
        } else {
            EXPECT_LE(block->size, 4096U);
        }
        heap.deallocate(*block);
    }
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SizeThreshold, AnAlignmentAboveItTakesAUnitToo) {
    auto heap = make_heap(1024);
    const auto block = heap.allocate(100, 4096);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, kUnit);
    heap.deallocate({block->data, 100}, 4096);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
}

TEST(SizeThreshold, NoneOrMoreThanThereIsIsRefused) {
    EXPECT_EQ(SmallObjectAllocator::create({.largest_small_bytes = 0}).status(), Status::out_of_range);
    EXPECT_EQ(SmallObjectAllocator::create({.largest_small_bytes = kUnit + 1}).status(),
              Status::out_of_range);
    EXPECT_EQ(make_heap(1).largest_small_bytes(), 8U);
    EXPECT_EQ(make_heap(kUnit).largest_small_bytes(), kUnit);
}

TEST(SizeThreshold, BlocksAboveItGrowByUnitsInPlace) {
    auto heap = make_heap(2048);
    const auto block = heap.allocate(3000);
    ASSERT_TRUE(block);
    std::memset(block->data, 7, 3000);
    const auto same = heap.try_resize(*block, kUnit, ouro::kDefaultAlignment);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->data, block->data);
    const auto grown = heap.try_resize(*same, 3 * kUnit, ouro::kDefaultAlignment);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->size, 3 * kUnit);
    EXPECT_EQ(heap.try_resize(*grown, 2000, ouro::kDefaultAlignment).status(), Status::capacity_exhausted);
    const auto small = heap.reallocate(*grown, 2000);
    ASSERT_TRUE(small);
    EXPECT_EQ(small->size, 2048U);
    EXPECT_EQ(small->data[1999], std::byte{7});
    heap.deallocate(*small);
    EXPECT_EQ(heap.check(), Status::ok);
}

// Any size from the one asked to the one given frees a block; purges put the caches aside and back.
TEST(SizeThreshold, RandomSizesComeBackWithAnySizeThatTheyMayHave) {
    constexpr std::uint64_t kSeed = 20'261;
    SCOPED_TRACE(kSeed);
    ouro::Random random(kSeed);
    struct Block {
        MemoryBlock block;
        std::size_t asked;
        std::byte stamp;
    };
    for (const std::size_t threshold : {std::size_t{64}, std::size_t{1024}, std::size_t{10'240}, kUnit}) {
        SCOPED_TRACE(threshold);
        auto heap = make_heap(threshold);
        std::vector<Block> blocks;
        for (unsigned step = 0; step < 20'000; ++step) {
            if (blocks.size() < 150 && random.below(2) == 0) {
                const std::size_t asked = 1 + random.below(std::uint32_t{1} << (1 + random.below(17)));
                const auto block = heap.allocate(asked);
                ASSERT_TRUE(block);
                const auto stamp = static_cast<std::byte>(random.below(256));
                block->data[0] = block->data[block->size - 1] = stamp;
                blocks.push_back({*block, asked, stamp});
            } else if (!blocks.empty()) {
                std::swap(blocks[random.below(static_cast<std::uint32_t>(blocks.size()))], blocks.back());
                Block gone = blocks.back();
                blocks.pop_back();
                ASSERT_EQ(gone.block.data[0], gone.stamp);
                ASSERT_EQ(gone.block.data[gone.block.size - 1], gone.stamp);
                gone.block.size =
                    gone.asked + random.below(static_cast<std::uint32_t>(gone.block.size - gone.asked + 1));
                heap.deallocate(gone.block);
            }
            if (step % 1000 == 0) {
                heap.purge();
                ASSERT_EQ(heap.check(), Status::ok);
                ASSERT_EQ(heap.stats().live_blocks, blocks.size());
            }
        }
        for (const Block& block : blocks)
            heap.deallocate(block.block);
        EXPECT_EQ(heap.stats().live_blocks, 0U);
        EXPECT_EQ(heap.stats().live_bytes, 0U);
        EXPECT_EQ(heap.check(), Status::ok);
    }
}

}  // namespace
