// Producers and consumers on cores of their own over one heap for small objects: every block is allocated on
// one thread, stamped to its last byte, and checked and freed on another. Short by default; with
// OURO_TEST_LONG it runs for seconds.
#include "stress_threads.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Random;
using ouro::SmallObjectAllocator;
using ouro::SpscRing;
using ouro::Status;
using ouro::testing_support::connect;
using ouro::testing_support::drain_until_done;
using ouro::testing_support::run_on_cores;
using ouro::testing_support::start_on_core;
using ouro::testing_support::work_until;

constexpr std::size_t kHeapBytes = std::size_t{256} << 20;
constexpr std::size_t kLaneParcels = 256;
constexpr std::uint64_t kShortRunParcels = 30'000;
constexpr std::uint64_t kLongRunNs = 5'000'000'000;

// A block on its way, with what its bytes must be.
struct Parcel {
    MemoryBlock block;
    std::size_t alignment = 1;
    std::uint64_t stamp = 0;
};

std::uint64_t word_at(std::uint64_t stamp, std::size_t place) {
    return (stamp + place) * 0x9E3779B97F4A7C15;
}

void fill(const Parcel& parcel) {
    for (std::size_t at = 0; at < parcel.block.size; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = word_at(parcel.stamp, at);
        std::memcpy(parcel.block.data + at, &word, std::min(sizeof(word), parcel.block.size - at));
    }
}

bool is_intact(const Parcel& parcel) {
    for (std::size_t at = 0; at < parcel.block.size; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = word_at(parcel.stamp, at);
        if (std::memcmp(parcel.block.data + at, &word, std::min(sizeof(word), parcel.block.size - at)) != 0)
            return false;
    }
    return true;
}

