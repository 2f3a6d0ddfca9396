// What check() finds of wrong frees that nothing else has noticed yet; builds with asserts do so at the free.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#if OURO_ASSERT_LEVEL == 0

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

// Slabs of many blocks and of few, of one unit and of several.
constexpr std::size_t kSizes[] = {8, 64, 272, 1024, 5000, 40'000};

SmallObjectAllocator make_heap() {
    return *SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
}

// More than a cache keeps.
std::vector<MemoryBlock> take_many(SmallObjectAllocator& heap, std::size_t size) {
    std::vector<MemoryBlock> blocks;
    for (std::size_t bytes = 0; blocks.size() < 2000 && bytes < (std::size_t{10} << 20); bytes += size)
        blocks.push_back(*heap.allocate(size, 8));
    return blocks;
}

TEST(SmallObjectCheck, FindsABlockThatIsTwiceInACache) {
    for (const std::size_t size : kSizes) {
        auto heap = make_heap();
        const MemoryBlock block = *heap.allocate(size, 8);
        heap.deallocate(block, 8);
        EXPECT_EQ(heap.check(), Status::ok) << size;
        heap.deallocate(block, 8);
        EXPECT_EQ(heap.check(), Status::corrupt_data) << size;
    }
}

TEST(SmallObjectCheck, FindsItAmongBlocksOfManySlabs) {
    for (const std::size_t size : kSizes) {
        auto heap = make_heap();
        const std::vector<MemoryBlock> blocks = take_many(heap, size);
        for (std::size_t i = 0; i < blocks.size(); i += 97)
            heap.deallocate(blocks[i], 8);
        EXPECT_EQ(heap.check(), Status::ok) << size;
        heap.deallocate(blocks[97], 8);
        EXPECT_EQ(heap.check(), Status::corrupt_data) << size;
    }
}

TEST(SmallObjectCheck, FindsABlockThatIsInItsSlabAndInACache) {
    for (const std::size_t size : kSizes) {
        auto heap = make_heap();
        const std::vector<MemoryBlock> blocks = take_many(heap, size);
        // The cache overflows again and again, and sends home what was freed first; the others keep its slab.
        for (std::size_t i = 0; i < blocks.size(); i += 2)
            heap.deallocate(blocks[i], 8);
        EXPECT_EQ(heap.check(), Status::ok) << size;
        heap.deallocate(blocks[0], 8);
        EXPECT_EQ(heap.check(), Status::corrupt_data) << size;
    }
}

TEST(SmallObjectCheck, FindsABlockInTheCachesOfTwoThreadsAndOneOnItsWayHome) {
    struct Scene {
        SmallObjectAllocator heap = make_heap();
        MemoryBlock block = *heap.allocate(64);
        std::atomic<bool> has_freed = false;
        std::atomic<bool> may_end = false;
    } scene;
    auto thread = *ouro::os::Thread::start(
        [](void* argument) {
            auto& shared = *static_cast<Scene*>(argument);
            shared.heap.deallocate(shared.block);
            shared.has_freed.store(true);
            while (!shared.may_end.load())
                ouro::os::yield_thread();
        },
        &scene);
    while (!scene.has_freed.load())
        ouro::os::yield_thread();
    EXPECT_EQ(scene.heap.check(), Status::ok);
    scene.heap.deallocate(scene.block);
    EXPECT_EQ(scene.heap.check(), Status::corrupt_data);
    // When the thread ends, its block is in the queue of this one's heap.
    scene.may_end.store(true);
    thread.join();
    EXPECT_EQ(scene.heap.counts().queued_blocks, 1U);
    EXPECT_EQ(scene.heap.check(), Status::corrupt_data);
}

TEST(SmallObjectCheck, FindsAnAddressInsideABlock) {
    auto heap = make_heap();
    const MemoryBlock block = *heap.allocate(64);
    heap.deallocate({block.data + 16, block.size});
    EXPECT_EQ(heap.check(), Status::corrupt_data);
}

}  // namespace

#endif
