// Several threads exchange stamped blocks through one guarded allocator; nothing may be reported.
#include "hardening/recorded_errors.hpp"
#include "hardening/reusing_resource.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::GuardedAllocator;
using ouro::GuardOptions;
using ouro::HardeningTier;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Random;
using ouro::testing_support::RecordedErrors;
using ouro::testing_support::ReusingResource;

constexpr std::size_t kThreads = 4;
constexpr int kSteps = 4000;
constexpr std::size_t kPlaces = 64;

// Blocks wait in shared places; whoever finds one there checks and frees it, whoever made it.
struct Exchange {
    MemoryResource& resource;
    std::array<std::atomic<MemoryBlock*>, kPlaces> places{};
    std::atomic<std::uint64_t> next_seed{1};
    std::atomic<int> bad_stamps{0};

    void free(MemoryBlock* header) {
        // The first bytes of a block are its own description.
        const MemoryBlock block = *header;
        for (std::size_t i = sizeof(MemoryBlock); i < block.size; ++i)
            bad_stamps += block.data[i] != std::byte(block.size) ? 1 : 0;
        resource.deallocate(block, 16);
    }

    void run() {
        Random random(next_seed.fetch_add(1));
        for (int step = 0; step < kSteps; ++step) {
            const std::size_t size = sizeof(MemoryBlock) + 1 + random.below(200);
            const auto block = resource.allocate(size, 16);
            if (!block) continue;
            std::memset(block->data, static_cast<int>(block->size & 0xFF), block->size);
            auto* header = reinterpret_cast<MemoryBlock*>(block->data);
            *header = *block;
            MemoryBlock* found = places[random.below(kPlaces)].exchange(header);
            if (found != nullptr) free(found);
        }
    }
};

template <HardeningTier kTier>
void exchange_blocks(const GuardOptions& options) {
    ReusingResource upstream(std::size_t{32} << 20);
    const RecordedErrors errors;
    {
        auto guarded = GuardedAllocator<kTier>::create_on(upstream, options);
        ASSERT_TRUE(guarded);
        Exchange exchange{*guarded};
        std::array<ouro::os::Thread, kThreads> threads;
        for (auto& thread : threads) {
            thread = *ouro::os::Thread::start([](void* shared) { static_cast<Exchange*>(shared)->run(); },
                                              &exchange);
        }
        for (auto& thread : threads)
            thread.join();
        for (auto& place : exchange.places) {
            if (MemoryBlock* left = place.load()) exchange.free(left);
        }
        EXPECT_EQ(exchange.bad_stamps.load(), 0);
        EXPECT_EQ(guarded->stats().live_blocks, 0U);
        EXPECT_EQ(guarded->check(), ouro::Status::ok);
    }
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(upstream.stats().live_blocks, 0U);
}

TEST(GuardedConcurrent, Checked) {
    exchange_blocks<HardeningTier::checked>({.max_blocks = 8192, .quarantine_blocks = 100});
}

TEST(GuardedConcurrent, Hardened) {
    exchange_blocks<HardeningTier::hardened>(
        {.max_blocks = 8192, .quarantine_blocks = 100, .sample_every = 3, .guard_slots = 32});
}

TEST(GuardedConcurrent, SampledOnly) {
    exchange_blocks<HardeningTier::hardened>(
        {.max_blocks = 8192, .sample_every = 20, .check_unsampled = false, .guard_slots = 16});
}

}  // namespace