// Mostly small; now and then whole units.
std::size_t random_size(Random& random) {
    const std::uint32_t kind = random.below(100);
    return 1 + random.below(kind == 0 ? 200'000 : kind < 10 ? 4000 : 256);
}

using Lane = SpscRing<Parcel>;

struct Producer {
    SmallObjectAllocator* heap = nullptr;
    std::uint64_t number = 0;
    std::uint64_t seed = 0;
    std::vector<Lane*> lanes;
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t refusals = 0;
    std::atomic<bool> is_done = false;

    void run() {
        Random random(seed, number);
        const auto is_enough = [&] { return sent >= kShortRunParcels; };
        work_until(is_enough, {.long_ns = kLongRunNs}, [&] {
            for (int i = 0; i < 100; ++i)
                send_one(random);
        });
        is_done.store(true, std::memory_order_release);
    }

    void send_one(Random& random) {
        const std::size_t alignment = random.below(20) == 0 ? 64 : 16;
        const auto block = heap->allocate(random_size(random), alignment);
        if (!block) {
            ++refusals;
            return;
        }
        ++allocations;
        const Parcel parcel{*block, alignment, number << 48 | allocations};
        fill(parcel);
        Lane& lane = *lanes[random.below(static_cast<std::uint32_t>(lanes.size()))];
        if (lane.push(parcel) == Status::ok) {
            ++sent;
            sent_bytes += parcel.block.size;
        } else {
            // A full lane is not waited for: what a producer frees itself is part of the traffic.
            heap->deallocate(parcel.block, parcel.alignment);
            ouro::os::yield_thread();
        }
    }
};

struct Consumer {
    SmallObjectAllocator* heap = nullptr;
    std::vector<std::pair<Producer*, Lane*>> sources;
    // Some blocks stay a while, so that slabs are given up by their owners while blocks of them live.
    std::deque<Parcel> kept;
    std::uint64_t received = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t damaged = 0;
    std::uint64_t misdelivered = 0;

    void run() {
        drain_until_done(sources,
                         [&](const Producer& producer, Lane& lane) { return drain(producer, lane); });
        for (; !kept.empty(); kept.pop_front())
            finish(kept.front());
    }

    bool drain(const Producer& producer, Lane& lane) {
        bool any = false;
        while (auto parcel = lane.pop()) {
            any = true;
            misdelivered += parcel->stamp >> 48 == producer.number ? 0U : 1U;
            received_bytes += parcel->block.size;
            if (received++ % 16 != 0) {
                finish(*parcel);
                continue;
            }
            kept.push_back(*parcel);
            if (kept.size() < 100) continue;
            finish(kept.front());
            kept.pop_front();
        }
        return any;
    }

    void finish(const Parcel& parcel) {
        damaged += is_intact(parcel) ? 0U : 1U;
        heap->deallocate(parcel.block, parcel.alignment);
    }
};

struct Everyone {
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<Consumer> consumers;
};

void prepare(Everyone& all, SmallObjectAllocator& heap, ouro::MemoryResource& lane_memory,
             std::size_t producer_count, std::size_t consumer_count) {
    all.consumers.resize(consumer_count);
    for (std::size_t number = 1; number <= producer_count; ++number) {
        auto& producer = *all.producers.emplace_back(std::make_unique<Producer>());
        producer.heap = &heap;
        producer.number = number;
        producer.seed = producer_count * 10 + consumer_count;
        ASSERT_NO_FATAL_FAILURE(connect(producer, all.consumers, lane_memory, kLaneParcels, all.lanes));
    }
    for (Consumer& consumer : all.consumers)
        consumer.heap = &heap;
}

// Everything sent has come, whole, and nothing is left in the heap.
void verify(const Everyone& all, SmallObjectAllocator& heap) {
    std::uint64_t allocations = 0;
    std::uint64_t refusals = 0;
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    for (const auto& producer : all.producers) {
        EXPECT_GE(producer->sent, kShortRunParcels);
        allocations += producer->allocations;
        refusals += producer->refusals;
        sent += producer->sent;
        sent_bytes += producer->sent_bytes;
    }
    std::uint64_t received = 0;
    std::uint64_t received_bytes = 0;
    for (const Consumer& consumer : all.consumers) {
        EXPECT_EQ(consumer.damaged, 0U);
        EXPECT_EQ(consumer.misdelivered, 0U);
        received += consumer.received;
        received_bytes += consumer.received_bytes;
    }
    EXPECT_EQ(received, sent);
    EXPECT_EQ(received_bytes, sent_bytes);
    EXPECT_EQ(refusals, 0U);
    EXPECT_EQ(heap.stats().allocations, allocations);
    EXPECT_EQ(heap.stats().failures, refusals);
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.stats().live_bytes, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
    // With the caches of the ended threads taken back too, every unit is free.
    heap.purge();
    EXPECT_EQ(heap.stats().live_blocks, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

void run_all(std::size_t producer_count, std::size_t consumer_count) {
    SCOPED_TRACE("seed " + std::to_string(producer_count * 10 + consumer_count));
    auto heap = SmallObjectAllocator::create({.max_bytes = kHeapBytes});
    auto lane_memory = ouro::SystemAllocator::create({});
    ASSERT_TRUE(heap && lane_memory);
    Everyone all;
    ASSERT_NO_FATAL_FAILURE(prepare(all, *heap, *lane_memory, producer_count, consumer_count));
    run_on_cores(all.producers, all.consumers);
    verify(all, *heap);
}

// Sanitizers know the block as free; the thread's heap must be able to live there all the same.
TEST(SmallObjectStress, ANewThreadsHeapTakesThePlaceOfALargeBlock) {
    struct Newcomer {
        SmallObjectAllocator* heap = nullptr;
        MemoryBlock block;
        void run() { block = *heap->allocate(40); }
    };
    auto heap = SmallObjectAllocator::create({.max_bytes = kHeapBytes});
    ASSERT_TRUE(heap);
    const auto large = heap->allocate(std::size_t{4} << 20);
    ASSERT_TRUE(large);
    heap->deallocate(*large);
    Newcomer newcomer{.heap = &*heap, .block = {}};
    start_on_core(newcomer, 0).join();
    EXPECT_TRUE(large->contains(newcomer.block.data));
    heap->deallocate(newcomer.block);
    EXPECT_EQ(heap->stats().live_blocks, 0U);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(SmallObjectStress, OneProducerOneConsumer) {
    run_all(1, 1);
}

TEST(SmallObjectStress, OneProducerManyConsumers) {
    run_all(1, 4);
}

TEST(SmallObjectStress, ManyProducersOneConsumer) {
    run_all(4, 1);
}

TEST(SmallObjectStress, ManyProducersManyConsumers) {
    run_all(3, 3);
}

}  // namespace
