#include <ouro/base/random.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionOptions;
using ouro::Status;
using ouro::ThreadSafety;
namespace os = ouro::os;

constexpr std::size_t kThreads = 4;
constexpr int kSteps = 4000;

struct Worker {
    Partition* part = nullptr;
    std::uint64_t seed = 0;
    std::uint32_t damaged = 0;

    // Every block is filled with its worker's stamp and looked at before it goes.
    void run() {
        ouro::Random random(seed);
        const auto stamp = static_cast<unsigned char>(seed);
        std::array<MemoryBlock, 64> blocks{};
        for (int step = 0; step < kSteps; ++step) {
            MemoryBlock& block = blocks[random.below(blocks.size())];
            release(block, stamp);
            const auto fresh = part->allocate(1 + random.below(random.chance(0.95) ? 500 : 40'000));
            if (!fresh) continue;
            block = *fresh;
            std::memset(block.data, stamp, block.size);
        }
        for (MemoryBlock& block : blocks)
            release(block, stamp);
    }

    void release(MemoryBlock& block, unsigned char stamp) {
        for (std::size_t i = 0; i < block.size; i += 16)
            damaged += block.data[i] == std::byte{stamp} ? 0U : 1U;
        part->deallocate(block);
        block = {};
    }
};

void run_all(std::array<Worker, kThreads>& workers) {
    std::array<os::Thread, kThreads> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
        workers[i].seed = i + 1;
        auto started =
            os::Thread::start([](void* worker) { static_cast<Worker*>(worker)->run(); }, &workers[i]);
        ASSERT_TRUE(started);
        threads[i] = *std::move(started);
    }
    for (os::Thread& thread : threads)
        thread.join();
    for (const Worker& worker : workers)
        EXPECT_EQ(worker.damaged, 0U);
}

TEST(PartitionConcurrent, OnePartitionServesAllThreadsWhenAskedTo) {
    const PartitionOptions part{
        .max_bytes = std::size_t{8} << 20, .thread_safety = ThreadSafety::any_thread, .keep_empty_bytes = 0};
    auto set = PartitionAllocator::create({.partitions = {&part, 1}});
    ASSERT_TRUE(set);
    EXPECT_EQ((*set)[0].info().thread_safety, ThreadSafety::any_thread);
    std::array<Worker, kThreads> workers;
    for (Worker& worker : workers)
        worker.part = &(*set)[0];
    run_all(workers);
    EXPECT_EQ(set->check(), Status::ok);
    EXPECT_EQ(set->stats().live_blocks, 0U);
    EXPECT_EQ(set->stats().allocations + set->stats().failures, kThreads * std::uint64_t{kSteps});
}

// Partitions share nothing: each thread has one to itself, without a lock.
TEST(PartitionConcurrent, DifferentPartitionsNeedNoLock) {
    std::array<PartitionOptions, kThreads> parts;
    parts.fill({.max_bytes = std::size_t{4} << 20, .keep_empty_bytes = 0});
    auto set = PartitionAllocator::create({.partitions = parts});
    ASSERT_TRUE(set);
    std::array<Worker, kThreads> workers;
    for (std::size_t i = 0; i < kThreads; ++i)
        workers[i].part = &(*set)[i];
    run_all(workers);
    EXPECT_EQ(set->check(), Status::ok);
    EXPECT_EQ(set->stats().live_blocks, 0U);
}

}  // namespace
