// Bookkeeping lies apart: what a block holds when it is freed, it still holds when it is handed out again. In
// between it was in a cache, on its way home from another thread, with a parcel and without, and in its slab.
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::size_t kBlocks = 20'000;
constexpr std::size_t kSizes[] = {16, 48, 512};

std::byte pattern_of(const std::byte* place) {
    return static_cast<std::byte>(reinterpret_cast<std::uintptr_t>(place) * 2654435761U >> 7 | 1U);
}

std::vector<MemoryBlock> fill_blocks(MemoryResource& resource, std::size_t size) {
    std::vector<MemoryBlock> blocks;
    for (std::size_t count = 0; count < kBlocks; ++count) {
        const auto block = resource.allocate(size);
        if (!block) break;
        for (std::byte& place : block->bytes())
            place = pattern_of(&place);
        blocks.push_back(*block);
    }
    return blocks;
}

// Neighbours not one after the other: so each of them takes a line of a parcel for itself, and parcels run
// out.
void free_all(MemoryResource& resource, const std::vector<MemoryBlock>& blocks) {
    constexpr std::size_t kStride = 509;
    for (std::size_t first = 0; first < kStride; ++first)
        for (std::size_t index = first; index < blocks.size(); index += kStride)
            resource.deallocate(blocks[index]);
}

// Free blocks are looked into on purpose.
OURO_LOOKS_INTO_FREE_MEMORY std::size_t count_touched(const std::vector<MemoryBlock>& blocks) {
    const annotate::QuietScope quiet;
    std::size_t touched = 0;
    for (const MemoryBlock& block : blocks) {
        bool is_as_before = true;
        for (const std::byte* place = block.data; place != block.data + block.size; ++place)
            is_as_before &= *place == pattern_of(place);
        touched += is_as_before ? 0U : 1U;
    }
    return touched;
}

void free_on_another_thread(MemoryResource& resource, const std::vector<MemoryBlock>& blocks) {
    struct Work {
        MemoryResource& resource;
        const std::vector<MemoryBlock>& blocks;
    } work{resource, blocks};
    auto thread = os::Thread::start(
        [](void* argument) {
            const auto& all = *static_cast<Work*>(argument);
            free_all(all.resource, all.blocks);
        },
        &work);
    ASSERT_TRUE(thread);
    thread->join();
}

void expect_untouched(MemoryResource& resource, bool from_another_thread) {
    for (const std::size_t size : kSizes) {
        SCOPED_TRACE("size " + std::to_string(size));
        const auto blocks = fill_blocks(resource, size);
        ASSERT_EQ(blocks.size(), kBlocks);
        if (from_another_thread) {
            free_on_another_thread(resource, blocks);
        } else {
            free_all(resource, blocks);
        }
        EXPECT_EQ(count_touched(blocks), 0U) << "after they were freed";
        // They come home when the next is wanted.
        std::vector<MemoryBlock> again;
        for (std::size_t count = 0; count < kBlocks; ++count)
            again.push_back(*resource.allocate(size));
        EXPECT_EQ(count_touched(blocks), 0U) << "when they were handed out again";
        EXPECT_EQ(resource.check(), Status::ok);
        for (const MemoryBlock block : again)
            resource.deallocate(block);
    }
}

PartitionOptions partition_for(ThreadSafety thread_safety) {
    // Memory that is given back would read zero.
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    return {.max_bytes = kBytes, .thread_safety = thread_safety, .keep_empty_bytes = kBytes};
}

TEST(UntouchedBlocks, OfAPartitionForOneThread) {
    const PartitionOptions options = partition_for(ThreadSafety::single_thread);
    auto set = PartitionAllocator::create({.partitions = {&options, 1}});
    ASSERT_TRUE(set);
    expect_untouched((*set)[0], false);
}

TEST(UntouchedBlocks, OfAPartitionForAnyThread) {
    const PartitionOptions options = partition_for(ThreadSafety::any_thread);
    auto set = PartitionAllocator::create({.partitions = {&options, 1}});
    ASSERT_TRUE(set);
    expect_untouched((*set)[0], false);
    expect_untouched((*set)[0], true);
}

TEST(UntouchedBlocks, OfASmallObjectHeap) {
    auto heap = SmallObjectAllocator::create({.purge_threshold_bytes = std::size_t{1} << 30});
    ASSERT_TRUE(heap);
    expect_untouched(*heap, false);
    expect_untouched(*heap, true);
}

}  // namespace
}  // namespace ouro
