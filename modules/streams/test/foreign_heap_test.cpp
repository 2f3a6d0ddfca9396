#include "bad_requests.hpp"
#include "segments_test.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/foreign_heap.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 64 << 10, .tracking = Tracking::compare},
    SegmentOptions{.name = "declared", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
    SegmentOptions{.name = "script",
                   .bytes = 256 << 10,
                   .kind = SegmentKind::process_bound,
                   .tracking = Tracking::compare},
};

class ForeignHeapTest : public testing_support::SegmentsTest {
protected:
    ForeignHeapTest() : SegmentsTest(kSegments) {}
};

TEST_F(ForeignHeapTest, TheWrongSegmentIsRefused) {
    EXPECT_EQ(ForeignHeap::create(ring_, "nowhere").status(), Status::not_found);
    EXPECT_EQ(ForeignHeap::create(ring_, "world").status(), Status::bad_argument);
    EXPECT_EQ(ForeignHeap::create(ring_, "declared").status(), Status::bad_argument);
    EXPECT_TRUE(ForeignHeap::create(ring_, "script"));
    ASSERT_TRUE(ring_.commit());
    EXPECT_EQ(ForeignHeap::create(ring_, "script").status(), Status::busy);
}

TEST_F(ForeignHeapTest, BadRequestsHaveTheStatusOfTheContractAndChangeNothing) {
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    testing_support::expect_bad_requests_refused(*heap);
    testing_support::expect_shortage_of_the_largest(*heap);
}

TEST_F(ForeignHeapTest, AllocationsAreRolledBackToo) {
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    const auto kept = heap->allocate(100);
    ASSERT_TRUE(kept);
    std::memset(kept->data, 1, 100);
    ASSERT_TRUE(ring_.commit());
    const ResourceStats before = heap->stats();
    heap->deallocate(*kept);
    void* other = heap->allocate_unsized(5000);
    ASSERT_NE(other, nullptr);
    ASSERT_TRUE(ring_.commit());
    ASSERT_TRUE(ring_.rollback(1));
    EXPECT_EQ(heap->stats().live_blocks, before.live_blocks);
    EXPECT_EQ(heap->stats().live_bytes, before.live_bytes);
    EXPECT_EQ(kept->data[99], std::byte{1});
    EXPECT_EQ(heap->check(), Status::ok);
    heap->deallocate(*kept);
    EXPECT_EQ(heap->allocate_unsized(5000), other);
}

TEST_F(ForeignHeapTest, AtTickZeroThereIsNone) {
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    ASSERT_NE(heap->allocate_unsized(100), nullptr);
    ASSERT_TRUE(ring_.commit());
    ASSERT_TRUE(ring_.rollback(0));
    EXPECT_EQ(heap->check(), Status::corrupt_data);
    EXPECT_EQ(heap->allocate_unsized(100), nullptr);
    EXPECT_EQ(heap->allocate_unsized(100, 256), nullptr);
    const std::uint64_t failures = heap->stats().failures;
    EXPECT_GE(failures, 2U);
    EXPECT_EQ(heap->allocate_unsized(SIZE_MAX), nullptr);
    EXPECT_EQ(heap->allocate_unsized(8, 3), nullptr);
    EXPECT_EQ(heap->stats().failures, failures + 2);
    EXPECT_EQ(heap->allocate(100).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap->stats().live_blocks, 0U);
}

TEST_F(ForeignHeapTest, WithoutSizesItIsAsMalloc) {
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    heap->free_unsized(nullptr);
    EXPECT_EQ(heap->resize_unsized(nullptr, 0), nullptr);
    for (const std::size_t alignment : {1U, 8U, 16U, 32U, 64U, 4096U}) {
        void* block = heap->allocate_unsized(50, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        EXPECT_EQ(ForeignHeap::size_unsized(block), 50U);
        EXPECT_TRUE(heap->owns(block));
        std::memset(block, 5, 50);
        block = heap->resize_unsized(block, 2000);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(ForeignHeap::size_unsized(block), 2000U);
        EXPECT_EQ(static_cast<std::byte*>(block)[49], std::byte{5});
        block = heap->resize_unsized(block, 10);
        EXPECT_EQ(static_cast<std::byte*>(block)[9], std::byte{5});
        EXPECT_EQ(heap->resize_unsized(block, 0), nullptr);
    }
    EXPECT_EQ(heap->stats().live_blocks, 0U);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST_F(ForeignHeapTest, WhatCannotBeIsNull) {
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    EXPECT_EQ(heap->allocate_unsized(10, 3), nullptr);
    EXPECT_EQ(heap->allocate_unsized(SIZE_MAX), nullptr);
    EXPECT_EQ(heap->allocate_unsized(1 << 20), nullptr);
    void* block = heap->allocate_unsized(100);
    ASSERT_NE(block, nullptr);
    std::memset(block, 3, 100);
    EXPECT_EQ(heap->resize_unsized(block, 1 << 20), nullptr);
    EXPECT_EQ(heap->resize_unsized(block, SIZE_MAX), nullptr);
    EXPECT_EQ(ForeignHeap::size_unsized(block), 100U);
    EXPECT_EQ(static_cast<std::byte*>(block)[99], std::byte{3});
    heap->free_unsized(block);
    void* zero = heap->allocate_unsized(0);
    EXPECT_NE(zero, nullptr);
    heap->free_unsized(zero);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST_F(ForeignHeapTest, RandomUseKeepsEachBlocksBytes) {
    const std::uint64_t seed = 9;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto heap = ForeignHeap::create(ring_, "script");
    ASSERT_TRUE(heap);
    struct Block {
        std::byte* data;
        std::size_t bytes;
        std::byte fill;
    };
    std::vector<Block> blocks;
    const auto is_sound = [](const Block& block) {
        for (std::size_t at = 0; at < block.bytes; ++at)
            if (block.data[at] != block.fill) return false;
        return true;
    };
    for (int step = 0; step < 3000; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const std::size_t bytes = 1 + random.below(900);
        const auto fill = static_cast<std::byte>(step);
        if (blocks.size() < 100 && random.below(2) == 0) {
            auto* data = static_cast<std::byte*>(heap->allocate_unsized(bytes, 1U << random.below(8)));
            ASSERT_NE(data, nullptr);
            std::memset(data, step, bytes);
            blocks.push_back({data, bytes, fill});
        } else if (!blocks.empty()) {
            Block& block = blocks[random.below(static_cast<std::uint32_t>(blocks.size()))];
            ASSERT_TRUE(is_sound(block));
            ASSERT_EQ(ForeignHeap::size_unsized(block.data), block.bytes);
            if (random.below(2) == 0) {
                heap->free_unsized(block.data);
                block = blocks.back();
                blocks.pop_back();
            } else {
                auto* data = static_cast<std::byte*>(heap->resize_unsized(block.data, bytes));
                ASSERT_NE(data, nullptr);
                ASSERT_TRUE(is_sound({data, std::min(bytes, block.bytes), block.fill}));
                std::memset(data, step, bytes);
                block = {data, bytes, fill};
            }
        }
    }
    EXPECT_EQ(heap->check(), Status::ok);
    EXPECT_EQ(heap->stats().live_blocks, blocks.size());
}

}  // namespace
}  // namespace ouro
