// Heaps of threads that have ended cost those who go on nothing, unless they have something to give.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kThreads = 12;
constexpr std::size_t kBytes = 64;
constexpr std::size_t kOtherBytes = 1024;
// More than any slab has.
constexpr std::size_t kSlabsOfBlocks = std::size_t{16} << 10;

class SmallObjectOrphans : public testing::Test {
protected:
    void SetUp() override {
        // This thread has a heap already when the others leave theirs.
        heap_.deallocate(*heap_.allocate(kOtherBytes));
    }

    // Threads that are all there at a time, or one heap would do for all, take so many blocks each and end.
    void leave_blocks(std::size_t count) {
        std::atomic<std::size_t> ready = 0;
        auto work = [&] {
            std::vector<MemoryBlock> blocks;
            for (std::size_t index = 0; index < count; ++index)
                blocks.push_back(*heap_.allocate(kBytes));
            left_[ready.fetch_add(1)] = std::move(blocks);
            while (ready.load() != kThreads)
                ouro::os::yield_thread();
        };
        std::vector<ouro::os::Thread> threads;
        for (std::size_t index = 0; index < kThreads; ++index)
            threads.push_back(*ouro::os::Thread::start(
                [](void* argument) { (*static_cast<decltype(work)*>(argument))(); }, &work));
        for (auto& thread : threads)
            thread.join();
        ASSERT_EQ(heap_.counts().orphans, kThreads);
    }
    void take_slabs(std::size_t bytes) {
        for (std::size_t index = 0; index < kSlabsOfBlocks; ++index)
            ASSERT_TRUE(heap_.allocate(bytes));
    }
    [[nodiscard]] std::uint64_t visits() const { return heap_.counts().orphan_visits; }

    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({.max_bytes = std::size_t{256} << 20});
    std::array<std::vector<MemoryBlock>, kThreads> left_;
};

TEST_F(SmallObjectOrphans, AreVisitedOnceUntilTheyHaveSomethingNew) {
    leave_blocks(1);
    take_slabs(kOtherBytes);
    EXPECT_EQ(visits(), kThreads);
    take_slabs(kOtherBytes);
    EXPECT_EQ(visits(), kThreads);
    // Of this class each has a slab to give, and nothing more afterwards.
    take_slabs(kBytes);
    EXPECT_EQ(visits(), 2 * kThreads);
    take_slabs(kBytes);
    EXPECT_EQ(visits(), 2 * kThreads);
    EXPECT_EQ(heap_.check(), Status::ok);
}

// What the threads before came to need is no measure for a short one, which would fetch it and send it home.
TEST_F(SmallObjectOrphans, AreAdoptedWithSmallCaches) {
    struct Work {
        SmallObjectAllocator& heap;
        std::size_t blocks;
        std::size_t cached = 0;
    };
    const auto run = [this](std::size_t blocks) {
        Work work{heap_, blocks};
        auto thread = ouro::os::Thread::start(
            [](void* argument) {
                auto& [heap, count, cached] = *static_cast<Work*>(argument);
                const std::size_t before = heap.counts().cached_bytes;
                std::vector<MemoryBlock> taken;
                for (std::size_t index = 0; index < count; ++index)
                    taken.push_back(*heap.allocate(kBytes));
                cached = heap.counts().cached_bytes - before;
                for (const MemoryBlock block : taken)
                    heap.deallocate(block);
            },
            &work);
        EXPECT_TRUE(thread);
        if (thread) thread->join();
        return work.cached;
    };
    const std::size_t first = run(1);
    run(kSlabsOfBlocks);
    EXPECT_EQ(heap_.counts().orphans, 1U);
    EXPECT_EQ(run(1), first);
    EXPECT_EQ(heap_.check(), Status::ok);
}

// A purge looks at all of them, and takes nothing from those who look next.
TEST_F(SmallObjectOrphans, GiveTheirSlabsAfterAPurge) {
    leave_blocks(1);
    EXPECT_EQ(heap_.purge().skipped_heaps, 0U);
    const std::size_t before = heap_.stats().peak_bytes;
    for (std::size_t index = 0; index < kThreads * 900; ++index)
        ASSERT_TRUE(heap_.allocate(kBytes));
    EXPECT_EQ(heap_.stats().peak_bytes, before);
    EXPECT_EQ(heap_.check(), Status::ok);
}

TEST_F(SmallObjectOrphans, BlocksThatComeHomeLaterServeOtherSizes) {
    leave_blocks(20'000);
    take_slabs(kOtherBytes);
    const std::size_t visited = visits();
    for (const auto& blocks : left_)
        for (const MemoryBlock block : blocks)
            heap_.deallocate(block);
    const std::size_t before = heap_.stats().peak_bytes;
    for (std::size_t index = 0; index < kThreads * 15'000 * kBytes / kOtherBytes; ++index)
        ASSERT_TRUE(heap_.allocate(kOtherBytes));
    EXPECT_LE(heap_.stats().peak_bytes, before + (std::size_t{128} << 10));
    EXPECT_GE(visits(), visited + kThreads);
    EXPECT_EQ(heap_.check(), Status::ok);
}

// Every state that a heap of a thread can be in when others purge, send it blocks and look for slabs.
TEST_F(SmallObjectOrphans, ThreadsThatComeAndGoBesidePurgesLoseNothing) {
    std::atomic<bool> is_done = false;
    auto purge = [&] {
        while (!is_done.load())
            heap_.purge();
    };
    auto purger = *ouro::os::Thread::start(
        [](void* argument) { (*static_cast<decltype(purge)*>(argument))(); }, &purge);
    for (int round = 0; round < 20; ++round) {
        std::atomic<std::size_t> next = 0;
        auto work = [&] {
            std::vector<MemoryBlock>& mine = left_[next.fetch_add(1)];
            for (std::size_t index = 0; index < 500; ++index)
                mine.push_back(*heap_.allocate(kBytes + index));
        };
        std::vector<ouro::os::Thread> threads;
        for (int index = 0; index < 3; ++index)
            threads.push_back(*ouro::os::Thread::start(
                [](void* argument) { (*static_cast<decltype(work)*>(argument))(); }, &work));
        for (auto& thread : threads)
            thread.join();
        for (auto& blocks : left_) {
            for (const MemoryBlock block : blocks)
                heap_.deallocate(block);
            blocks.clear();
        }
    }
    is_done.store(true);
    purger.join();
    // The first sends home what this thread has; the second finds it there.
    EXPECT_EQ(heap_.purge().skipped_heaps, 0U);
    EXPECT_EQ(heap_.purge().skipped_heaps, 0U);
    EXPECT_EQ(heap_.stats().live_blocks, 0U);
    EXPECT_EQ(heap_.counts().cached_bytes, 0U);
    EXPECT_EQ(heap_.check(), Status::ok);
}

}  // namespace
