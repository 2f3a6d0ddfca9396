// The heap for small objects used by several threads at once.
#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Random;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{32} << 20;

SmallObjectAllocator make_heap() {
    return *SmallObjectAllocator::create({.max_bytes = kBytes});
}

// Runs a callable on a thread of its own; the callable must outlive the thread.
template <class Callable>
ouro::os::Thread start(Callable& callable) {
    return *ouro::os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
}

// A block that knows its size and is filled with a stamp that follows from its address.
struct Stamped {
    MemoryBlock block;

    void stamp() const { std::memset(block.data, value(), block.size); }
    [[nodiscard]] bool is_intact() const {
        for (const std::byte byte : block.bytes())
            if (byte != std::byte{value()}) return false;
        return true;
    }
    [[nodiscard]] std::uint8_t value() const {
        return static_cast<std::uint8_t>((reinterpret_cast<std::uintptr_t>(block.data) >> 4) ^ block.size);
    }
};

// Blocks change hands here: whoever comes takes what lies in a place and leaves its own.
class Exchange {
public:
    [[nodiscard]] Stamped swap(std::size_t place, Stamped mine) {
        Place& chosen = places_[place % places_.size()];
        while (chosen.is_taken.exchange(true, std::memory_order_acquire))
            ouro::os::yield_thread();
        std::swap(chosen.content, mine);
        chosen.is_taken.store(false, std::memory_order_release);
        return mine;
    }

private:
    struct Place {
        std::atomic<bool> is_taken = false;
        Stamped content;
    };
    std::array<Place, 64> places_;
};

// Random work of one thread: allocates, stamps, swaps with others, verifies and frees.
class Worker {
public:
    Worker(SmallObjectAllocator& heap, Exchange& exchange, std::uint64_t seed, int steps)
        : heap_(heap), exchange_(exchange), random_(seed), steps_(steps) {}

    void operator()() {
        for (int step = 0; step < steps_; ++step) {
            const auto block = heap_.allocate(random_size());
            if (!block) {
                ++failures;
                continue;
            }
            Stamped mine{*block};
            mine.stamp();
            const Stamped other = exchange_.swap(random_.below(64), mine);
            if (other.block.is_null()) continue;
            if (!other.is_intact()) ++broken;
            heap_.deallocate(other.block);
        }
    }

    int broken = 0;
    int failures = 0;

private:
    std::size_t random_size() {
        const std::uint32_t most = random_.below(50) == 0 ? 200'000 : random_.below(5) == 0 ? 5000 : 300;
        return 1 + random_.below(most);
    }

    SmallObjectAllocator& heap_;
    Exchange& exchange_;
    Random random_;
    int steps_;
};

void free_all(SmallObjectAllocator& heap, Exchange& exchange) {
    for (std::size_t place = 0; place < 64; ++place) {
        const Stamped left = exchange.swap(place, {});
        if (left.block.is_null()) continue;
        EXPECT_TRUE(left.is_intact());
        heap.deallocate(left.block);
    }
}

TEST(SmallObjectConcurrent, BlocksOfAllThreadsStayIntactWhoeverFreesThem) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto heap = make_heap();
        Exchange exchange;
        std::vector<Worker> workers;
        for (std::uint64_t index = 0; index < 4; ++index)
            workers.emplace_back(heap, exchange, seed * 100 + index, 5000);
        std::vector<ouro::os::Thread> threads;
        for (Worker& worker : workers)
            threads.push_back(start(worker));
        for (auto& thread : threads)
            thread.join();
        for (const Worker& worker : workers) {
            EXPECT_EQ(worker.broken, 0);
            EXPECT_EQ(worker.failures, 0);
        }
        free_all(heap, exchange);
        EXPECT_EQ(heap.stats().live_blocks, 0U);
        EXPECT_EQ(heap.stats().live_bytes, 0U);
        EXPECT_EQ(heap.stats().allocations, 20'000U);
        EXPECT_EQ(heap.check(), Status::ok);
    }
}

