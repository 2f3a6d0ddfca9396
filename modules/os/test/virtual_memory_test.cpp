#include <ouro/os/virtual_memory.hpp>

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
namespace os = ouro::os;

bool is_zero(MemoryBlock block) {
    for (std::size_t i = 0; i < block.size; ++i) {
        if (block.data[i] != std::byte{0}) return false;
    }
    return true;
}

TEST(VirtualMemory, PagesAreAPowerOfTwo) {
    EXPECT_GE(os::page_size(), 4096U);
    EXPECT_EQ(os::page_size() & (os::page_size() - 1), 0U);
}

TEST(VirtualMemory, ReservesCommitsAndReleases) {
    const auto block = os::reserve({.bytes = 10 * os::page_size() + 1});
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, 11 * os::page_size());
    const MemoryBlock first = block->sub(0, 2 * os::page_size());
    ASSERT_TRUE(os::commit(first));
    EXPECT_TRUE(is_zero(first));
    std::memset(first.data, 0xAB, first.size);
    // Committing again keeps the bytes.
    ASSERT_TRUE(os::commit(block->sub(0, 4 * os::page_size())));
    EXPECT_EQ(first.data[first.size - 1], std::byte{0xAB});
    EXPECT_TRUE(is_zero(block->sub(2 * os::page_size(), 2 * os::page_size())));
    EXPECT_TRUE(os::release(*block));
}

TEST(VirtualMemory, RecommittedPagesReadZero) {
    const auto block = os::reserve({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    std::memset(block->data, 0xCD, block->size);
    const MemoryBlock middle = block->sub(os::page_size(), 2 * os::page_size());
    ASSERT_TRUE(os::decommit(middle));
    ASSERT_TRUE(os::commit(middle));
    EXPECT_TRUE(is_zero(middle));
    EXPECT_EQ(block->data[0], std::byte{0xCD});
    EXPECT_EQ(block->data[block->size - 1], std::byte{0xCD});
    EXPECT_TRUE(os::release(*block));
}

TEST(VirtualMemory, DiscardedPagesReadZeroAndStayCommitted) {
    const auto block = os::reserve({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    std::memset(block->data, 0xEF, block->size);
    const MemoryBlock middle = block->sub(os::page_size(), 2 * os::page_size());
    ASSERT_TRUE(os::discard(middle));
    EXPECT_TRUE(is_zero(middle));
    EXPECT_EQ(block->data[0], std::byte{0xEF});
    middle.data[0] = std::byte{1};
    EXPECT_EQ(middle.data[0], std::byte{1});
    EXPECT_TRUE(os::release(*block));
}

TEST(VirtualMemory, HonoursAlignment) {
    for (std::size_t alignment = os::page_size(); alignment <= std::size_t{4} << 20; alignment *= 2) {
        const auto block = os::reserve({.bytes = os::page_size(), .alignment = alignment});
        ASSERT_TRUE(block);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data) % alignment, 0U);
        ASSERT_TRUE(os::commit(*block));
        block->data[0] = std::byte{1};
        EXPECT_TRUE(os::release(*block));
    }
}

TEST(VirtualMemory, ReservesAtAChosenFreeAddressOnly) {
    const auto found = os::reserve({.bytes = 8 * os::page_size()});
    ASSERT_TRUE(found);
    const auto taken = os::reserve({.bytes = os::page_size(), .address = found->data});
    EXPECT_EQ(taken.status(), Status::address_in_use);
    ASSERT_TRUE(os::release(*found));
    const auto again = os::reserve({.bytes = 8 * os::page_size(), .address = found->data});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->data, found->data);
    EXPECT_TRUE(os::release(*again));
}

TEST(VirtualMemory, PrefaultKeepsTheBytes) {
    const auto block = os::reserve({.bytes = 64 * os::page_size()});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    block->data[5] = std::byte{7};
    ASSERT_TRUE(os::prefault(*block));
    EXPECT_EQ(block->data[5], std::byte{7});
    EXPECT_EQ(block->data[block->size - 1], std::byte{0});
    EXPECT_TRUE(os::release(*block));
}

TEST(VirtualMemory, RefusesSenselessRequests) {
    EXPECT_EQ(os::reserve({.bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(os::reserve({.bytes = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(os::reserve({.bytes = SIZE_MAX - os::page_size()}).status(), Status::out_of_address_space);
    EXPECT_EQ(os::reserve({.bytes = SIZE_MAX / 2 + 1}).status(), Status::out_of_address_space);
    EXPECT_EQ(os::reserve({.bytes = 1, .alignment = 48}).status(), Status::bad_alignment);
    EXPECT_EQ(os::reserve({.bytes = 1, .address = reinterpret_cast<void*>(12345)}).status(),
              Status::bad_address);
}

TEST(VirtualMemory, RefusesBadRanges) {
    const auto block = os::reserve({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(block);
    using Operation = ouro::Expected<void> (*)(MemoryBlock) noexcept;
    for (const Operation operation : {Operation{os::commit}, Operation{os::decommit}, Operation{os::prefault},
                                      Operation{os::discard}, Operation{os::release}}) {
        EXPECT_EQ(operation({block->data, 0}).status(), Status::zero_size);
        EXPECT_EQ(operation({nullptr, os::page_size()}).status(), Status::bad_address);
        EXPECT_EQ(operation({block->data + 1, os::page_size()}).status(), Status::bad_address);
        EXPECT_EQ(operation({block->data, os::page_size() + 1}).status(), Status::bad_address);
        const std::size_t wrapping = SIZE_MAX - os::page_size() + 1;
        EXPECT_EQ(operation({block->data, wrapping}).status(), Status::size_overflow);
    }
    EXPECT_TRUE(os::release(*block));
}

TEST(VirtualMemory, AlignmentsNearTheTopDoNotWrap) {
    EXPECT_EQ(os::reserve({.bytes = os::page_size(), .alignment = SIZE_MAX / 2 + 1}).status(),
              Status::out_of_address_space);
}

}  // namespace
