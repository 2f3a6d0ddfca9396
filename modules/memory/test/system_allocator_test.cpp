#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::SystemAllocator;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST(SystemAllocator, BlocksAreWholePagesAndSaySo) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    const std::size_t page = ouro::os::page_size();
    const auto block = system->allocate(1);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, page);
    EXPECT_TRUE(ouro::is_aligned(block->data, page));
    std::memset(block->data, 1, block->size);
    // Any size from what was asked to what was given.
    system->deallocate({block->data, 1});
    EXPECT_EQ(system->stats().live_bytes, 0U);
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(SystemAllocator, RoundedSizesAgreeAtBothEnds) {
    for (std::size_t size = 1; size < 64 * kMebibyte; size += size / 3 + 1) {
        const auto rounded = SystemAllocator::rounded_size(size);
        ASSERT_TRUE(rounded);
        ASSERT_GE(*rounded, size);
        ASSERT_EQ(SystemAllocator::rounded_size(*rounded).value(), *rounded) << size;
        ASSERT_EQ(SystemAllocator::rounded_size(size + (*rounded - size) / 2).value(), *rounded) << size;
        ASSERT_EQ(*rounded % ouro::os::page_size(), 0U) << size;
        ASSERT_LE(*rounded, size + size / 8 + ouro::os::page_size()) << size;
    }
    EXPECT_EQ(SystemAllocator::rounded_size(0).status(), Status::zero_size);
    EXPECT_EQ(SystemAllocator::rounded_size(SIZE_MAX).status(), Status::size_overflow);
}

TEST(SystemAllocator, LargeAlignmentsAreKept) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    for (std::size_t alignment = 1; alignment <= 4 * kMebibyte; alignment *= 2) {
        const auto block = system->allocate(100, alignment);
        ASSERT_TRUE(block);
        ASSERT_TRUE(ouro::is_aligned(block->data, alignment));
        system->deallocate(*block, alignment);
    }
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(SystemAllocator, KeepsWhatWasFreedForTheNext) {
    auto system = SystemAllocator::create({.cache_bytes = 8 * kMebibyte});
    ASSERT_TRUE(system);
    const auto block = system->allocate(kMebibyte);
    ASSERT_TRUE(block);
    system->deallocate(*block);
    EXPECT_EQ(system->stats().committed_bytes, kMebibyte);
    EXPECT_TRUE(system->owns(block->data));
    EXPECT_EQ(system->allocate(kMebibyte)->data, block->data);
    system->deallocate(*block);
    EXPECT_EQ(system->trim(), kMebibyte);
    EXPECT_EQ(system->stats().committed_bytes, 0U);
    EXPECT_FALSE(system->owns(block->data));
    // Larger than a quarter of the cache: goes back at once.
    const auto large = system->allocate(4 * kMebibyte);
    ASSERT_TRUE(large);
    system->deallocate(*large);
    EXPECT_FALSE(system->owns(large->data));
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(SystemAllocator, TheCacheIsBounded) {
    auto system = SystemAllocator::create({.cache_bytes = 4 * kMebibyte});
    ASSERT_TRUE(system);
    std::vector<MemoryBlock> blocks;
    for (std::size_t i = 0; i < 40; ++i) {
        const auto block = system->allocate((1 + i % 7) * 65536);
        ASSERT_TRUE(block);
        blocks.push_back(*block);
    }
    for (const MemoryBlock block : blocks) {
        system->deallocate(block);
        ASSERT_LE(system->stats().committed_bytes - system->stats().live_bytes, 4 * kMebibyte);
        ASSERT_EQ(system->check(), Status::ok);
    }
    EXPECT_EQ(system->stats().live_blocks, 0U);
}

TEST(SystemAllocator, ChangesSizeAndKeepsTheBytes) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    auto block = system->allocate(10 * kMebibyte);
    ASSERT_TRUE(block);
    std::memset(block->data, 0x3C, block->size);
    for (const std::size_t size : {5 * kMebibyte, std::size_t{100}, kMebibyte, 30 * kMebibyte, kMebibyte}) {
        const std::size_t kept = std::min(block->size, size);
        block = system->reallocate(*block, size);
        ASSERT_TRUE(block);
        ASSERT_GE(block->size, size);
        ASSERT_EQ(system->stats().live_bytes, block->size);
        ASSERT_EQ(system->check(), Status::ok);
        for (std::size_t i = 0; i < kept; i += 997)
            ASSERT_EQ(block->data[i], std::byte{0x3C});
        std::memset(block->data, 0x3C, block->size);
    }
    EXPECT_TRUE(system->owns(block->end() - 1));
    system->deallocate(*block);
}

TEST(SystemAllocator, TheBoundHoldsAndPasses) {
    auto system = SystemAllocator::create({.max_bytes = kMebibyte});
    ASSERT_TRUE(system);
    const auto block = system->allocate(kMebibyte);
    ASSERT_TRUE(block);
    EXPECT_EQ(system->allocate(1).status(), Status::capacity_exhausted);
    EXPECT_EQ(system->reallocate(*block, 2 * kMebibyte).status(), Status::capacity_exhausted);
    system->deallocate(*block);
    EXPECT_TRUE(system->allocate(1));
    EXPECT_EQ(system->stats().failures, 2U);
}

TEST(SystemAllocator, MovesWithWhatItHolds) {
    auto made = SystemAllocator::create({.name = "moved system"});
    ASSERT_TRUE(made);
    const auto block = made->allocate(1000);
    ASSERT_TRUE(block);
    SystemAllocator system = *std::move(made);
    EXPECT_TRUE(system.owns(block->data));
    EXPECT_EQ(system.stats().live_blocks, 1U);
    EXPECT_FALSE(made->owns(block->data));
    EXPECT_EQ(made->allocate(1000).status(), Status::capacity_exhausted);
    EXPECT_EQ(made->stats().live_blocks, 0U);
    EXPECT_EQ(made->trim(), 0U);
    EXPECT_EQ(made->check(), Status::ok);
    system.deallocate(*block);
    EXPECT_EQ(system.check(), Status::ok);
}

TEST(SystemAllocator, OwnsNothingElse) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    const int local = 0;
    EXPECT_FALSE(system->owns(&local));
    EXPECT_FALSE(system->owns(nullptr));
    EXPECT_FALSE(system->owns(reinterpret_cast<const void*>(UINTPTR_MAX)));
}

}  // namespace
