// What the heap for small objects tells of itself while others use it, and whichever way blocks went home.
#include "workers.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

template <class Callable>
ouro::os::Thread start(Callable& callable) {
    return *ouro::os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
}

// In a full region there is no room for the cache of another thread: what it frees goes home block by block,
// and counts as what it is all the same.
TEST(SmallObjectCounts, AThreadWithoutACacheFreesExactly) {
    auto frame = *ouro::FrameAllocator::create({.max_bytes = std::size_t{4} << 20});
    auto heap = *SmallObjectAllocator::create_in(*frame.allocate(std::size_t{1} << 20));
    std::vector<MemoryBlock> blocks;
    for (;;) {
        const auto block = heap.allocate(64);
        if (!block) break;
        blocks.push_back(*block);
    }
    ASSERT_GT(blocks.size(), 1000U);
    auto free_all = [&] {
        for (const MemoryBlock block : blocks)
            heap.deallocate(block);
    };
    start(free_all).join();
    EXPECT_EQ(heap.counts().heaps, 1U) << "there was room after all";
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.stats().allocations, blocks.size());
    EXPECT_EQ(heap.check(), Status::ok);
    heap.reset();
    EXPECT_EQ(heap.stats().allocations, blocks.size());
}

// Large and small blocks come, change and go while another thread counts: the sums are about right, and never
// below nothing, which would be more than there is.
TEST(SmallObjectCounts, CanBeAskedForWhileBlocksOfUnitsChange) {
    constexpr std::size_t kUnit = std::size_t{64} << 10;
    constexpr int kRounds = 2000;
    auto heap = *SmallObjectAllocator::create({.max_bytes = std::size_t{32} << 20});
    std::atomic<bool> is_done = false;
    std::size_t moved = 0;
    auto work = [&] {
        for (int round = 0; round < kRounds; ++round) {
            const auto block = heap.allocate(2 * kUnit);
            if (!block) break;
            const auto grown = heap.reallocate(*block, 5 * kUnit);
            if (!grown) break;
            moved += grown->data != block->data ? 1U : 0U;
            heap.deallocate(*grown);
            // Its records become those of a slab, and of a large block again.
            const auto small = heap.allocate(60'000);
            if (!small) break;
            heap.deallocate(*small);
            heap.purge();
        }
        is_done.store(true);
    };
    auto thread = start(work);
    ouro::ResourceStats most;
    while (!is_done.load()) {
        const ouro::ResourceStats now = heap.stats();
        most.peak_bytes = std::max(most.peak_bytes, now.peak_bytes);
        most.live_bytes = std::max(most.live_bytes, now.live_bytes);
        most.live_blocks = std::max(most.live_blocks, now.live_blocks);
    }
    thread.join();
    EXPECT_LE(most.peak_bytes, 64 * kUnit);
    EXPECT_LE(most.live_bytes, 64 * kUnit);
    EXPECT_LE(most.live_blocks, 100U);
    EXPECT_EQ(heap.stats().live_bytes, 0U);
    EXPECT_EQ(heap.stats().allocations, 2U * kRounds + moved);
    EXPECT_EQ(heap.check(), Status::ok);
}

ouro::BlockInfo listed_entry(const SmallObjectAllocator& heap) {
    ouro::BlockInfo found;
    ouro::visit_blocks([&](const ouro::BlockInfo& block) {
        if (block.base == reinterpret_cast<std::uintptr_t>(heap.addresses().data)) found = block;
    });
    return found;
}

// Whoever changes the use tells it: what was told last is what is true, however the threads meet.
TEST(SmallObjectCounts, TheRegistryIsRightAfterManyThreads) {
    constexpr std::size_t kUnit = 65536;
    for (int round = 0; round < 50; ++round) {
        // A new one each time, so that threads meet while it grows too.
        auto heap = *SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
        std::atomic<std::size_t> largest = 0;
        ouro::testing_support::run_workers(4, [&](std::size_t number) {
            std::size_t peak = 0;
            for (std::size_t step = 0; step < 100; ++step) {
                const std::size_t size = (number + step / 4 + 2) * kUnit;
                const auto block = heap.allocate(size);
                const std::size_t told = listed_entry(heap).peak_bytes;
                EXPECT_GE(told, peak) << "a high-water mark fell";
                peak = std::max(told, size);
                if (block) heap.deallocate(*block);
            }
            std::size_t before = largest.load();
            while (before < peak && !largest.compare_exchange_weak(before, peak)) {
            }
        });
        const ouro::BlockInfo entry = listed_entry(heap);
        ASSERT_EQ(entry.cursor_bytes, 0U);
        ASSERT_GE(entry.peak_bytes, largest.load());
        ASSERT_EQ(entry.committed_bytes, heap.stats().committed_bytes);
    }
}

TEST(SmallObjectCounts, ANewHeapTellsThatNothingIsInUse) {
    const auto warm = *SmallObjectAllocator::create(
        {.max_bytes = std::size_t{64} << 20, .prewarm_bytes = std::size_t{1} << 20});
    EXPECT_GT(listed_entry(warm).committed_bytes, 0U);
    EXPECT_TRUE(listed_entry(warm).tells_use);
    EXPECT_EQ(listed_entry(warm).cursor_bytes, 0U);
    auto frame = *ouro::FrameAllocator::create({.max_bytes = std::size_t{4} << 20});
    const auto confined = *SmallObjectAllocator::create_in(*frame.allocate(std::size_t{1} << 20));
    EXPECT_GT(listed_entry(confined).committed_bytes, 0U);
    EXPECT_TRUE(listed_entry(confined).tells_use);
    EXPECT_EQ(listed_entry(confined).cursor_bytes, 0U);
}

}  // namespace
