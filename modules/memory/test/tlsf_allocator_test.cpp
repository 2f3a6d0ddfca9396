#include "resource_model.hpp"
#include "tlsf_image.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::MemoryBlock;
using ouro::StackAllocator;
using ouro::Status;
using ouro::TlsfAllocator;
using ouro::testing_support::ResourceModel;
using ouro::testing_support::TlsfImage;

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(TlsfAllocator, CommitsAsItGrowsAndGivesBackOnTrim) {
    auto heap = TlsfAllocator::create({.max_bytes = 256 * kMiB, .commit_step_bytes = kMiB});
    ASSERT_TRUE(heap);
    const std::size_t at_first = heap->stats().committed_bytes;
    EXPECT_LT(at_first, 8 * kMiB);
    EXPECT_EQ(heap->stats().reserved_bytes, 256 * kMiB);
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 100; ++i) {
        const auto block = heap->allocate(kMiB);
        ASSERT_TRUE(block);
        std::memset(block->data, i, block->size);
        blocks.push_back(*block);
    }
    EXPECT_GE(heap->stats().committed_bytes, 100 * kMiB);
    EXPECT_LE(heap->stats().committed_bytes, 110 * kMiB);
    EXPECT_EQ(heap->trim() / (16 * kMiB), 0U);
    for (const MemoryBlock block : blocks)
        heap->deallocate(block);
    EXPECT_EQ(heap->check(), Status::ok);
    EXPECT_GE(heap->trim(), 95 * kMiB);
    EXPECT_LE(heap->stats().committed_bytes, at_first + kMiB);
    EXPECT_EQ(heap->stats().peak_bytes, 100 * kMiB);
    EXPECT_EQ(heap->check(), Status::ok);
    const auto again = heap->allocate(50 * kMiB);
    ASSERT_TRUE(again);
    std::memset(again->data, 1, again->size);
    heap->deallocate(*again);
}

