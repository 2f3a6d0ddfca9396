#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <vector>

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

TEST(Seal, TheSystemAllocatorKeepsMoreThanItsCache) {
    const std::size_t page = ouro::os::page_size();
    auto system = ouro::SystemAllocator::create({.cache_bytes = 0});
    ASSERT_TRUE(system);
    std::vector<ouro::MemoryBlock> blocks;
    for (int i = 0; i < 40; ++i) {
        const auto block = system->allocate(4 * page);
        ASSERT_TRUE(block);
        blocks.push_back(*block);
    }
    const std::size_t committed = system->stats().committed_bytes;
    {
        const SealScope sealed;
        for (const auto& block : blocks)
            system->deallocate(block);
        blocks.clear();
        EXPECT_EQ(system->trim(), 0U);
        EXPECT_EQ(system->stats().committed_bytes, committed);
        EXPECT_EQ(system->stats().live_bytes, 0U);
        EXPECT_EQ(system->check(), Status::ok);
        // In other sizes too, as parts of what there is.
        for (int i = 0; i < 80; ++i) {
            const auto block = system->allocate(2 * page);
            ASSERT_TRUE(block);
            blocks.push_back(*block);
        }
        EXPECT_EQ(system->allocate(page).status(), Status::sealed);
        EXPECT_EQ(system->try_resize(blocks.back(), 4 * page).status(), Status::sealed);
        const auto shrunk = system->try_resize(blocks.back(), page);
        ASSERT_TRUE(shrunk);
        blocks.back() = *shrunk;
        EXPECT_TRUE(system->allocate(page));
        EXPECT_EQ(system->check(), Status::ok);
    }
    for (const auto& block : blocks)
        system->deallocate(block);
    EXPECT_EQ(system->check(), Status::ok);
    EXPECT_EQ(system->stats().committed_bytes, page);
}

TEST(Seal, TheSystemAllocatorLeavesLargeRangesWhole) {
    auto system = ouro::SystemAllocator::create({});
    ASSERT_TRUE(system);
    auto five = system->allocate(5 * kBytes);
    auto eight = system->allocate(8 * kBytes);
    ASSERT_TRUE(five && eight);
    const SealScope sealed;
    for (int i = 0; i < 3; ++i) {
        system->deallocate(*five);
        system->deallocate(*eight);
        five = system->allocate(5 * kBytes);
        eight = system->allocate(8 * kBytes);
        ASSERT_TRUE(five && eight);
        EXPECT_EQ(system->check(), Status::ok);
    }
    system->deallocate(*five);
    system->deallocate(*eight);
}

