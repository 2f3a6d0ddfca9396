#include "tlsf_image.hpp"
#include "tlsf_script.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/hash.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::TlsfImage;
using ouro::testing_support::TlsfScript;

constexpr std::size_t kBytes = std::size_t{4} << 20;

TEST(TlsfHeap, BlocksCostTheirSizeAndNoMore) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const std::size_t free_before = heap.free_bytes();
    EXPECT_EQ(free_before, kBytes - TlsfHeap::control_bytes(kBytes));
    for (const std::size_t alignment : {16U, 64U, 4096U}) {
        for (const std::size_t size : {16U, 64U, 256U, 4096U, 10000U}) {
            const auto block = heap.allocate(size, alignment);
            ASSERT_TRUE(block);
            EXPECT_EQ(block->size, size);
            EXPECT_TRUE(ouro::is_aligned(block->data, alignment));
        }
    }
    EXPECT_EQ(heap.stats().live_bytes, 3U * (16 + 64 + 256 + 4096 + 10000));
    EXPECT_EQ(heap.free_bytes() + heap.stats().live_bytes, free_before);
    EXPECT_EQ(heap.check(), Status::ok);
    // All of the memory can be handed out in one piece.
    const TlsfImage other(kBytes);
    EXPECT_TRUE(other.make_heap().allocate(free_before));
}

TEST(TlsfHeap, TheControlIsASmallPartOfTheImage) {
    EXPECT_LT(TlsfHeap::control_bytes(std::size_t{64} << 10), std::size_t{6} << 10);
    for (const std::size_t bytes : {std::size_t{16} << 20, std::size_t{64} << 20, std::size_t{1} << 30})
        EXPECT_LT(TlsfHeap::control_bytes(bytes), bytes / 64) << bytes;
}

// Blocks of random sizes until there is no room for the next.
std::vector<MemoryBlock> fill(TlsfHeap& heap, ouro::Random& random, std::size_t least, std::uint32_t spread) {
    std::vector<MemoryBlock> blocks;
    while (const auto block = heap.allocate(least + random.below(spread)))
        blocks.push_back(*block);
    return blocks;
}

void free_in_any_order(TlsfHeap& heap, ouro::Random& random, std::vector<MemoryBlock>& blocks) {
    random.shuffle(std::span<MemoryBlock>(blocks));
    for (const MemoryBlock block : blocks)
        heap.deallocate(block);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfHeap, NeighboursMergeInWhateverOrderTheyGo) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const TlsfImage image(kBytes);
        TlsfHeap& heap = image.make_heap();
        const std::size_t whole = heap.free_bytes();
        ouro::Random random(seed);
        std::vector<MemoryBlock> blocks = fill(heap, random, 1, 20000);
        ASSERT_GT(blocks.size(), 100U);
        ASSERT_EQ(heap.check(), Status::ok);
        free_in_any_order(heap, random, blocks);
        EXPECT_TRUE(heap.is_empty());
        EXPECT_EQ(heap.free_bytes(), whole);
        EXPECT_TRUE(heap.allocate(whole)) << "what was freed is not one block again";
    }
}

TEST(TlsfHeap, LargeAlignmentsAreMetAndTheSkippedMemoryStaysFree) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    std::vector<MemoryBlock> blocks;
    for (std::size_t alignment = 1; alignment <= TlsfImage::kAlignment; alignment *= 2) {
        for (const std::size_t size : {1U, 100U, 5000U}) {
            const auto block = heap.allocate(size, alignment);
            ASSERT_TRUE(block) << alignment;
            EXPECT_TRUE(ouro::is_aligned(block->data, alignment));
            EXPECT_LT(block->size, size + TlsfHeap::kUnit);
            blocks.push_back(*block);
        }
    }
    EXPECT_EQ(heap.check(), Status::ok);
    const std::size_t whole = kBytes - TlsfHeap::control_bytes(kBytes);
    EXPECT_EQ(heap.free_bytes() + heap.stats().live_bytes, whole);
    for (const MemoryBlock block : blocks)
        heap.deallocate(block);
    EXPECT_TRUE(heap.allocate(whole));
}