TEST(TlsfAllocator, UsesItsMemoryToTheLastByte) {
    auto heap = TlsfAllocator::create({.max_bytes = 4 * kMiB});
    ASSERT_TRUE(heap);
    std::size_t count = 0;
    while (heap->allocate(16, 16))
        ++count;
    EXPECT_EQ(count, (4 * kMiB - ouro::TlsfHeap::control_bytes(4 * kMiB)) / 16);
    EXPECT_EQ(heap->stats().failures, 1U);
    EXPECT_EQ(heap->allocate(16, 16).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(TlsfAllocator, RegionsAreUsedInOrderAndRemovedWhenEmpty) {
    const TlsfImage first(kMiB);
    const TlsfImage second(kMiB);
    const TlsfImage third(2 * kMiB);
    auto heap = TlsfAllocator::create_in(first.memory(), "regions");
    ASSERT_TRUE(heap);
    ASSERT_TRUE(heap->add_region(second.memory()));
    ASSERT_TRUE(heap->add_region(third.memory()));
    EXPECT_EQ(heap->region_count(), 3U);
    EXPECT_EQ(heap->add_region(second.memory()).status(), Status::address_in_use);
    EXPECT_EQ(heap->add_region({second.memory().data + 8, 100}).status(), Status::address_in_use);

    const auto low = heap->allocate(600'000);
    const auto middle = heap->allocate(600'000);
    const auto large = heap->allocate(1'500'000);
    ASSERT_TRUE(low && middle && large);
    EXPECT_TRUE(first.memory().contains(*low));
    EXPECT_TRUE(second.memory().contains(*middle));
    EXPECT_TRUE(third.memory().contains(*large));
    EXPECT_EQ(heap->allocate(600'000).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap->stats().peak_bytes, 2'700'000U);
    EXPECT_TRUE(heap->owns(large->data));

    EXPECT_EQ(heap->remove_region(second.memory()).status(), Status::busy);
    EXPECT_EQ(heap->remove_region(first.memory()).status(), Status::not_found);
    heap->deallocate(*middle);
    EXPECT_TRUE(heap->remove_region(second.memory()));
    EXPECT_EQ(heap->remove_region(second.memory()).status(), Status::not_found);
    EXPECT_FALSE(heap->owns(middle->data));
    heap->deallocate(*large);
    EXPECT_TRUE(heap->remove_region(third.memory()));
    heap->deallocate(*low);
    EXPECT_EQ(heap->stats().live_blocks, 0U);
    EXPECT_EQ(heap->stats().allocations, 3U);
    EXPECT_EQ(heap->stats().peak_bytes, 2'700'000U);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(TlsfAllocator, ABlockMovesToAnotherRegionWhenItsOwnIsFull) {
    const TlsfImage first(kMiB);
    const TlsfImage second(4 * kMiB);
    auto heap = TlsfAllocator::create_in(first.memory());
    ASSERT_TRUE(heap);
    ASSERT_TRUE(heap->add_region(second.memory()));
    const auto block = heap->allocate(500'000);
    ASSERT_TRUE(block);
    std::memset(block->data, 5, block->size);
    const auto moved = heap->reallocate(*block, 2'000'000);
    ASSERT_TRUE(moved);
    EXPECT_TRUE(second.memory().contains(*moved));
    EXPECT_EQ(static_cast<int>(moved->data[499'999]), 5);
    EXPECT_EQ(heap->stats().live_blocks, 1U);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(TlsfAllocator, TakesMoreFromAnotherResourceAndReturnsIt) {
    auto below = TlsfAllocator::create({.max_bytes = 64 * kMiB});
    ASSERT_TRUE(below);
    {
        auto heap = TlsfAllocator::create_growing(*below, {.name = "upper", .region_bytes = kMiB});
        ASSERT_TRUE(heap);
        std::vector<MemoryBlock> blocks;
        for (int i = 0; i < 40; ++i)
            blocks.push_back(*heap->allocate(200'000));
        const auto large = heap->allocate(5 * kMiB);
        ASSERT_TRUE(large);
        EXPECT_GT(heap->region_count(), 4U);
        EXPECT_EQ(heap->allocate(100 * kMiB).status(), Status::capacity_exhausted);
        for (const MemoryBlock block : blocks)
            heap->deallocate(block);
        heap->deallocate(*large);
        EXPECT_GT(heap->trim(), 12 * kMiB);
        EXPECT_EQ(heap->region_count(), 1U);
        EXPECT_EQ(heap->stats().allocations, 41U);
        EXPECT_EQ(heap->check(), Status::ok);
        TlsfAllocator moved = *std::move(heap);
        EXPECT_TRUE(moved.allocate(100));
        EXPECT_EQ(moved.info().name, "upper");
    }
    EXPECT_EQ(below->stats().live_blocks, 0U);
    EXPECT_EQ(below->check(), Status::ok);
}

// Its number of regions is limited, but not by it what it can hold.
TEST(TlsfAllocator, GrowsUntilTheOtherResourceEnds) {
    constexpr std::size_t kBelowBytes = 48 * kMiB;
    constexpr std::size_t kRegionBytes = 16 << 10;
    auto below = TlsfAllocator::create({.max_bytes = kBelowBytes});
    ASSERT_TRUE(below);
    auto heap = TlsfAllocator::create_growing(*below, {.region_bytes = kRegionBytes});
    ASSERT_TRUE(heap);
    std::vector<MemoryBlock> blocks;
    std::size_t held_before = 0;
    for (auto block = heap->allocate(1000); block; block = heap->allocate(1000)) {
        blocks.push_back(*block);
        // Never more than is in use already, and a quarter as long as the regions are few.
        const std::size_t held = heap->stats().reserved_bytes;
        if (held == held_before) continue;
        const std::size_t share = heap->region_count() <= TlsfAllocator::kMaxRegions / 2 ? 4 : 1;
        EXPECT_LE(held, held_before + std::max(held_before / share + 16, kRegionBytes));
        held_before = held;
    }
    EXPECT_GT(heap->stats().live_bytes, kBelowBytes / 10 * 9);
    EXPECT_EQ(heap->allocate(1000).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap->check(), Status::ok);
    for (const MemoryBlock block : blocks)
        heap->deallocate(block);
    EXPECT_GT(heap->trim(), kBelowBytes / 10 * 9);
    EXPECT_EQ(below->stats().live_bytes, kRegionBytes);
}

TEST(TlsfAllocator, ARegionTakenForABlockServesIt) {
    for (const std::size_t size : {2000U, 3000U, 3600U, 3750U, 4000U}) {
        auto stack = StackAllocator::create({.max_bytes = kMiB});
        ASSERT_TRUE(stack);
        auto heap = TlsfAllocator::create_growing(*stack, {.region_bytes = 1700});
        ASSERT_TRUE(heap);
        // Few enough that a share of what is held is less than a second block needs.
        for (std::size_t regions = 2; regions <= 6; ++regions) {
            ASSERT_TRUE(heap->allocate(size)) << size;
            EXPECT_EQ(heap->region_count(), regions) << size;
        }
        const std::size_t taken = stack->stats().live_bytes;
        EXPECT_EQ(heap->allocate(2 * kMiB).status(), Status::capacity_exhausted);
        EXPECT_EQ(stack->stats().live_bytes, taken);
        EXPECT_EQ(heap->check(), Status::ok);
    }
}

TEST(TlsfAllocator, RefusesSenselessSizes) {
    EXPECT_EQ(TlsfAllocator::create({.max_bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(TlsfAllocator::create({.max_bytes = SIZE_MAX}).status(), Status::size_overflow);
    auto frame = FrameAllocator::create({.max_bytes = kMiB});
    ASSERT_TRUE(frame);
    EXPECT_EQ(TlsfAllocator::create_on(*frame, 2 * kMiB).status(), Status::capacity_exhausted);
    EXPECT_EQ(TlsfAllocator::create_on(*frame, 64).status(), Status::out_of_range);
}

enum class Shape { own, on_frame, several, growing };
constexpr Shape kShapes[] = {Shape::own, Shape::on_frame, Shape::several, Shape::growing};

// What every shape of the allocator promises, byte by byte.
void run_model(TlsfAllocator& heap, std::uint64_t seed, const ResourceModel::Limits& limits) {
    ResourceModel model(heap, limits, seed);
    for (int step = 0; step < 4000; ++step) {
        model.step();
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_TRUE(step % 400 != 0 || heap.check() == Status::ok);
    }
    model.free_all();
    ASSERT_EQ(heap.check(), Status::ok);
    ASSERT_EQ(heap.stats().live_bytes, 0U);
    ASSERT_EQ(heap.stats().live_blocks, 0U);
}

TEST(TlsfAllocator, RandomCallsKeepEveryByteInEveryShape) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        for (const Shape shape : kShapes) {
            SCOPED_TRACE("shape " + std::to_string(static_cast<int>(shape)));
            auto frame = FrameAllocator::create({.max_bytes = 64 * kMiB});
            const TlsfImage region(256 << 10);
            ASSERT_TRUE(frame);
            auto heap = shape == Shape::own        ? TlsfAllocator::create({.max_bytes = kMiB})
                        : shape == Shape::on_frame ? TlsfAllocator::create_on(*frame, 256 << 10)
                        : shape == Shape::several
                            ? TlsfAllocator::create_on(*frame, 128 << 10)
                            : TlsfAllocator::create_growing(*frame, {.region_bytes = 64 << 10});
            ASSERT_TRUE(heap);
            ASSERT_TRUE(shape != Shape::several || heap->add_region(region.memory()));
            run_model(*heap, seed, {.max_size = 20'000, .max_alignment = 4096, .max_live_blocks = 400});
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
