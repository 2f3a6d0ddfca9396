#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{16} << 20;

SmallObjectAllocator make_heap() {
    return *SmallObjectAllocator::create({.max_bytes = kBytes});
}

TEST(SizeClasses, EverySizeTakesTheSmallestClassThatHoldsIt) {
    using namespace ouro::detail;
    unsigned expected = 0;
    for (std::size_t size = 1; size <= kLargestClassBytes; ++size) {
        if (size > kClassBytes[expected]) ++expected;
        ASSERT_EQ(class_of_size(size), expected) << size;
    }
}

TEST(SizeClasses, ABlockMayComeBackWithAnySizeFromAskedToGiven) {
    using namespace ouro::detail;
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (std::size_t size = 1; size <= 3000; ++size) {
            const unsigned size_class = class_for(size, alignment);
            ASSERT_LT(size_class, kClassCount);
            ASSERT_EQ(kClassBytes[size_class] % alignment, 0U);
            ASSERT_EQ(class_for(kClassBytes[size_class], alignment), size_class) << size << ' ' << alignment;
        }
    }
}

TEST(SizeClasses, TheBlockOfEveryOffsetIsFoundWithoutDivision) {
    using namespace ouro::detail;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        const std::size_t size = kClassBytes[size_class];
        for (std::uint32_t block = 0; block < slab_capacity(size_class, slab_units(size_class)); ++block) {
            ASSERT_EQ(block_index(size_class, block * size), block);
            ASSERT_EQ(block_index(size_class, block * size + size - 1), block);
        }
    }
}

TEST(SmallObjectAllocator, BlocksSayHowLargeTheyAre) {
    auto heap = make_heap();
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{100'000}}) {
        const auto block = heap.allocate(size);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->size, SmallObjectAllocator::good_size(size));
        EXPECT_GE(block->size, size);
        heap.deallocate(*block);
    }
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.stats().live_bytes, 0U);
    EXPECT_EQ(heap.stats().allocations, 4U);
}

TEST(SmallObjectAllocator, CountsAreExact) {
    auto heap = make_heap();
    std::vector<MemoryBlock> blocks;
    std::size_t bytes = 0;
    for (std::size_t index = 0; index < 1000; ++index) {
        blocks.push_back(*heap.allocate(1 + index % 700));
        bytes += blocks.back().size;
    }
    EXPECT_EQ(heap.stats().live_blocks, 1000U);
    EXPECT_EQ(heap.stats().live_bytes, bytes);
    for (const MemoryBlock block : blocks)
        heap.deallocate(block);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.stats().allocations, 1000U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectAllocator, AFixedRegionTakesNoOtherMemory) {
    auto frame = *ouro::FrameAllocator::create({.max_bytes = kBytes});
    const MemoryBlock region = *frame.allocate(std::size_t{2} << 20);
    auto heap = *SmallObjectAllocator::create_in(region);
    std::vector<MemoryBlock> blocks;
    for (;;) {
        const auto block = heap.allocate(64);
        if (!block) {
            EXPECT_EQ(block.status(), Status::capacity_exhausted);
            break;
        }
        ASSERT_TRUE(region.contains(block->data));
        blocks.push_back(*block);
    }
    // All but the metadata, the units cut off at the ends, and the thread's heap.
    EXPECT_GE(blocks.size() * 64, region.size - (std::size_t{256} << 10));
    for (const MemoryBlock block : blocks)
        heap.deallocate(block);
    EXPECT_EQ(heap.check(), Status::ok);
    EXPECT_TRUE(heap.allocate(64));
    heap.purge();
    EXPECT_TRUE(heap.allocate(std::size_t{1} << 20));
}

TEST(SmallObjectAllocator, ARegionTooSmallIsRefused) {
    alignas(64) static std::array<std::byte, 60'000> region;
    EXPECT_EQ(SmallObjectAllocator::create_in({region.data(), region.size()}).status(), Status::bad_argument);
    EXPECT_EQ(SmallObjectAllocator::create_in({}).status(), Status::bad_argument);
    EXPECT_EQ(SmallObjectAllocator::create({.max_bytes = 100}).status(), Status::bad_argument);
}

