// Producers and consumers on cores of their own, with every block stamped. Each producer owns a pool with far
// fewer blocks than it sends, so that nothing works unless frees from other threads come back. The one with
// most threads runs for seconds, under the sanitizers too; all of them with OURO_TEST_LONG.
#include "stress_threads.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::PoolAllocator;
using ouro::SpscRing;
using ouro::Status;
using ouro::testing_support::connect;
using ouro::testing_support::drain_until_done;
using ouro::testing_support::run_on_cores;
using ouro::testing_support::work_until;

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kMaxBlocks = 2000;
constexpr std::size_t kLaneBlocks = 512;
constexpr std::uint64_t kShortRunBlocks = 100'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kUsualRunNs = 2 * kSecondNs;
constexpr std::uint64_t kLongRunNs = 10 * kSecondNs;

using Lane = SpscRing<std::byte*>;

// The first word says who made the block and as which; all others repeat it, changed by their place.
void stamp(std::byte* block, std::uint64_t value) {
    for (std::size_t i = 0; i < kBlockBytes / sizeof(value); ++i) {
        const std::uint64_t word = value ^ (i * 0x9E3779B97F4A7C15);
        std::memcpy(block + i * sizeof(word), &word, sizeof(word));
    }
}

std::uint64_t verified_stamp(const std::byte* block, std::uint64_t& damaged) {
    std::uint64_t value = 0;
    std::memcpy(&value, block, sizeof(value));
    for (std::size_t i = 0; i < kBlockBytes / sizeof(value); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, block + i * sizeof(word), sizeof(word));
        if (word != (value ^ (i * 0x9E3779B97F4A7C15))) ++damaged;
    }
    return value;
}

struct Producer {
    PoolAllocator pool;
    std::uint64_t number;
    std::uint64_t usual_run_ns;
    std::vector<Lane*> lanes;
    std::uint64_t sent = 0;
    std::uint64_t freed_here = 0;
    std::uint64_t refusals = 0;
    std::uint64_t wrong_statuses = 0;
    std::uint64_t sum = 0;
    std::atomic<bool> is_done{false};

    void run() {
        pool.bind_to_this_thread();
        ouro::Random random(number);
        const auto is_enough = [&] { return sent >= kShortRunBlocks; };
        work_until(is_enough, {usual_run_ns, kLongRunNs}, [&] { send_some(random); });
        is_done.store(true, std::memory_order_release);
    }

    void send_some(ouro::Random& random) {
        for (int i = 0; i < 100; ++i) {
            const auto block = pool.allocate(kBlockBytes);
            if (!block) {
                ++refusals;
                wrong_statuses += block.status() == Status::capacity_exhausted ? 0U : 1U;
                ouro::os::yield_thread();
                continue;
            }
            const std::uint64_t value = number << 48 | sent;
            stamp(block->data, value);
            // Full lanes are not waited for: the owner frees the block itself.
            Lane& lane = *lanes[random.below(static_cast<std::uint32_t>(lanes.size()))];
            if (lane.push(block->data) == Status::ok) {
                ++sent;
                sum += value;
            } else {
                pool.deallocate(*block);
                ++freed_here;
            }
        }
    }
};

struct Consumer {
    std::vector<std::pair<Producer*, Lane*>> sources;
    std::uint64_t received = 0;
    std::uint64_t damaged = 0;
    std::uint64_t misdelivered = 0;
    std::uint64_t sum = 0;

    void run() {
        drain_until_done(sources, [&](Producer& producer, Lane& lane) { return drain(producer, lane); });
    }

    bool drain(Producer& producer, Lane& lane) {
        bool any = false;
        while (const auto block = lane.pop()) {
            const std::uint64_t value = verified_stamp(*block, damaged);
            misdelivered += value >> 48 == producer.number ? 0U : 1U;
            sum += value;
            ++received;
            any = true;
            producer.pool.deallocate({*block, kBlockBytes});
        }
        return any;
    }
};

struct Everyone {
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<Consumer> consumers;
};

void prepare(Everyone& all, ouro::MemoryResource& lane_memory, std::size_t producer_count,
             std::size_t consumer_count, std::uint64_t usual_run_ns) {
    all.consumers.resize(consumer_count);
    for (std::size_t i = 0; i < producer_count; ++i) {
        auto pool = PoolAllocator::create({.block_bytes = kBlockBytes, .max_blocks = kMaxBlocks});
        ASSERT_TRUE(pool);
        all.producers.emplace_back(new Producer{
            .pool = *std::move(pool), .number = i + 1, .usual_run_ns = usual_run_ns, .lanes = {}});
        ASSERT_NO_FATAL_FAILURE(
            connect(*all.producers.back(), all.consumers, lane_memory, kLaneBlocks, all.lanes));
    }
}

void verify_producer(Producer& producer) {
    producer.pool.bind_to_this_thread();
    const auto stats = producer.pool.stats();
    const auto pool_stats = producer.pool.pool_stats();
    EXPECT_EQ(stats.live_blocks, 0U);
    EXPECT_EQ(stats.allocations, producer.sent + producer.freed_here);
    EXPECT_EQ(stats.failures, producer.refusals);
    EXPECT_EQ(producer.wrong_statuses, 0U);
    EXPECT_EQ(pool_stats.remote_frees, producer.sent);
    EXPECT_EQ(pool_stats.fresh + pool_stats.reused, stats.allocations);
    EXPECT_LE(pool_stats.fresh, kMaxBlocks);
    EXPECT_GT(pool_stats.longest_remote_queue, 0U);
    EXPECT_LE(pool_stats.longest_remote_queue, kMaxBlocks);
    EXPECT_EQ(producer.pool.check(), Status::ok);
}

void run_all(std::size_t producer_count, std::size_t consumer_count, std::uint64_t usual_run_ns = 0) {
    auto lane_memory = ouro::SystemAllocator::create({});
    ASSERT_TRUE(lane_memory);
    Everyone all;
    ASSERT_NO_FATAL_FAILURE(prepare(all, *lane_memory, producer_count, consumer_count, usual_run_ns));
    run_on_cores(all.producers, all.consumers);
    std::uint64_t sent = 0;
    std::uint64_t sent_sum = 0;
    for (const auto& producer : all.producers) {
        verify_producer(*producer);
        sent += producer->sent;
        sent_sum += producer->sum;
    }
    std::uint64_t received = 0;
    std::uint64_t received_sum = 0;
    for (const Consumer& consumer : all.consumers) {
        EXPECT_EQ(consumer.damaged, 0U);
        EXPECT_EQ(consumer.misdelivered, 0U);
        received += consumer.received;
        received_sum += consumer.sum;
    }
    EXPECT_GT(sent, 10 * kMaxBlocks);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(received_sum, sent_sum);
}

TEST(PoolStress, OneProducerOneConsumer) {
    run_all(1, 1);
}

TEST(PoolStress, OneProducerManyConsumers) {
    run_all(1, 4);
}

TEST(PoolStress, ManyProducersManyConsumers) {
    run_all(3, 3, kUsualRunNs);
}

}  // namespace
