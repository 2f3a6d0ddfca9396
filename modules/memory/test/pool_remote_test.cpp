// Blocks of a pool that other threads free.
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::PoolAllocator;
using ouro::Status;
using ouro::os::Thread;

// Frees its part of the blocks on a thread of its own.
struct Freer {
    PoolAllocator* pool = nullptr;
    std::vector<MemoryBlock> blocks;

    static void run(void* argument) {
        auto& self = *static_cast<Freer*>(argument);
        for (const MemoryBlock block : self.blocks)
            self.pool->deallocate(block);
    }
};

TEST(PoolRemote, TheOwnerGetsBackWhatOthersFreed) {
    constexpr std::size_t kBlocks = 3000;
    auto pool = PoolAllocator::create({.block_bytes = 32, .max_blocks = kBlocks});
    ASSERT_TRUE(pool);
    std::array<Freer, 3> freers;
    std::array<Thread, 3> threads;
    for (std::uint64_t round = 1; round <= 5; ++round) {
        for (Freer& freer : freers) {
            freer.pool = &*pool;
            freer.blocks.clear();
            for (std::size_t i = 0; i < kBlocks / 3; ++i) {
                const auto block = pool->allocate_block();
                ASSERT_TRUE(block);
                freer.blocks.push_back(*block);
            }
        }
        EXPECT_EQ(pool->allocate_block().status(), Status::capacity_exhausted);
        for (std::size_t i = 0; i < threads.size(); ++i) {
            auto started = Thread::start(Freer::run, &freers[i]);
            ASSERT_TRUE(started);
            threads[i] = *std::move(started);
        }
        for (Thread& thread : threads)
            thread.join();
        EXPECT_EQ(pool->live_blocks(), 0U);
        EXPECT_EQ(pool->pool_stats().remote_frees, round * kBlocks);
        EXPECT_EQ(pool->pool_stats().longest_remote_queue, kBlocks);
        EXPECT_EQ(pool->check(), Status::ok);
    }
    EXPECT_EQ(pool->pool_stats().fresh, kBlocks);
    EXPECT_EQ(pool->info().thread_safety, ouro::ThreadSafety::free_from_any_thread);
}

TEST(PoolRemote, TrimAndResetTakeRemoteBlocksToo) {
    auto pool = PoolAllocator::create({.block_bytes = 256, .max_blocks = 10'000});
    ASSERT_TRUE(pool);
    for (const bool trims : {true, false}) {
        Freer freer{.pool = &*pool, .blocks = {}};
        for (int i = 0; i < 10'000; ++i)
            freer.blocks.push_back(*pool->allocate_block());
        auto thread = Thread::start(Freer::run, &freer);
        ASSERT_TRUE(thread);
        thread->join();
        if (trims) {
            EXPECT_GT(pool->trim(), 0U);
        } else {
            pool->reset();
        }
        EXPECT_EQ(pool->live_blocks(), 0U);
        EXPECT_EQ(pool->check(), Status::ok);
        EXPECT_EQ(pool->allocate_block()->data, freer.blocks[0].data);
        pool->reset();
    }
}

// Allocates on a thread that took the pool over.
struct Heir {
    PoolAllocator* pool = nullptr;
    bool owned_at_first = true;
    bool owned_at_last = false;
    Status status = Status::ok;

    static void run(void* argument) {
        auto& self = *static_cast<Heir*>(argument);
        self.owned_at_first = self.pool->is_owner();
        self.pool->bind_to_this_thread();
        self.owned_at_last = self.pool->is_owner();
        const auto block = self.pool->allocate_block();
        self.status = block.status();
        if (block) self.pool->deallocate(*block);
    }
};

struct Visitor {
    std::optional<PoolAllocator> pool;
    MemoryBlock block;
    bool is_owner = false;

    static void make(void* argument) {
        auto& self = *static_cast<Visitor*>(argument);
        self.pool = *PoolAllocator::create({.block_bytes = 32, .max_blocks = 10});
        self.block = *self.pool->allocate_block();
    }
    static void free(void* argument) {
        auto& self = *static_cast<Visitor*>(argument);
        self.is_owner = self.pool->is_owner();
        self.pool->deallocate(self.block);
    }
};

// The system gives what belonged to a thread that has ended to the next: it must not be taken for the same.
TEST(PoolRemote, NobodyInheritsAPoolFromAThreadThatHasEnded) {
    Visitor visitor;
    Thread::start(Visitor::make, &visitor)->join();
    Thread::start(Visitor::free, &visitor)->join();
    EXPECT_FALSE(visitor.is_owner);
    visitor.pool->bind_to_this_thread();
    EXPECT_EQ(visitor.pool->pool_stats().remote_frees, 1U);
    EXPECT_EQ(visitor.pool->live_blocks(), 0U);
    EXPECT_EQ(visitor.pool->check(), Status::ok);
}

TEST(PoolRemote, AThreadCanTakeThePoolOver) {
    auto pool = PoolAllocator::create({.block_bytes = 32, .max_blocks = 10});
    ASSERT_TRUE(pool);
    EXPECT_TRUE(pool->is_owner());
    const auto block = pool->allocate_block();
    ASSERT_TRUE(block);
    Heir heir{.pool = &*pool};
    auto thread = Thread::start(Heir::run, &heir);
    ASSERT_TRUE(thread);
    thread->join();
    EXPECT_FALSE(heir.owned_at_first);
    EXPECT_TRUE(heir.owned_at_last);
    EXPECT_EQ(heir.status, Status::ok);
    EXPECT_FALSE(pool->is_owner());
    pool->deallocate(*block);
    EXPECT_EQ(pool->pool_stats().remote_frees, 1U);
    pool->bind_to_this_thread();
    EXPECT_EQ(pool->live_blocks(), 0U);
    EXPECT_EQ(pool->check(), Status::ok);
}

}  // namespace