TEST(SmallObjectAllocator, LargeBlocksGrowInPlaceWhileThereIsRoom) {
    auto heap = make_heap();
    auto block = *heap.allocate(100'000);
    std::byte* const start = block.data;
    block = *heap.reallocate(block, 300'000);
    EXPECT_EQ(block.data, start);
    block = *heap.reallocate(block, 70'000);
    EXPECT_EQ(block.data, start);
    const auto neighbour = *heap.allocate(100'000);
    block = *heap.reallocate(block, 400'000);
    EXPECT_NE(block.data, start);
    heap.deallocate(block);
    heap.deallocate(neighbour);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectAllocator, AlignmentsUpToMegabytes) {
    auto heap = make_heap();
    for (std::size_t alignment = 1; alignment <= (std::size_t{1} << 20); alignment *= 2) {
        const auto block = heap.allocate(24, alignment);
        ASSERT_TRUE(block) << alignment;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data) % alignment, 0U);
        heap.deallocate(*block, alignment);
    }
    EXPECT_EQ(heap.check(), Status::ok);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
}

TEST(SmallObjectAllocator, ResetEndsAllBlocksAtOnce) {
    auto heap = make_heap();
    for (int round = 0; round < 20; ++round) {
        for (std::size_t index = 0; index < 10'000; ++index)
            ASSERT_TRUE(heap.allocate(1 + index % 1000));
        ASSERT_TRUE(heap.allocate(std::size_t{1} << 20));
        heap.reset();
        EXPECT_EQ(heap.stats().live_blocks, 0U);
        ASSERT_EQ(heap.check(), Status::ok);
    }
}

TEST(SmallObjectAllocator, MovesWithItsBlocks) {
    auto heap = make_heap();
    const auto block = *heap.allocate(100);
    SmallObjectAllocator other(std::move(heap));
    EXPECT_TRUE(other.owns(block.data));
    other.deallocate(block);
    EXPECT_EQ(other.stats().live_blocks, 0U);
}

TEST(SmallObjectAllocator, ManyHeapsAtOnceInOneThread) {
    std::vector<SmallObjectAllocator> heaps;
    for (int index = 0; index < 40; ++index)
        heaps.push_back(*SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20}));
    std::vector<MemoryBlock> blocks;
    for (auto& heap : heaps)
        blocks.push_back(*heap.allocate(40));
    for (std::size_t index = 0; index < heaps.size(); ++index) {
        EXPECT_TRUE(heaps[index].owns(blocks[index].data));
        heaps[index].deallocate(blocks[index]);
        EXPECT_EQ(heaps[index].stats().live_blocks, 0U);
        EXPECT_EQ(heaps[index].counts().heaps, 1U);
    }
}

// On a thread of its own, which has no notes of heaps that are gone.
TEST(SmallObjectAllocator, AThreadKnowsItsCachesInManyHeaps) {
    std::ptrdiff_t known = 0;
    const auto use_heaps = [](void* result) {
        std::vector<SmallObjectAllocator> heaps;
        while (heaps.size() < 40)
            heaps.push_back(*SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20}));
        for (auto& heap : heaps)
            heap.deallocate(*heap.allocate(40));
        *static_cast<std::ptrdiff_t*>(result) = std::ranges::count_if(
            ouro::detail::t_heap_notes, [](const auto& note) { return note.heap != nullptr; });
    };
    auto thread = ouro::os::Thread::start(use_heaps, &known);
    ASSERT_TRUE(thread);
    thread->join();
    EXPECT_EQ(known, 40);
}