TEST(SmallObjectConcurrent, OneWayTrafficDoesNotGrowMemory) {
    auto heap = make_heap();
    constexpr int kRounds = 300;
    std::vector<MemoryBlock> batch(500);
    std::atomic<int> produced = 0;
    std::atomic<int> consumed = 0;
    std::size_t early_bytes = 0;
    auto consumer = [&] {
        for (int round = 1; round <= kRounds; ++round) {
            while (produced.load(std::memory_order_acquire) != round)
                ouro::os::yield_thread();
            for (const MemoryBlock block : batch)
                heap.deallocate(block);
            consumed.store(round, std::memory_order_release);
        }
    };
    auto thread = start(consumer);
    for (int round = 1; round <= kRounds; ++round) {
        for (MemoryBlock& block : batch)
            block = *heap.allocate(100);
        produced.store(round, std::memory_order_release);
        while (consumed.load(std::memory_order_acquire) != round)
            ouro::os::yield_thread();
        if (round == 20) early_bytes = heap.stats().peak_bytes;
    }
    thread.join();
    EXPECT_EQ(heap.stats().peak_bytes, early_bytes);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

// Another thread frees blocks of this one, which takes no notice until all are on their way: more than fit in
// parcels when neighbours do not come together.
void free_elsewhere(SmallObjectAllocator& heap, const std::vector<MemoryBlock>& blocks) {
    auto consumer = [&] {
        for (const MemoryBlock block : blocks)
            heap.deallocate(block);
    };
    auto thread = start(consumer);
    thread.join();
}

TEST(SmallObjectConcurrent, BlocksFreedElsewhereComeHomeInWhateverOrder) {
    constexpr std::uint64_t kSeed = 0x5ca77e2ed;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random(kSeed);
    constexpr std::uint32_t kCount = 3000;
    for (const std::size_t size : std::array<std::size_t, 6>{16, 48, 64, 256, 2000, 5000}) {
        SCOPED_TRACE(size);
        auto heap = make_heap();
        std::vector<MemoryBlock> blocks(kCount);
        for (int round = 0; round < 4; ++round) {
            for (MemoryBlock& block : blocks)
                block = *heap.allocate(size);
            if (round == 1) std::reverse(blocks.begin(), blocks.end());
            for (std::uint32_t left = kCount; round >= 2 && left > 1; --left)
                std::swap(blocks[left - 1], blocks[random.below(left)]);
            const std::size_t before = heap.stats().peak_bytes;
            free_elsewhere(heap, blocks);
            EXPECT_EQ(heap.counts().queued_blocks, kCount);
            EXPECT_EQ(heap.stats().live_blocks, 0U);
            ASSERT_EQ(heap.check(), Status::ok);
            for (MemoryBlock& block : blocks)
                block = *heap.allocate(size);
            std::sort(blocks.begin(), blocks.end(),
                      [](const MemoryBlock& a, const MemoryBlock& b) { return a.data < b.data; });
            for (std::size_t index = 1; index < kCount; ++index)
                ASSERT_LE(blocks[index - 1].data + size, blocks[index].data);
            EXPECT_EQ(heap.counts().queued_blocks, 0U);
            EXPECT_LE(heap.stats().peak_bytes, before);
            for (const MemoryBlock block : blocks)
                heap.deallocate(block);
            ASSERT_EQ(heap.check(), Status::ok);
        }
    }
}

// The blocks of a slab that has changed hands while they were on their way are sent on.
TEST(SmallObjectConcurrent, ParcelsFollowSlabsToTheirNewOwners) {
    auto heap = make_heap();
    std::vector<MemoryBlock> blocks;
    std::vector<MemoryBlock> kept;
    auto producer = [&] {
        for (int index = 0; index < 4000; ++index)
            (index % 2 == 0 ? blocks : kept).push_back(*heap.allocate(80));
    };
    auto thread = start(producer);
    thread.join();
    // Half of them make slabs that this thread can adopt; the rest comes from there when it is the owner.
    free_elsewhere(heap, blocks);
    blocks.clear();
    for (int index = 0; index < 2500; ++index)
        blocks.push_back(*heap.allocate(80));
    free_elsewhere(heap, kept);
    free_elsewhere(heap, blocks);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
    heap.purge();
    EXPECT_EQ(heap.counts().queued_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectConcurrent, HeapsOfEndedThreadsAreAdopted) {
    auto heap = make_heap();
    std::vector<MemoryBlock> left;
    auto work = [&] {
        for (std::size_t index = 0; index < 300; ++index) {
            const MemoryBlock block = *heap.allocate(1 + index);
            if (index % 3 == 0) {
                left.push_back(block);
            } else {
                heap.deallocate(block);
            }
        }
    };
    for (int generation = 0; generation < 50; ++generation) {
        auto thread = start(work);
        thread.join();
        for (const MemoryBlock block : left)
            heap.deallocate(block);
        left.clear();
    }
    // One for the threads that came and went, one for this one.
    EXPECT_LE(heap.counts().heaps, 2U);
    EXPECT_EQ(heap.counts().orphans, 1U);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectConcurrent, SlabsOfEndedThreadsServeOthers) {
    auto heap = make_heap();
    std::vector<MemoryBlock> left;
    auto work = [&] {
        for (int index = 0; index < 20'000; ++index)
            left.push_back(*heap.allocate(64));
    };
    auto thread = start(work);
    thread.join();
    for (const MemoryBlock block : left)
        heap.deallocate(block);
    const std::size_t before = heap.stats().peak_bytes;
    // This thread never had a heap's worth of the class; it takes over what the other has left.
    for (int index = 0; index < 20'000; ++index)
        ASSERT_TRUE(heap.allocate(64));
    EXPECT_LE(heap.stats().peak_bytes, before + (std::size_t{128} << 10));
    EXPECT_EQ(heap.check(), Status::ok);
}

// Keeps a cache full and does nothing until it is told.
class IdleThread {
public:
    explicit IdleThread(SmallObjectAllocator& heap) : heap_(heap), thread_(start(*this)) {
        while (!is_idle_.load(std::memory_order_acquire))
            ouro::os::yield_thread();
    }
    void wake_and_join() {
        may_go_on_.store(true, std::memory_order_release);
        thread_.join();
    }
    void operator()() {
        std::vector<MemoryBlock> blocks;
        for (int index = 0; index < 3000; ++index)
            blocks.push_back(*heap_.allocate(200));
        for (const MemoryBlock block : blocks)
            heap_.deallocate(block);
        is_idle_.store(true, std::memory_order_release);
        while (!may_go_on_.load(std::memory_order_acquire))
            ouro::os::yield_thread();
        for (int index = 0; index < 3000; ++index)
            heap_.deallocate(*heap_.allocate(200));
    }

private:
    SmallObjectAllocator& heap_;
    std::atomic<bool> is_idle_ = false;
    std::atomic<bool> may_go_on_ = false;
    ouro::os::Thread thread_;
};

TEST(SmallObjectConcurrent, PurgeReachesIdleThreads) {
    if (!ouro::os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    auto heap = make_heap();
    IdleThread idle(heap);
    EXPECT_GT(heap.counts().cached_bytes, 0U);
    const auto purged = heap.purge();
    EXPECT_EQ(purged.skipped_heaps, 0U);
    EXPECT_GT(purged.bytes, 0U);
    EXPECT_EQ(heap.counts().cached_bytes, 0U);
    idle.wake_and_join();
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectConcurrent, PurgesBesideWorkHarmNothing) {
    auto heap = make_heap();
    Exchange exchange;
    std::vector<Worker> workers;
    for (std::uint64_t index = 0; index < 3; ++index)
        workers.emplace_back(heap, exchange, 77 + index, 8000);
    std::atomic<bool> is_over = false;
    auto purge = [&] {
        while (!is_over.load(std::memory_order_acquire)) {
            heap.purge();
            ouro::os::yield_thread();
        }
    };
    std::vector<ouro::os::Thread> threads;
    for (Worker& worker : workers)
        threads.push_back(start(worker));
    auto purger = start(purge);
    for (auto& thread : threads)
        thread.join();
    is_over.store(true, std::memory_order_release);
    purger.join();
    for (const Worker& worker : workers)
        EXPECT_EQ(worker.broken, 0);
    free_all(heap, exchange);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(SmallObjectConcurrent, AFullRegionIsAStatusForAllThreads) {
    auto outer = make_heap();
    auto heap = *SmallObjectAllocator::create_on(outer, std::size_t{1} << 20);
    Exchange exchange;
    std::vector<Worker> workers;
    for (std::uint64_t index = 0; index < 4; ++index)
        workers.emplace_back(heap, exchange, 5 + index, 5000);
    std::vector<ouro::os::Thread> threads;
    for (Worker& worker : workers)
        threads.push_back(start(worker));
    for (auto& thread : threads)
        thread.join();
    for (const Worker& worker : workers)
        EXPECT_EQ(worker.broken, 0);
    free_all(heap, exchange);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

}  // namespace
