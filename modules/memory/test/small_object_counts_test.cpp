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

// Whoever changes the use tells it: what was told last is what is true, however the threads meet.
TEST(SmallObjectCounts, TheRegistryIsRightAfterManyThreads) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    for (int round = 0; round < 20; ++round) {
        ouro::testing_support::run_workers(4, [&](std::size_t number) {
            for (int step = 0; step < 100; ++step) {
                const auto block = heap.allocate((number + 2) * 65536);
                if (block) heap.deallocate(*block);
            }
        });
        std::size_t cursor = 1;
        ouro::visit_blocks([&](const ouro::BlockInfo& block) {
            if (block.base == reinterpret_cast<std::uintptr_t>(heap.addresses().data))
                cursor = block.cursor_bytes;
        });
        ASSERT_EQ(cursor, 0U);
    }
}

}  // namespace