TEST(TlsfHeap, ABlockGrowsAndShrinksWhereItIs) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const auto block = heap.allocate(1000);
    ASSERT_TRUE(block);
    std::memset(block->data, 7, block->size);
    const auto grown = heap.reallocate(*block, 500'000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, block->data);
    EXPECT_EQ(heap.stats().grown_in_place, 1U);
    const auto shrunk = heap.reallocate(*grown, 100);
    ASSERT_TRUE(shrunk);
    EXPECT_EQ(shrunk->data, block->data);
    EXPECT_EQ(shrunk->size, 112U);
    EXPECT_EQ(heap.stats().live_bytes, 112U);
    EXPECT_EQ(heap.stats().peak_bytes, 500'000U);
    for (std::size_t i = 0; i < 100; ++i)
        ASSERT_EQ(static_cast<int>(shrunk->data[i]), 7);
    EXPECT_EQ(heap.stats().moved, 0U);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfHeap, ABlockSlidesDownOverFreeMemoryBeforeIt) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const auto before = heap.allocate(5000);
    const auto block = heap.allocate(2000);
    const auto wall = heap.allocate(2000);
    ASSERT_TRUE(before && block && wall);
    std::memset(block->data, 9, block->size);
    heap.deallocate(*before);
    const auto grown = heap.reallocate(*block, 6000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, before->data);
    EXPECT_EQ(heap.stats().slid_down, 1U);
    for (std::size_t i = 0; i < 2000; ++i)
        ASSERT_EQ(static_cast<int>(grown->data[i]), 9);
    EXPECT_EQ(heap.check(), Status::ok);
    const auto moved = heap.reallocate(*grown, 100'000);
    ASSERT_TRUE(moved);
    EXPECT_EQ(heap.stats().moved, 1U);
    EXPECT_EQ(static_cast<int>(moved->data[1999]), 9);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfHeap, AFullHeapRefusesAndKeepsTheOldBlock) {
    const TlsfImage image(std::size_t{64} << 10);
    TlsfHeap& heap = image.make_heap();
    const auto block = heap.allocate(30'000);
    ASSERT_TRUE(block);
    EXPECT_EQ(heap.allocate(40'000).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap.reallocate(*block, 70'000).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap.allocate(0).status(), Status::zero_size);
    EXPECT_EQ(heap.allocate(16, 48).status(), Status::bad_alignment);
    EXPECT_EQ(heap.allocate(SIZE_MAX).status(), Status::size_overflow);
    EXPECT_EQ(heap.allocate(16, SIZE_MAX / 2 + 1).status(), Status::bad_alignment);
    EXPECT_EQ(heap.stats().live_bytes, 30'000U);
    EXPECT_EQ(heap.check(), Status::ok);
    heap.deallocate(*block);
    EXPECT_TRUE(heap.allocate(40'000));
}

TEST(TlsfHeap, KeptSmallBlocksComeBackWhenMemoryIsShort) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const std::size_t whole = heap.free_bytes();
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 3000; ++i)
        blocks.push_back(*heap.allocate(static_cast<std::size_t>(16 + i % 30 * 16)));
    for (const MemoryBlock block : blocks)
        heap.deallocate(block);
    EXPECT_EQ(heap.check(), Status::ok);
    EXPECT_EQ(heap.free_bytes(), whole);
    EXPECT_TRUE(heap.allocate(whole));
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfHeap, MoreFreeBlocksThanRecordsMergeAgain) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const TlsfImage image(kBytes);
        TlsfHeap& heap = image.make_heap();
        const std::size_t whole = heap.free_bytes();
        ouro::Random random(seed);
        const std::vector<MemoryBlock> blocks = fill(heap, random, 528, 1000);
        // A free block for every fourth of these; the table has one record for eight of them or less.
        ASSERT_GT(blocks.size(), kBytes / 2048);
        std::vector<MemoryBlock> others;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (i % 2 == 0) {
                heap.deallocate(blocks[i]);
            } else {
                others.push_back(blocks[i]);
            }
        }
        ASSERT_EQ(heap.check(), Status::ok);
        // Cut some of them, of those with a record in the table and of those without.
        for (int i = 0; i < 500; ++i) {
            const auto block = heap.allocate(16 + random.below(800), i % 8 == 0 ? 256 : 16);
            ASSERT_TRUE(block);
            others.push_back(*block);
        }
        ASSERT_EQ(heap.check(), Status::ok);
        free_in_any_order(heap, random, others);
        EXPECT_TRUE(heap.allocate(whole)) << "what was freed is not one block again";
    }
}

