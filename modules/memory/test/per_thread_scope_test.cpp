// Scopes without allocation belong to their thread, a seal to the whole process.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::Status;
using ouro::os::Thread;

TEST(NoAllocationScopeThreads, AnotherThreadMayAllocate) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    const ouro::NoAllocationScope quiet("this thread");
    auto thread = Thread::start(
        [](void* argument) {
            const ouro::Allocator memory = *static_cast<FrameAllocator*>(argument);
            EXPECT_TRUE(ouro::is_allocation_allowed());
            EXPECT_TRUE(memory.allocate(100));
        },
        &*frame);
    ASSERT_TRUE(thread);
    thread->join();
    EXPECT_FALSE(ouro::is_allocation_allowed());
    EXPECT_GE(frame->used_bytes(), 100U);
}

struct Growing {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> sealed{0};
    std::atomic<std::uint64_t> other{0};

    // Makes frames that must grow, over and over.
    void run() {
        while (!stop.load(std::memory_order_relaxed)) {
            auto frame = FrameAllocator::create({.max_bytes = 65536});
            const Status status = frame ? frame->allocate(1000).status() : frame.status();
            if (status == Status::sealed) sealed.fetch_add(1, std::memory_order_relaxed);
            if (status != Status::sealed && status != Status::ok) other.fetch_add(1);
        }
    }
};

TEST(SealThreads, ASealIsSeenByAllAndCountsEachRefusal) {
    Growing growing;
    const std::uint64_t before = ouro::refused_growths();
    std::array<Thread, 3> threads;
    for (Thread& thread : threads) {
        auto started =
            Thread::start([](void* argument) { static_cast<Growing*>(argument)->run(); }, &growing);
        ASSERT_TRUE(started);
        thread = *std::move(started);
    }
    for (int i = 0; i < 20; ++i) {
        const ouro::SealScope sealed;
        const std::uint64_t seen = growing.sealed.load(std::memory_order_relaxed);
        while (growing.sealed.load(std::memory_order_relaxed) == seen)
            ouro::os::yield_thread();
    }
    growing.stop.store(true);
    for (Thread& thread : threads)
        thread.join();
    EXPECT_EQ(growing.other.load(), 0U);
    EXPECT_EQ(ouro::refused_growths() - before, growing.sealed.load());
    EXPECT_FALSE(ouro::is_sealed());
}

}  // namespace
