// Producers and consumers on cores of their own over one heap for small objects: every block is allocated on
// one thread, stamped to its last byte, and checked and freed on another. Short by default; with
// OURO_TEST_LONG it runs for seconds.
#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
namespace os = ouro::os;

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
        const bool is_long = std::getenv("OURO_TEST_LONG") != nullptr;
        const std::uint64_t end_ns = os::monotonic_ns() + kLongRunNs;
        while (sent < kShortRunParcels || (is_long && os::monotonic_ns() < end_ns)) {
            for (int i = 0; i < 100; ++i)
                send_one(random);
        }
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
            os::yield_thread();
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
        for (bool all_done = false; !all_done;) {
            all_done = true;
            for (const auto& [producer, lane] : sources) {
                // Asked before the lane is emptied, so that what was sent last is not missed.
                const bool is_done = producer->is_done.load(std::memory_order_acquire);
                all_done = all_done && is_done;
                drain(*producer, *lane);
            }
        }
        for (; !kept.empty(); kept.pop_front())
            finish(kept.front());
    }

    void drain(const Producer& producer, Lane& lane) {
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
        if (!any) os::yield_thread();
    }

    void finish(const Parcel& parcel) {
        damaged += is_intact(parcel) ? 0U : 1U;
        heap->deallocate(parcel.block, parcel.alignment);
    }
};

template <class Role>
os::Thread start(Role& role, std::size_t core) {
    auto thread =
        os::Thread::start([](void* argument) { static_cast<Role*>(argument)->run(); }, &role,
                          {.name = "stress", .core = static_cast<unsigned>(core) % os::core_count()});
    EXPECT_TRUE(thread);
    return thread ? *std::move(thread) : os::Thread();
}

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
        for (Consumer& consumer : all.consumers) {
            auto lane = Lane::create(lane_memory, kLaneParcels);
            ASSERT_TRUE(lane);
            all.lanes.push_back(std::make_unique<Lane>(*std::move(lane)));
            producer.lanes.push_back(all.lanes.back().get());
            consumer.heap = &heap;
            consumer.sources.emplace_back(&producer, all.lanes.back().get());
        }
    }
}

void run_threads(Everyone& all) {
    std::vector<os::Thread> threads;
    std::size_t core = 0;
    for (const auto& producer : all.producers)
        threads.push_back(start(*producer, core++));
    for (Consumer& consumer : all.consumers)
        threads.push_back(start(consumer, core++));
    for (os::Thread& thread : threads)
        thread.join();
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
    run_threads(all);
    verify(all, *heap);
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
