#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/shared_region.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SharedRegion;
using ouro::Status;
using ouro::SystemAllocator;
using ouro::testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr int kSteps = 30'000;

// Blocks on their way between threads: whoever comes puts one in and takes out what was there.
struct Exchange {
    static constexpr std::size_t kPlaces = 64;
    std::array<std::atomic<std::uint32_t>, kPlaces> places{};
};

// The size stands at the front; all further bytes are made from it and the place.
void stamp(MemoryBlock block, std::uint32_t size) {
    std::memcpy(block.data, &size, sizeof(size));
    const auto filler = static_cast<int>((size ^ reinterpret_cast<std::uintptr_t>(block.data) >> 4U) & 0xFFU);
    std::memset(block.data + sizeof(size), filler, size - sizeof(size));
}

bool is_stamped(MemoryBlock block) {
    std::uint32_t size = 0;
    std::memcpy(&size, block.data, sizeof(size));
    if (size != block.size) return false;
    const auto filler =
        static_cast<std::byte>((size ^ reinterpret_cast<std::uintptr_t>(block.data) >> 4U) & 0xFFU);
    for (std::size_t index = sizeof(size); index < size; ++index)
        if (block.data[index] != filler) return false;
    return true;
}

std::uint32_t random_size(ouro::Random& random) {
    const std::uint32_t kind = random.below(100);
    if (kind == 0) return 8193 + random.below(20'000);
    if (kind < 10) return 1000 + random.below(7000);
    return 4 + random.below(300);
}

class Worker {
public:
    Worker(const SharedRegion& region, Exchange& exchange, std::uint64_t seed, std::uint64_t owner)
        : region_(region), exchange_(exchange), random_(seed), cache_(*region.claim_cache(owner)) {}

    void run() {
        for (int step = 0; step < kSteps; ++step) {
            const std::uint32_t size = random_size(random_);
            const auto block = cache_.allocate(size);
            ASSERT_TRUE(block || block.status() == Status::capacity_exhausted);
            if (block) stamp({block->data, size}, size);
            const auto offset = block ? static_cast<std::uint32_t>(block->data - region_.base().start()) : 0;
            auto& place = exchange_.places[random_.below(Exchange::kPlaces)];
            ASSERT_TRUE(free_at(place.exchange(offset, std::memory_order_acq_rel)));
            if (step % 5000 == 0) (void)cache_.trim();
        }
    }

    void trim() { (void)cache_.trim(); }

    bool free_at(std::uint32_t offset) {
        if (offset == 0) return true;
        std::byte* const data = region_.base().start() + offset;
        std::uint32_t size = 0;
        std::memcpy(&size, data, sizeof(size));
        if (!is_stamped({data, size})) return false;
        std::memset(data, 0xDD, size);
        cache_.deallocate({data, size});
        return true;
    }

private:
    SharedRegion region_;
    Exchange& exchange_;
    ouro::Random random_;
    ouro::SharedCache cache_;
};

// Memory that outlives those who use it.
struct Ground {
    explicit Ground(std::size_t bytes)
        : block{system.allocate(bytes, SharedRegion::kAlignment)->data, bytes} {}
    Ground(const Ground&) = delete;
    Ground& operator=(const Ground&) = delete;
    ~Ground() { system.deallocate(block, SharedRegion::kAlignment); }

    SystemAllocator system = *SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    MemoryBlock block;
};

std::uint64_t stress(std::size_t bytes) {
    const std::uint64_t seed = ouro::os::monotonic_ns();
    SCOPED_TRACE(seed);
    const Ground ground(bytes);
    const auto region = *SharedRegion::create(ground.block, {.max_caches = kThreads});
    Exchange exchange;
    run_workers(kThreads,
                [&](std::size_t number) { Worker(region, exchange, seed + number, number + 1).run(); });
    EXPECT_EQ(region.check(), Status::ok);
    Worker last(region, exchange, seed, 1);
    for (auto& place : exchange.places)
        EXPECT_TRUE(last.free_at(place.exchange(0)));
    EXPECT_EQ(region.stats().live_bytes, 0U);
    EXPECT_EQ(region.stats().live_blocks, 0U);
    last.trim();
    EXPECT_EQ(region.stats().taken_bytes, 0U);
    EXPECT_EQ(region.check(), Status::ok);
    return region.stats().failures;
}

TEST(SharedRegionConcurrent, StampsSurviveWhoeverFrees) {
    EXPECT_EQ(stress(std::size_t{8} << 20), 0U);
}

// Memory is short all the time: slabs end and begin anew, and allocations fail.
TEST(SharedRegionConcurrent, StampsSurviveShortage) {
    EXPECT_GT(stress(std::size_t{192} << 10), 0U);
}

// Two threads that push and pop the same few slabs all the time.
TEST(SharedRegionConcurrent, ListsSurviveHotSlabs) {
    constexpr std::size_t kBytes = std::size_t{512} << 10;
    const Ground ground(kBytes);
    const auto region = *SharedRegion::create(ground.block, {.max_caches = kThreads});
    run_workers(kThreads, [&](std::size_t number) {
        auto cache = *region.claim_cache(number + 1);
        std::array<MemoryBlock, 8> blocks;
        for (int step = 0; step < kSteps / 4; ++step) {
            for (MemoryBlock& block : blocks) {
                const auto made = cache.allocate(8192);
                block = made ? *made : MemoryBlock{};
                if (made) std::memset(made->data, static_cast<int>(number), 64);
            }
            for (const MemoryBlock& block : blocks) {
                if (block.is_null()) continue;
                ASSERT_EQ(block.data[63], static_cast<std::byte>(number));
                cache.deallocate(block);
            }
            if (step % 3 == 0) (void)cache.trim();
        }
    });
    EXPECT_EQ(region.check(), Status::ok);
    EXPECT_EQ(region.stats().live_bytes, 0U);
    auto cache = *region.claim_cache(1);
    (void)cache.trim();
    EXPECT_EQ(region.stats().taken_bytes, 0U);
}

}  // namespace
