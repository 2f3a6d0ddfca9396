// Blocks of one thread's heap that another frees.
#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Random;
using ouro::SmallObjectAllocator;
using ouro::Status;

SmallObjectAllocator make_heap() {
    return *SmallObjectAllocator::create({.max_bytes = std::size_t{32} << 20});
}

// Runs a callable on a thread of its own; the callable must outlive the thread.
template <class Callable>
ouro::os::Thread start(Callable& callable) {
    return *ouro::os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
}

TEST(SmallObjectRemote, OneWayTrafficDoesNotGrowMemory) {
    auto heap = make_heap();
    constexpr int kRounds = 300;
    std::vector<MemoryBlock> batch(500);
    std::atomic<int> produced = 0;
    std::atomic<int> consumed = 0;
    std::size_t early_bytes = 0;
    auto consumer = [&] {
        for (int round = 1; round <= kRounds; ++round) {
            while (produced.load(std::memory_order_acquire) != round)
                ouro::os::yield_thread();
            for (const MemoryBlock block : batch)
                heap.deallocate(block);
            consumed.store(round, std::memory_order_release);
        }
    };
    auto thread = start(consumer);
    for (int round = 1; round <= kRounds; ++round) {
        for (MemoryBlock& block : batch)
            block = *heap.allocate(100);
        produced.store(round, std::memory_order_release);
        while (consumed.load(std::memory_order_acquire) != round)
            ouro::os::yield_thread();
        if (round == 20) early_bytes = heap.stats().peak_bytes;
    }
    thread.join();
    EXPECT_EQ(heap.stats().peak_bytes, early_bytes);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

// Another thread frees blocks of this one, which takes no notice until all are on their way: more than fit in
// parcels when neighbours do not come together.
void free_elsewhere(SmallObjectAllocator& heap, const std::vector<MemoryBlock>& blocks) {
    auto consumer = [&] {
        for (const MemoryBlock block : blocks)
            heap.deallocate(block);
    };
    auto thread = start(consumer);
    thread.join();
}

TEST(SmallObjectRemote, BlocksFreedElsewhereComeHomeInWhateverOrder) {
    constexpr std::uint64_t kSeed = 0x5ca77e2ed;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random(kSeed);
    constexpr std::uint32_t kCount = 3000;
    for (const std::size_t size : std::array<std::size_t, 6>{16, 48, 64, 256, 2000, 5000}) {
        SCOPED_TRACE(size);
        auto heap = make_heap();
        std::vector<MemoryBlock> blocks(kCount);
        for (int round = 0; round < 4; ++round) {
            for (MemoryBlock& block : blocks)
                block = *heap.allocate(size);
            if (round == 1) std::reverse(blocks.begin(), blocks.end());
            for (std::uint32_t left = kCount; round >= 2 && left > 1; --left)
                std::swap(blocks[left - 1], blocks[random.below(left)]);
            const std::size_t before = heap.stats().peak_bytes;
            free_elsewhere(heap, blocks);
            EXPECT_EQ(heap.counts().queued_blocks, kCount);
            EXPECT_EQ(heap.stats().live_blocks, 0U);
            ASSERT_EQ(heap.check(), Status::ok);
            for (MemoryBlock& block : blocks)
                block = *heap.allocate(size);
            std::sort(blocks.begin(), blocks.end(),
                      [](const MemoryBlock& a, const MemoryBlock& b) { return a.data < b.data; });
            for (std::size_t index = 1; index < kCount; ++index)
                ASSERT_LE(blocks[index - 1].data + size, blocks[index].data);
            EXPECT_EQ(heap.counts().queued_blocks, 0U);
            EXPECT_LE(heap.stats().peak_bytes, before);
            for (const MemoryBlock block : blocks)
                heap.deallocate(block);
            ASSERT_EQ(heap.check(), Status::ok);
        }
    }
}

// The blocks of a slab that has changed hands while they were on their way are sent on.
TEST(SmallObjectRemote, ParcelsFollowSlabsToTheirNewOwners) {
    auto heap = make_heap();
    std::vector<MemoryBlock> blocks;
    std::vector<MemoryBlock> kept;
    auto producer = [&] {
        for (int index = 0; index < 4000; ++index)
            (index % 2 == 0 ? blocks : kept).push_back(*heap.allocate(80));
    };
    auto thread = start(producer);
    thread.join();
    // Half of them make slabs that this thread can adopt; the rest comes from there when it is the owner.
    free_elsewhere(heap, blocks);
    blocks.clear();
    for (int index = 0; index < 2500; ++index)
        blocks.push_back(*heap.allocate(80));
    free_elsewhere(heap, kept);
    free_elsewhere(heap, blocks);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
    heap.purge();
    EXPECT_EQ(heap.counts().queued_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

}  // namespace