TEST(SmallObjectAllocator, SmallRegionsServeTheLargestClasses) {
    alignas(65536) static std::array<std::byte, std::size_t{320} << 10> region;
    auto heap = *SmallObjectAllocator::create_in({region.data(), region.size()});
    for (const std::size_t size : {std::size_t{40'000}, std::size_t{65'536}, std::size_t{9'000}}) {
        const auto block = heap.allocate(size);
        ASSERT_TRUE(block) << size;
        std::memset(block->data, 1, block->size);
        EXPECT_EQ(heap.check(), Status::ok);
        heap.deallocate(*block);
    }
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectAllocator, WhatIsKeptServesBeforeItIsExhausted) {
    static std::array<std::byte, std::size_t{8} << 20> region;
    auto heap = *SmallObjectAllocator::create_in({region.data(), region.size()});
    // A little of every class stays in the caches.
    for (const std::uint32_t size : ouro::detail::kClassBytes) {
        std::vector<MemoryBlock> blocks;
        for (std::size_t bytes = 0; bytes < (std::size_t{300} << 10); bytes += size)
            if (const auto block = heap.allocate(size)) blocks.push_back(*block);
        for (const MemoryBlock& block : blocks)
            heap.deallocate(block);
    }
    EXPECT_EQ(heap.stats().live_bytes, 0U);
    const auto large = heap.allocate(std::size_t{7} << 20);
    ASSERT_TRUE(large);
    EXPECT_EQ(heap.allocate(std::size_t{1} << 20).status(), Status::capacity_exhausted);
    heap.deallocate(*large);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectAllocator, EveryHeapThatCanBeMadeServesSmallBlocks) {
    constexpr std::size_t kUnitBytes = std::size_t{64} << 10;
    std::size_t made = 0;
    for (std::size_t bytes = 0; bytes <= 8 * kUnitBytes; bytes += kUnitBytes) {
        auto heap = SmallObjectAllocator::create({.max_bytes = bytes});
        if (!heap) {
            EXPECT_EQ(heap.status(), Status::bad_argument) << bytes;
            continue;
        }
        ++made;
        EXPECT_TRUE(heap->allocate(16)) << bytes;
    }
    EXPECT_GE(made, 7U);
}

TEST(SmallObjectAllocator, AResetForgetsNoAllocation) {
    auto heap = make_heap();
    for (std::size_t size = 1; size <= 1000; ++size)
        ASSERT_TRUE(heap.allocate(size));
    heap.deallocate(*heap.allocate(200'000));
    ASSERT_TRUE(heap.allocate(200'000));
    EXPECT_EQ(heap.stats().allocations, 1002U);
    heap.reset();
    EXPECT_EQ(heap.stats().allocations, 1002U);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    ASSERT_TRUE(heap.allocate(10));
    EXPECT_EQ(heap.stats().allocations, 1003U);
}

ouro::BlockInfo listed_entry(const SmallObjectAllocator& heap) {
    ouro::BlockInfo found;
    ouro::visit_blocks([&](const ouro::BlockInfo& block) {
        if (block.base == reinterpret_cast<std::uintptr_t>(heap.addresses().data)) found = block;
    });
    return found;
}

TEST(SmallObjectAllocator, TheRegistryKnowsWhatIsInUse) {
    constexpr std::size_t kUnit = 65536;
    auto heap = make_heap();
    EXPECT_EQ(listed_entry(heap).cursor_bytes, 0U);
    // An exact zero: nothing of it is in use.
    EXPECT_TRUE(listed_entry(heap).tells_use);
    const auto small = heap.allocate(100);
    ASSERT_TRUE(small);
    EXPECT_EQ(listed_entry(heap).cursor_bytes, kUnit);
    EXPECT_TRUE(listed_entry(heap).tells_use);
    const auto large = heap.allocate(5 * kUnit);
    ASSERT_TRUE(large);
    EXPECT_EQ(listed_entry(heap).cursor_bytes, 6 * kUnit);
    heap.deallocate(*large);
    EXPECT_EQ(listed_entry(heap).cursor_bytes, kUnit);
    EXPECT_EQ(listed_entry(heap).peak_bytes, 6 * kUnit);
    heap.reset();
    EXPECT_EQ(listed_entry(heap).cursor_bytes, 0U);
}

TEST(SmallObjectAllocator, TheRegistryKnowsTheMemoryOfTheLastGrowth) {
    auto heap = make_heap();
    for (std::size_t size = 100'000; heap.allocate(size); size += 1000) {
        ASSERT_EQ(listed_entry(heap).committed_bytes, heap.stats().committed_bytes);
    }
}

}  // namespace
