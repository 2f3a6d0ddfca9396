// Large blocks of several threads, which free each other's and are purged meanwhile.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kUnit = std::size_t{64} << 10;

struct Held {
    std::atomic<std::byte*> data = nullptr;
};

// Whoever takes a block out of a place frees it, whose ever it was.
void exchange_blocks(SmallObjectAllocator& heap, Held* places, std::size_t count, unsigned seed,
                     std::atomic<int>& wrong) {
    std::mt19937 random(seed);
    for (int step = 0; step < 4'000; ++step) {
        const std::size_t bytes = kUnit + 1 + random() % (20 * kUnit);
        const auto block = heap.allocate(bytes);
        if (!block) {
            wrong.fetch_add(1);
            continue;
        }
        std::memcpy(block->data, &bytes, sizeof(bytes));
        std::memcpy(block->data + bytes - sizeof(bytes), &bytes, sizeof(bytes));
        Held& place = places[random() % count];
        std::byte* const other = place.data.exchange(block->data, std::memory_order_acq_rel);
        if (other == nullptr) continue;
        std::size_t size = 0;
        std::size_t end = 0;
        std::memcpy(&size, other, sizeof(size));
        std::memcpy(&end, other + size - sizeof(size), sizeof(end));
        if (size != end) wrong.fetch_add(1);
        heap.deallocate({other, size});
    }
}

TEST(KeptBlocksConcurrent, ThreadsFreeEachOthersBlocksWhileAnotherPurges) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 30});
    ASSERT_TRUE(heap);
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::vector<Held> places(24);
    std::atomic<int> wrong = 0;
    std::atomic<bool> is_over = false;
    std::thread purger([&] {
        while (!is_over.load()) {
            heap->purge();
            ouro::os::yield_thread();
        }
    });
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 3; ++number)
        threads.emplace_back(
            [&, number] { exchange_blocks(*heap, places.data(), places.size(), seed + number, wrong); });
    for (std::thread& thread : threads)
        thread.join();
    is_over.store(true);
    purger.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(heap->check(), Status::ok);
    for (Held& place : places) {
        std::byte* const data = place.data.load();
        std::size_t size = 0;
        if (data == nullptr) continue;
        std::memcpy(&size, data, sizeof(size));
        heap->deallocate({data, size});
    }
    const auto stats = heap->stats();
    EXPECT_EQ(stats.live_bytes, 0U);
    EXPECT_EQ(stats.live_blocks, 0U);
    EXPECT_EQ(stats.allocations, 3U * 4'000U);
    EXPECT_EQ(heap->check(), Status::ok);
}

// In a full heap, what an idle thread keeps serves the others.
TEST(KeptBlocksConcurrent, WhatAnotherKeepsServesBeforeTheHeapIsExhausted) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    std::vector<MemoryBlock> blocks;
    std::atomic<int> stage = 0;
    const auto wait_for = [&stage](int wanted) {
        while (stage.load() < wanted)
            ouro::os::yield_thread();
    };
    std::thread other([&] {
        // In a full heap it would get none of its own, and keep nothing.
        if (const auto first = heap->allocate(64)) heap->deallocate(*first);
        stage.store(1);
        wait_for(2);
        if (!blocks.empty()) heap->deallocate(blocks[0]);
        stage.store(3);
        wait_for(4);
    });
    wait_for(1);
    while (const auto block = heap->allocate(8 * kUnit))
        blocks.push_back(*block);
    while (const auto block = heap->allocate(2 * kUnit))
        blocks.push_back(*block);
    EXPECT_GT(blocks.size(), 10U);
    stage.store(2);
    wait_for(3);
    EXPECT_GE(heap->counts().cached_bytes, 8 * kUnit);
    const auto again = heap->allocate(8 * kUnit);
    EXPECT_TRUE(again);
    stage.store(4);
    other.join();
    EXPECT_EQ(heap->check(), Status::ok);
    if (again) blocks[0] = *again;
    for (const MemoryBlock& block : blocks)
        heap->deallocate(block);
    EXPECT_EQ(heap->stats().live_bytes, 0U);
}

}  // namespace