TEST(Seal, TheSystemAllocatorServesAlignmentFromWithinARange) {
    auto system = ouro::SystemAllocator::create({.cache_bytes = 0});
    ASSERT_TRUE(system);
    const std::size_t page = ouro::os::page_size();
    const std::size_t alignment = 16 * page;
    const auto block = system->allocate(4 * alignment);
    ASSERT_TRUE(block);
    {
        const SealScope sealed;
        system->deallocate(*block);
        const auto small = system->allocate(page);
        const auto aligned = system->allocate(2 * alignment, alignment);
        ASSERT_TRUE(small && aligned);
        EXPECT_TRUE(ouro::is_aligned(aligned->data, alignment));
        EXPECT_EQ(system->check(), Status::ok);
        system->deallocate(*aligned, alignment);
        system->deallocate(*small);
    }
    EXPECT_EQ(system->trim(), 4 * alignment);
    EXPECT_EQ(system->stats().reserved_bytes, 0U);
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(Seal, RangesKeptUnderItTakeNoRoomFromTheCache) {
    const std::size_t page = ouro::os::page_size();
    auto system = ouro::SystemAllocator::create({.cache_bytes = 16 * page});
    ASSERT_TRUE(system);
    const auto large = system->allocate(64 * page);
    const auto small = system->allocate(2 * page);
    const auto other = system->allocate(3 * page);
    ASSERT_TRUE(large && small && other);
    {
        const SealScope sealed;
        system->deallocate(*large);
    }
    system->deallocate(*small);
    system->deallocate(*other);
    EXPECT_EQ(system->stats().committed_bytes, 69 * page);
    EXPECT_EQ(system->check(), Status::ok);
    EXPECT_EQ(system->trim(), 69 * page);
}

TEST(Seal, APartitionKeepsTheMemoryOfLargeBlocks) {
    const ouro::PartitionOptions part{.max_bytes = kBytes};
    auto set = ouro::PartitionAllocator::create({.partitions = {&part, 1}});
    ASSERT_TRUE(set);
    ouro::Partition& heap = (*set)[0];
    const auto block = heap.allocate(200'000);
    ASSERT_TRUE(block);
    const std::size_t committed = heap.stats().committed_bytes;
    {
        const SealScope sealed;
        heap.deallocate(*block);
        EXPECT_EQ(heap.stats().committed_bytes, committed);
        EXPECT_EQ(heap.trim(), 0U);
        EXPECT_EQ(heap.check(), Status::ok);
        EXPECT_EQ(heap.allocate(300'000).status(), Status::sealed);
        const auto small = heap.allocate(100);
        const auto large = heap.allocate(100'000);
        ASSERT_TRUE(small && large);
        EXPECT_EQ(heap.check(), Status::ok);
        heap.deallocate(*large);
        heap.deallocate(*small);
        EXPECT_EQ(heap.check(), Status::ok);
    }
    EXPECT_TRUE(heap.allocate(300'000));
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(Seal, APartitionFindsTheMemoryWhereverItIs) {
    const ouro::PartitionOptions part{.max_bytes = 16 * kBytes};
    auto set = ouro::PartitionAllocator::create({.partitions = {&part, 1}});
    ASSERT_TRUE(set);
    ouro::Partition& heap = (*set)[0];
    // The lowest spans have too little for the second, and the second more than the first and third need.
    std::vector<ouro::MemoryBlock> blocks;
    for (const std::size_t size : {70'000U, 131'072U, 70'000U, 65'536U}) {
        const auto block = heap.allocate(size);
        ASSERT_TRUE(block);
        blocks.push_back(*block);
    }
    const std::size_t committed = heap.stats().committed_bytes;
    const SealScope sealed;
    for (const std::vector<std::size_t>& order :
         {std::vector<std::size_t>{1, 0, 2, 3}, {3, 0, 2, 1}, {2, 3, 1, 0}}) {
        for (const auto& block : blocks)
            heap.deallocate(block);
        EXPECT_EQ(heap.check(), Status::ok);
        for (const std::size_t place : order) {
            const auto block = heap.allocate(blocks[place].size);
            ASSERT_TRUE(block) << place;
            blocks[place] = *block;
        }
        EXPECT_EQ(heap.stats().committed_bytes, committed);
        EXPECT_EQ(heap.check(), Status::ok);
    }
    // The span of slots comes from a place where there is one.
    heap.deallocate(blocks[3]);
    EXPECT_TRUE(heap.allocate(100));
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(Seal, APartitionForAnyThreadServesWhatItHasAndKeepsIt) {
    const ouro::PartitionOptions part{
        .max_bytes = 64 * kBytes, .thread_safety = ouro::ThreadSafety::any_thread, .keep_empty_bytes = 0};
    auto set = ouro::PartitionAllocator::create({.partitions = {&part, 1}});
    ASSERT_TRUE(set);
    ouro::Partition& heap = (*set)[0];
    const auto block = heap.allocate(200'000);
    const auto small = heap.allocate(100);
    ASSERT_TRUE(block && small);
    heap.deallocate(*small);
    const std::size_t committed = heap.stats().committed_bytes;
    {
        const SealScope sealed;
        heap.deallocate(*block);
        EXPECT_EQ(heap.trim(), 0U);
        const auto again = heap.allocate(200'000);
        ASSERT_TRUE(again);
        EXPECT_TRUE(heap.allocate(100));
        EXPECT_EQ(heap.allocate(32 * kBytes).status(), Status::sealed);
        EXPECT_EQ(heap.stats().committed_bytes, committed);
        heap.deallocate(*again);
        EXPECT_EQ(heap.check(), Status::ok);
    }
    EXPECT_TRUE(heap.allocate(32 * kBytes));
    EXPECT_EQ(heap.check(), Status::ok);
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
