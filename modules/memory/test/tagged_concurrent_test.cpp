// Exact counts and bounds while several threads allocate, and free what others allocated.
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Random;
using ouro::Status;
using ouro::SystemAllocator;
using ouro::TaggedAllocator;
using ouro::testing_support::run_workers;

constexpr std::size_t kWorkers = 4;

// A resource for many threads that watches the bytes it has really given out.
class Watching final : public MemoryResource {
public:
    explicit Watching(MemoryResource& upstream) : upstream_(upstream) {}

    ouro::Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (refuse_.load(std::memory_order_relaxed)) return Status::out_of_memory;
        const std::size_t now = live_.fetch_add(size) + size;
        for (std::size_t most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
        }
        return upstream_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        upstream_.deallocate(block, alignment);
        live_.fetch_sub(block.size);
    }
    ouro::Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t size,
                                           std::size_t alignment) noexcept override {
        return move_to_new_block(*this, block, size, alignment);
    }
    bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    ouro::ResourceInfo info() const noexcept override { return upstream_.info(); }
    ouro::ResourceStats stats() const noexcept override { return upstream_.stats(); }
    Status check() const noexcept override { return upstream_.check(); }

    [[nodiscard]] std::size_t most_bytes() const { return most_; }
    void refuse(bool value) { refuse_ = value; }

private:
    MemoryResource& upstream_;
    std::atomic<std::size_t> live_{0};
    std::atomic<std::size_t> most_{0};
    std::atomic<bool> refuse_{false};
};

// Blocks handed from one thread to another.
class Exchange {
public:
    MemoryBlock swap(std::size_t place, MemoryBlock block) {
        Slot& slot = slots_[place % slots_.size()];
        while (slot.busy.exchange(true, std::memory_order_acquire))
            ouro::os::yield_thread();
        const MemoryBlock before = slot.block;
        slot.block = block;
        slot.busy.store(false, std::memory_order_release);
        return before;
    }
    static constexpr std::size_t kSlots = 16;

private:
    struct Slot {
        std::atomic<bool> busy{false};
        MemoryBlock block;
    };
    std::array<Slot, kSlots> slots_;
};

