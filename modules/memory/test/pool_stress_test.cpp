// Producers and consumers on cores of their own, with every block stamped. Each producer owns a pool with far
// fewer blocks than it sends, so that nothing works unless frees from other threads come back. Short by
// default; with OURO_TEST_LONG it runs for seconds.
#include <ouro/base/random.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::PoolAllocator;
using ouro::Status;
namespace os = ouro::os;

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kMaxBlocks = 2000;
constexpr std::uint64_t kShortRunBlocks = 100'000;
constexpr std::uint64_t kLongRunNs = 3'000'000'000;

// From one thread to one other.
class Lane {
public:
    bool push(std::byte* block) {
        const std::size_t end = end_.load(std::memory_order_relaxed);
        if (end - begin_.load(std::memory_order_acquire) == kPlaces) return false;
        places_[end % kPlaces] = block;
        end_.store(end + 1, std::memory_order_release);
        return true;
    }
    std::byte* pop() {
        const std::size_t begin = begin_.load(std::memory_order_relaxed);
        if (begin == end_.load(std::memory_order_acquire)) return nullptr;
        std::byte* block = places_[begin % kPlaces];
        begin_.store(begin + 1, std::memory_order_release);
        return block;
    }

private:
    static constexpr std::size_t kPlaces = 512;
    std::byte* places_[kPlaces] = {};
    alignas(64) std::atomic<std::size_t> begin_{0};
    alignas(64) std::atomic<std::size_t> end_{0};
};

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
    std::vector<std::unique_ptr<Lane>> lanes;
    std::uint64_t sent = 0;
    std::uint64_t freed_here = 0;
    std::uint64_t refusals = 0;
    std::uint64_t wrong_statuses = 0;
    std::uint64_t sum = 0;
    std::atomic<bool> done{false};

    void run() {
        pool.bind_to_this_thread();
        ouro::Random random(number);
        const bool is_long = std::getenv("OURO_TEST_LONG") != nullptr;
        const std::uint64_t end_ns = os::monotonic_ns() + kLongRunNs;
        while (sent < kShortRunBlocks || (is_long && os::monotonic_ns() < end_ns))
            send_some(random);
        done.store(true, std::memory_order_release);
    }

    void send_some(ouro::Random& random) {
        for (int i = 0; i < 100; ++i) {
            const auto block = pool.allocate(kBlockBytes);
            if (!block) {
                ++refusals;
                wrong_statuses += block.status() == Status::capacity_exhausted ? 0U : 1U;
                os::yield_thread();
                continue;
            }
            const std::uint64_t value = number << 48 | sent;
            stamp(block->data, value);
            // Full lanes are not waited for: the owner frees the block itself.
            if (lanes[random.below(static_cast<std::uint32_t>(lanes.size()))]->push(block->data)) {
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
    std::vector<Producer*> producers;
    std::size_t number = 0;
    std::uint64_t received = 0;
    std::uint64_t damaged = 0;
    std::uint64_t misdelivered = 0;
    std::uint64_t sum = 0;

    void run() {
        for (bool all_done = false; !all_done;) {
            all_done = true;
            for (Producer* producer : producers) {
                // Asked before the lane is emptied, so that what was sent last is not missed.
                const bool done = producer->done.load(std::memory_order_acquire);
                all_done = all_done && done;
                drain(*producer);
            }
        }
    }

    void drain(Producer& producer) {
        bool any = false;
        while (std::byte* block = producer.lanes[number]->pop()) {
            const std::uint64_t value = verified_stamp(block, damaged);
            misdelivered += value >> 48 == producer.number ? 0U : 1U;
            sum += value;
            ++received;
            any = true;
            producer.pool.deallocate({block, kBlockBytes});
        }
        if (!any) os::yield_thread();
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
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<Consumer> consumers;
};

void prepare(Everyone& all, std::size_t producer_count, std::size_t consumer_count) {
    for (std::size_t i = 0; i < producer_count; ++i) {
        auto pool = PoolAllocator::create({.block_bytes = kBlockBytes, .max_blocks = kMaxBlocks});
        ASSERT_TRUE(pool);
        all.producers.emplace_back(new Producer{.pool = *std::move(pool), .number = i + 1, .lanes = {}});
        for (std::size_t lane = 0; lane < consumer_count; ++lane)
            all.producers.back()->lanes.push_back(std::make_unique<Lane>());
    }
    all.consumers.resize(consumer_count);
    for (std::size_t i = 0; i < consumer_count; ++i) {
        all.consumers[i].number = i;
        for (const auto& producer : all.producers)
            all.consumers[i].producers.push_back(producer.get());
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

void run_all(std::size_t producer_count, std::size_t consumer_count) {
    Everyone all;
    prepare(all, producer_count, consumer_count);
    if (testing::Test::HasFatalFailure()) return;
    run_threads(all);
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
    run_all(3, 3);
}

}  // namespace