TEST(TlsfHeap, ManyBlocksALittleTooSmallHideNoneThatFits) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    // All of one class, and more of them than any search looks at; one block that is larger by some classes.
    std::vector<MemoryBlock> small;
    std::vector<MemoryBlock> walls;
    for (int i = 0; i < 100; ++i) {
        small.push_back(*heap.allocate(993 * TlsfHeap::kUnit));
        walls.push_back(*heap.allocate(1024));
    }
    const auto large = heap.allocate(1100 * TlsfHeap::kUnit);
    ASSERT_TRUE(large);
    while (heap.allocate(1024)) {
    }
    for (const MemoryBlock block : small)
        heap.deallocate(block);
    heap.deallocate(*large);
    ASSERT_EQ(heap.check(), Status::ok);
    const auto block = heap.allocate(1000 * TlsfHeap::kUnit);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->data, large->data);
    EXPECT_EQ(heap.allocate(1000 * TlsfHeap::kUnit).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfHeap, GrowsAndShrinksAtTheEnd) {
    const TlsfImage image(kBytes);
    const auto made = TlsfHeap::create_in(image.memory(), std::size_t{256} << 10);
    ASSERT_TRUE(made);
    TlsfHeap& heap = **made;
    const auto low = heap.allocate(100'000);
    ASSERT_TRUE(low);
    EXPECT_EQ(heap.allocate(1'000'000).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap.grow(kBytes + 16).status(), Status::out_of_range);
    ASSERT_TRUE(heap.grow(std::size_t{2} << 20));
    const auto high = heap.allocate(1'000'000);
    ASSERT_TRUE(high);
    EXPECT_EQ(heap.usable_bytes(), std::size_t{2} << 20);
    heap.deallocate(*high);
    const std::size_t used = heap.shrink();
    EXPECT_EQ(used, static_cast<std::size_t>(low->end() - image.memory().data));
    EXPECT_EQ(heap.free_bytes(), 0U);
    EXPECT_EQ(heap.check(), Status::ok);
    ASSERT_TRUE(heap.grow(kBytes));
    EXPECT_EQ(heap.check(), Status::ok);
    EXPECT_TRUE(heap.allocate(3'000'000));
}

TEST(TlsfHeap, GoesOnInACopyAndLeavesTheSameBytes) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const TlsfImage image(kBytes);
        const TlsfImage elsewhere(kBytes);
        TlsfHeap& heap = image.make_heap();
        TlsfScript script(seed);
        script.run(heap, image.memory().data, 5000);
        elsewhere.copy_from(image);
        TlsfScript same_script = script;
        const auto opened = TlsfHeap::open(elsewhere.memory());
        ASSERT_TRUE(opened);
        script.run(heap, image.memory().data, 5000);
        same_script.run(**opened, elsewhere.memory().data, 5000);
        EXPECT_EQ(ouro::hash_bytes(image.memory().bytes()), ouro::hash_bytes(elsewhere.memory().bytes()));
        EXPECT_EQ(std::memcmp(image.memory().data, elsewhere.memory().data, kBytes), 0);
        same_script.free_all(**opened, elsewhere.memory().data);
        EXPECT_TRUE((*opened)->is_empty());
        EXPECT_EQ((*opened)->check(), Status::ok);
    }
}

TEST(TlsfHeap, AnImageMadeForABlockHoldsIt) {
    const TlsfImage image(std::size_t{1} << 20);
    for (std::size_t alignment = 16; alignment <= TlsfImage::kAlignment; alignment *= 4) {
        for (std::size_t size = 1; size < 200'000; size += size < 6000 ? 1 : 97) {
            const auto bytes = TlsfHeap::image_bytes_for(size, alignment);
            ASSERT_TRUE(bytes && *bytes + TlsfHeap::kUnit <= image.memory().size);
            // Where no large alignment is met by chance.
            const MemoryBlock memory = image.memory().sub(TlsfHeap::kUnit, *bytes);
            const auto heap = TlsfHeap::create_in(memory);
            ASSERT_TRUE(heap) << size << " at " << alignment;
            ASSERT_TRUE((*heap)->allocate(size, alignment)) << size << " at " << alignment;
        }
    }
    EXPECT_EQ(TlsfHeap::image_bytes_for(SIZE_MAX - 100, 16).status(), Status::size_overflow);
}

TEST(TlsfHeap, RefusesMemoryThatCannotHoldIt) {
    const TlsfImage image(65536);
    const MemoryBlock memory = image.memory();
    EXPECT_EQ(TlsfHeap::create_in({memory.data + 8, 60000}).status(), Status::bad_alignment);
    EXPECT_EQ(TlsfHeap::create_in({memory.data, 100}).status(), Status::out_of_range);
    EXPECT_EQ(TlsfHeap::create_in(memory, memory.size + 16).status(), Status::out_of_range);
    EXPECT_EQ(TlsfHeap::create_in(memory, 64).status(), Status::out_of_range);
    EXPECT_EQ(TlsfHeap::open({memory.data + 8, 60000}).status(), Status::bad_alignment);
    EXPECT_EQ(TlsfHeap::open(memory).status(), Status::corrupt_data);
}

// Of the class of the size itself, which also has smaller blocks, so many are looked at.
TEST(TlsfHeap, AFitAmongManyThatAreSlightlyTooSmallIsFoundUpToABound) {
    constexpr std::size_t kFits = std::size_t{131} * TlsfHeap::kUnit;
    constexpr std::size_t kTooSmall = std::size_t{128} * TlsfHeap::kUnit;
    for (const std::size_t many : {60U, 70U}) {
        const TlsfImage image(std::size_t{512} << 10);
        TlsfHeap& heap = image.make_heap();
        std::vector<ouro::MemoryBlock> freed;
        for (std::size_t count = 0; count <= many; ++count) {
            freed.push_back(*heap.allocate(count == 0 ? kFits : kTooSmall));
            // Keeps them apart.
            ASSERT_TRUE(heap.allocate(16));
        }
        // Nothing else is free.
        for (std::size_t size = std::size_t{256} << 10; size >= 16; size /= 2) {
            while (heap.allocate(size)) {
            }
        }
        // What was freed last is looked at first.
        for (const ouro::MemoryBlock& block : freed)
            heap.deallocate(block);
        ASSERT_EQ(heap.check(), Status::ok);
        const auto found = heap.allocate(kFits);
        if (many < 64) {
            ASSERT_TRUE(found);
            EXPECT_EQ(found->data, freed[0].data);
        } else {
            EXPECT_EQ(found.status(), Status::capacity_exhausted);
            // Less is always found.
            EXPECT_TRUE(heap.allocate(kTooSmall));
        }
    }
}

}  // namespace
