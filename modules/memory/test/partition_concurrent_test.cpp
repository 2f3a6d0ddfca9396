#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

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
using ouro::PartitionGuards;
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

void serve_all_threads(PartitionGuards guards) {
    const PartitionOptions part{.max_bytes = std::size_t{8} << 20,
                                .guards = guards,
                                .thread_safety = ThreadSafety::any_thread,
                                .keep_empty_bytes = 0};
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

TEST(PartitionConcurrent, OnePartitionServesAllThreadsWhenAskedTo) {
    serve_all_threads(PartitionGuards::none);
}

// With guards behind a lock.
TEST(PartitionConcurrent, OnePartitionWithGuardsServesAllThreads) {
    if (os::page_size() >= ouro::partition::kSpanBytes) return;
    serve_all_threads(PartitionGuards::spans);
}

// Blocks lie in places where any thread takes and frees them, with a stamp at both ends, while one thread
// also gives memory back; two partitions at once, so that a block in the wrong one would be noticed.
class Exchange {
public:
    explicit Exchange(PartitionAllocator& set) : set_(set) {}

    void work(std::uint64_t seed) {
        ouro::Random random(seed);
        for (int step = 0; step < kSteps; ++step) {
            const std::size_t place = random.below(kPlaces);
            drop(place, places_[place].exchange(nullptr));
            const auto block = part_of(place).allocate(size_of(place));
            if (block) {
                block->data[0] = block->data[size_of(place) - 1] = stamp_of(place);
                drop(place, places_[place].exchange(block->data));
            }
            if (seed == 1 && step % 64 == 0) set_.trim();
        }
    }

    void drop_all() {
        for (std::size_t place = 0; place < kPlaces; ++place)
            drop(place, places_[place].exchange(nullptr));
    }

    [[nodiscard]] std::uint32_t damaged() const { return damaged_; }

private:
    static constexpr std::size_t kPlaces = 128;
    static std::size_t size_of(std::size_t place) { return place == 0 ? 100'000 : 8 + place * 24; }
    static std::byte stamp_of(std::size_t place) { return static_cast<std::byte>(place + 1); }
    Partition& part_of(std::size_t place) { return set_[place % 2]; }

    void drop(std::size_t place, std::byte* data) {
        if (data == nullptr) return;
        const bool is_whole = data[0] == stamp_of(place) && data[size_of(place) - 1] == stamp_of(place) &&
                              set_.owner_of(data) == &part_of(place);
        damaged_ += is_whole ? 0U : 1U;
        part_of(place).deallocate({data, size_of(place)});
    }

    PartitionAllocator& set_;
    std::array<std::atomic<std::byte*>, kPlaces> places_{};
    std::atomic<std::uint32_t> damaged_ = 0;
};

TEST(PartitionConcurrent, AnyThreadFreesWhatAnotherAllocated) {
    const PartitionOptions part{
        .max_bytes = std::size_t{4} << 20, .thread_safety = ThreadSafety::any_thread, .keep_empty_bytes = 0};
    const PartitionOptions parts[] = {part, part};
    auto set = PartitionAllocator::create({.partitions = parts});
    ASSERT_TRUE(set);
    Exchange exchange(*set);
    ouro::testing_support::run_workers(kThreads, [&](std::size_t index) { exchange.work(index + 1); });
    exchange.drop_all();
    EXPECT_EQ(exchange.damaged(), 0U);
    EXPECT_EQ(set->check(), Status::ok);
    EXPECT_EQ(set->stats().live_blocks, 0U);
    EXPECT_EQ(set->stats().live_bytes, 0U);
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
