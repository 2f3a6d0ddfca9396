// Which pages have memory: those that were prewarmed, and else those that the user of a block has touched. So
// the system puts a page on the node of the thread that uses it first, and not of the one that grew a heap.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace ouro;

constexpr std::size_t kMax = std::size_t{64} << 20;
constexpr std::size_t kBlock = std::size_t{4} << 20;

bool is_in_memory(const std::byte* address) {
    return os::numa_node_of(address).status() != Status::not_mapped;
}

// Every page of it.
bool is_in_memory(MemoryBlock block) {
    for (std::size_t offset = 0; offset < block.size; offset += os::page_size()) {
        if (!is_in_memory(block.data + offset)) return false;
    }
    return true;
}

// One large block is allocated and not touched. Its middle lies further from everything else than the largest
// page that the system may have put there on its own.
template <class Make>
void expect_pages(const char* name, Make make) {
    SCOPED_TRACE(name);
    auto cold = make(0);
    auto warm = make(kBlock + (kBlock / 2));
    ASSERT_TRUE(cold && warm);
    const auto cold_block = cold->allocate(kBlock, 16);
    const auto warm_block = warm->allocate(kBlock, 16);
    ASSERT_TRUE(cold_block && warm_block);
    EXPECT_FALSE(is_in_memory(cold_block->data + kBlock / 2));
    EXPECT_TRUE(is_in_memory(*warm_block));
}

TEST(FirstTouch, WhatIsPrewarmedIsInMemoryAndNothingElse) {
    expect_pages("frame", [](std::size_t bytes) {
        return FrameAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
    });
    expect_pages("stack", [](std::size_t bytes) {
        return StackAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
    });
    expect_pages("pool", [](std::size_t bytes) {
        return PoolAllocator::create({.block_bytes = kBlock, .max_blocks = 8, .prewarm_bytes = bytes});
    });
    expect_pages("tlsf", [](std::size_t bytes) {
        return TlsfAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
    });
    expect_pages("small objects", [](std::size_t bytes) {
        return SmallObjectAllocator::create({.max_bytes = kMax, .prewarm_bytes = bytes});
    });
}

TEST(FirstTouch, SlabsOfAThreadAreNotTouchedBeforeTheirBlocksAre) {
    auto heap = SmallObjectAllocator::create({.max_bytes = kMax});
    ASSERT_TRUE(heap);
    std::vector<MemoryBlock> blocks;
    for (std::size_t bytes = 0; bytes < 2 * kBlock; bytes += 4096)
        blocks.push_back(*heap->allocate(4096));
    const MemoryBlock middle = blocks[blocks.size() / 2];
    EXPECT_FALSE(is_in_memory(middle.data));
    middle.data[0] = std::byte{1};
    EXPECT_TRUE(is_in_memory(middle.data));
    for (const MemoryBlock block : blocks)
        heap->deallocate(block);
}

}  // namespace
