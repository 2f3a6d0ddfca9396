#include <ouro/base/memory_block.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;

TEST(MemoryBlock, NullHoldsNothing) {
    const MemoryBlock null;
    EXPECT_TRUE(null.is_null());
    EXPECT_FALSE(null);
    EXPECT_FALSE(null.contains(nullptr));
    EXPECT_FALSE(null.contains(null));
}

TEST(MemoryBlock, ContainsExactlyItsBytes) {
    std::array<std::byte, 64> storage;
    const MemoryBlock block{storage.data() + 16, 32};
    EXPECT_FALSE(block.contains(storage.data() + 15));
    EXPECT_TRUE(block.contains(storage.data() + 16));
    EXPECT_TRUE(block.contains(storage.data() + 47));
    EXPECT_FALSE(block.contains(storage.data() + 48));
    EXPECT_TRUE(block.contains(block));
    EXPECT_TRUE(block.contains(block.sub(32, 0)));
    EXPECT_FALSE(block.contains(MemoryBlock{storage.data() + 16, 33}));
    EXPECT_FALSE(block.contains(MemoryBlock{storage.data() + 15, 2}));
    EXPECT_FALSE(block.contains(MemoryBlock{storage.data() + 20, SIZE_MAX}));
}

TEST(MemoryBlock, OverlapNeedsACommonByte) {
    std::array<std::byte, 64> storage;
    const MemoryBlock left{storage.data(), 32};
    const MemoryBlock right{storage.data() + 32, 32};
    EXPECT_FALSE(left.overlaps(right));
    EXPECT_TRUE(left.overlaps(MemoryBlock{storage.data() + 31, 1}));
    EXPECT_TRUE((MemoryBlock{storage.data(), 64}).overlaps(right));
    EXPECT_FALSE(left.overlaps(MemoryBlock{storage.data() + 8, 0}));
}

TEST(MemoryBlock, PartsKeepTheirPlace) {
    std::array<std::byte, 64> storage;
    const MemoryBlock block{storage.data(), storage.size()};
    const MemoryBlock part = block.sub(8, 16);
    EXPECT_EQ(part.begin(), storage.data() + 8);
    EXPECT_EQ(part.end(), storage.data() + 24);
    EXPECT_EQ(part.bytes().size(), 16U);
}

TEST(MemoryBlock, ExpectedOneIsNoLargerThanItself) {
    std::array<std::byte, 8> storage;
    const ouro::Expected<MemoryBlock> block = MemoryBlock{storage.data(), storage.size()};
    ASSERT_TRUE(block);
    EXPECT_EQ(block.status(), ouro::Status::ok);
    EXPECT_EQ(block->size, storage.size());
    EXPECT_EQ(*block, (MemoryBlock{storage.data(), storage.size()}));

    const ouro::Expected<MemoryBlock> failure = ouro::Status::out_of_memory;
    EXPECT_FALSE(failure);
    EXPECT_EQ(failure.status(), ouro::Status::out_of_memory);
    EXPECT_EQ(failure.value_or(*block), *block);
    static_assert(sizeof(block) == sizeof(MemoryBlock));
}

}  // namespace