TEST(TaggedConcurrent, CountsStayExactWhenOthersFree) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    TaggedAllocator tagged(*system, {.name = "shared"});
    Exchange exchange;
    std::atomic<std::uint64_t> allocations{0};
    std::atomic<std::uint64_t> bytes{0};
    run_workers(kWorkers, [&](std::size_t worker) {
        Random random(worker + 1);
        for (int i = 0; i < 1500; ++i) {
            const std::size_t size = 1 + random.below(20'000);
            const auto block = tagged.allocate(size);
            ASSERT_TRUE(block);
            allocations.fetch_add(1);
            bytes.fetch_add(size);
            block->data[0] = std::byte{1};
            tagged.deallocate(exchange.swap(random.below(Exchange::kSlots), *block));
        }
    });
    EXPECT_EQ(tagged.counts().allocations, allocations);
    EXPECT_EQ(tagged.counts().allocated_bytes, bytes);
    for (std::size_t i = 0; i < Exchange::kSlots; ++i)
        tagged.deallocate(exchange.swap(i, {}));
    const auto counts = tagged.counts();
    EXPECT_EQ(counts.live_bytes, 0U);
    EXPECT_EQ(counts.live_blocks, 0U);
    EXPECT_EQ(counts.deallocations, allocations);
    EXPECT_EQ(tagged.check(), Status::ok);
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(TaggedConcurrent, TheBudgetIsNeverExceeded) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    Watching watching(*system);
    constexpr std::size_t kBudget = 200'000;
    TaggedAllocator tagged(watching, {.name = "budgeted", .budget_bytes = kBudget});
    std::atomic<std::uint64_t> refused{0};
    run_workers(kWorkers, [&](std::size_t worker) {
        Random random(100 + worker);
        std::vector<MemoryBlock> own;
        for (int i = 0; i < 3000; ++i) {
            const auto block = tagged.allocate(1 + random.below(30'000));
            if (block) {
                own.push_back(*block);
            } else {
                ASSERT_EQ(block.status(), Status::budget_exceeded);
                refused.fetch_add(1);
            }
            while (!own.empty() && (own.size() > 4 || random.chance(0.4))) {
                tagged.deallocate(own.back());
                own.pop_back();
            }
            ASSERT_LE(tagged.counts().live_bytes, kBudget);
        }
        for (const MemoryBlock block : own)
            tagged.deallocate(block);
    });
    EXPECT_LE(watching.most_bytes(), kBudget);
    EXPECT_LE(tagged.counts().peak_bytes, kBudget);
    // A block counts a moment longer than it is held.
    EXPECT_GE(tagged.counts().peak_bytes, watching.most_bytes());
    EXPECT_EQ(tagged.failures(Status::budget_exceeded), refused);
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
}

TEST(TaggedConcurrent, LimitsChangeWhileOthersAllocate) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    Watching watching(*system);
    TaggedAllocator tagged(watching, {.name = "changing"});
    std::atomic<bool> stop{false};
    run_workers(kWorkers, [&](std::size_t worker) {
        if (worker == 0) {
            for (std::size_t i = 0; i < 500; ++i) {
                tagged.set_budget(i % 3 == 0 ? TaggedAllocator::kNoBudget : i * 10);
                watching.refuse(i % 7 == 0);
                if (i % 5 == 0) (void)tagged.set_rate_limit({.calls = 10, .interval_ns = 1000});
                if (i % 5 == 2) tagged.clear_rate_limit();
                ouro::os::yield_thread();
            }
            stop = true;
            return;
        }
        while (!stop.load(std::memory_order_relaxed)) {
            const auto block = tagged.allocate(5000);
            if (block) tagged.deallocate(*block);
            ouro::os::yield_thread();
        }
    });
    const auto counts = tagged.counts();
    EXPECT_EQ(counts.live_bytes, 0U);
    EXPECT_EQ(counts.live_blocks, 0U);
    EXPECT_EQ(counts.failures, tagged.failures(Status::budget_exceeded) +
                                   tagged.failures(Status::rate_limited) +
                                   tagged.failures(Status::out_of_memory));
}

TEST(TaggedConcurrent, TheRateLimitLetsThroughExactlyItsCalls) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    TaggedAllocator tagged(*system, {.name = "throttled"});
    ASSERT_TRUE(tagged.set_rate_limit(
        {.bytes = 100'000, .calls = 100, .clock = []() noexcept -> std::uint64_t { return 7; }}));
    std::atomic<std::uint64_t> passed{0};
    run_workers(kWorkers, [&](std::size_t) {
        for (int i = 0; i < 200; ++i) {
            const auto block = tagged.allocate(10);
            if (!block) continue;
            passed.fetch_add(1);
            tagged.deallocate(*block);
        }
    });
    EXPECT_EQ(passed, 100U);
    EXPECT_EQ(tagged.failures(Status::rate_limited), kWorkers * 200 - 100);
}

TEST(SystemAllocatorConcurrent, ThreadsShareItAndItsCache) {
    auto system = SystemAllocator::create({.max_bytes = std::size_t{8} << 20});
    auto spare = SystemAllocator::create({});
    ASSERT_TRUE(system && spare);
    auto chain = ouro::FallbackChain::create({&*system, &*spare});
    ASSERT_TRUE(chain);
    Exchange exchange;
    run_workers(kWorkers, [&](std::size_t worker) {
        Random random(1000 + worker);
        for (int i = 0; i < 800; ++i) {
            const std::size_t size = 1 + random.below(random.chance(0.1) ? 2'000'000 : 100'000);
            auto block = chain->allocate(size);
            ASSERT_TRUE(block);
            std::memset(block->data, static_cast<int>(worker), 64);
            if (random.chance(0.3)) block = chain->reallocate(*block, 1 + random.below(300'000));
            ASSERT_TRUE(block);
            ASSERT_EQ(block->data[0], static_cast<std::byte>(worker));
            ASSERT_TRUE(chain->owns(block->end() - 1));
            chain->deallocate(exchange.swap(random.below(Exchange::kSlots), *block));
        }
    });
    for (std::size_t i = 0; i < Exchange::kSlots; ++i)
        chain->deallocate(exchange.swap(i, {}));
    EXPECT_EQ(chain->stats().live_bytes, 0U);
    EXPECT_EQ(chain->stats().live_blocks, 0U);
    EXPECT_EQ(chain->check(), Status::ok);
}

}  // namespace
