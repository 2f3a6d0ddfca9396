// What threads keep in their caches is in proportion to what they do with it.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kBlocks = 2048;

class SmallObjectCaches : public testing::Test {
public:
    [[nodiscard]] std::vector<MemoryBlock> take(std::size_t bytes) {
        std::vector<MemoryBlock> blocks;
        for (std::size_t index = 0; index < kBlocks; ++index)
            blocks.push_back(*heap_.allocate(bytes));
        return blocks;
    }
    // In an order that meets all slabs again and again.
    void free_scattered(const std::vector<MemoryBlock>& blocks) {
        constexpr std::size_t kStep = 1021;
        for (std::size_t index = 0; index < blocks.size(); ++index)
            heap_.deallocate(blocks[index * kStep % blocks.size()]);
    }

    SmallObjectAllocator heap_ = std::move(*SmallObjectAllocator::create({}));
};

TEST_F(SmallObjectCaches, OfAThreadThatOnlyFreesHoldFewLargeBlocks) {
    constexpr std::size_t kBytes = std::size_t{8} << 10;
    struct Work {
        SmallObjectCaches& test;
        const std::vector<MemoryBlock>& blocks;
        std::size_t cached = 0;
    };
    const std::vector<MemoryBlock> blocks = take(kBytes);
    const std::size_t before = heap_.counts().cached_bytes;
    Work work{*this, blocks};
    auto thread = ouro::os::Thread::start(
        [](void* argument) {
            auto& [test, own, cached] = *static_cast<Work*>(argument);
            test.free_scattered(own);
            const auto counts = test.heap_.counts();
            cached = counts.cached_bytes - counts.queued_blocks * kBytes;
        },
        &work);
    ASSERT_TRUE(thread);
    thread->join();
    EXPECT_LE(work.cached - before, std::size_t{512} << 10);
    EXPECT_EQ(heap_.check(), Status::ok);
}

// Blocks of other sizes take the memory of those that were before, though some of each slab had stayed in a
// cache.
TEST_F(SmallObjectCaches, ThatNobodyUsesAnyMoreKeepNoSlabs) {
    std::size_t most = 0;
    std::vector<MemoryBlock> blocks = take(512);
    for (std::size_t bytes = 640; bytes <= 4096; bytes += bytes / 4) {
        std::vector<MemoryBlock> larger = take(bytes);
        free_scattered(std::exchange(blocks, std::move(larger)));
        most = kBlocks * bytes;
    }
    free_scattered(blocks);
    // The last two sizes are there at a time, rounded up to their classes; what was before them is not.
    EXPECT_LE(heap_.stats().peak_bytes, 5 * most / 2);
    EXPECT_EQ(heap_.check(), Status::ok);
}

}  // namespace
