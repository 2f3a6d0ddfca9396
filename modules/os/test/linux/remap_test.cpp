#include "mapping_table.hpp"

#include <ouro/os/remap.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::testing_support::NoMappingLeak;
namespace os = ouro::os;

std::size_t pages(std::size_t count) {
    return count * os::page_size();
}

// Committed pages, stamped, with free addresses behind them.
MemoryBlock block_with_room(std::size_t held, std::size_t room) {
    const auto whole = os::reserve({.bytes = pages(held + room)});
    EXPECT_TRUE(whole);
    EXPECT_TRUE(os::release(whole->sub(pages(held), pages(room))));
    const MemoryBlock block = whole->sub(0, pages(held));
    EXPECT_TRUE(os::commit(block));
    std::memset(block.data, 0x5A, block.size);
    return block;
}

void expect_bytes(MemoryBlock block, std::size_t stamped) {
    for (std::size_t i = 0; i < block.size; ++i)
        ASSERT_EQ(block.data[i], i < stamped ? std::byte{0x5A} : std::byte{0}) << i;
}

TEST(Remap, ExtendsInPlace) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(4, 60);
    const auto larger = os::extend(block, pages(32) - 1);
    ASSERT_TRUE(larger);
    EXPECT_EQ(larger->data, block.data);
    EXPECT_EQ(larger->size, pages(32));
    expect_bytes(*larger, block.size);
    std::memset(larger->data, 1, larger->size);
    EXPECT_TRUE(os::release(*larger));
}

TEST(Remap, DoesNotExtendOverANeighbour) {
    const auto whole = os::reserve({.bytes = pages(8)});
    ASSERT_TRUE(whole);
    const MemoryBlock block = whole->sub(0, pages(4));
    ASSERT_TRUE(os::commit(block));
    std::memset(block.data, 0x5A, block.size);
    EXPECT_EQ(os::extend(block, pages(5)).status(), Status::address_in_use);
    // The neighbour that is committed too may be one mapping with the block.
    ASSERT_TRUE(os::commit(whole->sub(pages(4), pages(4))));
    EXPECT_EQ(os::extend(block, pages(5)).status(), Status::address_in_use);
    expect_bytes(*whole, block.size);
    EXPECT_TRUE(os::release(*whole));
}

TEST(Remap, MovesWhenThereIsNoRoom) {
    const NoMappingLeak balanced;
    const auto whole = os::reserve({.bytes = pages(8)});
    ASSERT_TRUE(whole);
    const MemoryBlock block = whole->sub(0, pages(4));
    ASSERT_TRUE(os::commit(block));
    std::memset(block.data, 0x5A, block.size);
    const auto moved = os::move_and_extend(block, pages(64) - 1);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, block.data);
    EXPECT_EQ(moved->size, pages(64));
    expect_bytes(*moved, block.size);
    std::memset(moved->data, 1, moved->size);
    // The old addresses are free; the rest of the reservation is not.
    EXPECT_EQ(os::commit(block).status(), Status::not_mapped);
    EXPECT_TRUE(os::release(*moved));
    EXPECT_TRUE(os::release(whole->sub(pages(4), pages(4))));
}

TEST(Remap, GrowsStepByStep) {
    const NoMappingLeak balanced;
    MemoryBlock block = block_with_room(1, 1);
    for (std::size_t count = 2; count <= 4096; count *= 2) {
        const std::size_t stamped = block.size;
        const auto larger = os::move_and_extend(block, pages(count));
        ASSERT_TRUE(larger) << count;
        block = *larger;
        expect_bytes(block, stamped);
        std::memset(block.data, 0x5A, block.size);
    }
    EXPECT_TRUE(os::release(block));
}

TEST(Remap, MovesIntoARoom) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(4, 1);
    const auto room = os::reserve({.bytes = pages(16)});
    ASSERT_TRUE(room);
    const auto moved = os::move_into(block, *room);
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->data, room->data);
    EXPECT_EQ(moved->size, room->size);
    expect_bytes(*moved, block.size);
    EXPECT_EQ(os::commit(block).status(), Status::not_mapped);
    // As one mapping.
    const auto larger = os::move_and_extend(*moved, pages(64));
    ASSERT_TRUE(larger);
    expect_bytes(*larger, block.size);
    EXPECT_TRUE(os::release(*larger));
}

TEST(Remap, MovesPagesAndLeavesTheAddresses) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(8, 1);
    const auto room = os::reserve({.bytes = pages(16)});
    ASSERT_TRUE(room);
    const MemoryBlock part = block.sub(pages(2), pages(4));
    const auto moved = os::move_pages_into(part, *room);
    if (!moved && moved.status() == Status::not_supported) GTEST_SKIP() << "before Linux 5.7";
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->data, room->data);
    expect_bytes(*moved, part.size);
    expect_bytes(part, 0);
    expect_bytes(block.sub(0, pages(2)), pages(2));
    expect_bytes(block.sub(pages(6), pages(2)), pages(2));
    std::memset(part.data, 1, part.size);
    const auto larger = os::move_and_extend(*moved, pages(64));
    ASSERT_TRUE(larger);
    expect_bytes(*larger, part.size);
    EXPECT_TRUE(os::release(*larger));
    EXPECT_TRUE(os::release(block));
}

// The lock of what lies beside it would be lost.
TEST(Remap, LeavesLockedPagesWhereTheyAre) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(4, 1);
    // AddressSanitizer has an mlock of its own, which does nothing.
    ASSERT_EQ(::syscall(SYS_mlock, block.data, block.size), 0) << "RLIMIT_MEMLOCK is below four pages";
    const auto room = os::reserve({.bytes = pages(8)});
    ASSERT_TRUE(room);
    EXPECT_EQ(os::move_pages_into(block, *room).status(), Status::not_supported);
    expect_bytes(block, block.size);
    EXPECT_EQ(::msync(block.data, block.size, MS_INVALIDATE), -1) << "the lock is gone";
    EXPECT_TRUE(os::release(block));
}

TEST(Remap, RefusesRoomsThatMakeNoSense) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(4, 1);
    const auto room = os::reserve({.bytes = pages(4)});
    ASSERT_TRUE(room);
    for (const auto move : {os::move_into, os::move_pages_into}) {
        EXPECT_EQ(move({}, *room).status(), Status::zero_size);
        EXPECT_EQ(move(block, {}).status(), Status::zero_size);
        EXPECT_EQ(move(block, room->sub(0, pages(3))).status(), Status::bad_argument);
        EXPECT_EQ(move({block.data + 1, pages(1)}, *room).status(), Status::bad_address);
    }
    expect_bytes(block, block.size);
    EXPECT_TRUE(os::release(block));
    EXPECT_EQ(os::move_pages_into(block, *room).status(), Status::not_mapped);
}

TEST(Remap, RefusesWhatMakesNoSense) {
    const NoMappingLeak balanced;
    const MemoryBlock block = block_with_room(4, 4);
    for (const auto grow : {os::extend, os::move_and_extend}) {
        EXPECT_EQ(grow({}, pages(1)).status(), Status::zero_size);
        EXPECT_EQ(grow({block.data + 1, pages(1)}, pages(2)).status(), Status::bad_address);
        EXPECT_EQ(grow({block.data, 1}, pages(2)).status(), Status::bad_address);
        EXPECT_EQ(grow(block, pages(4)).status(), Status::bad_argument);
        EXPECT_EQ(grow(block, 0).status(), Status::bad_argument);
        EXPECT_EQ(grow(block, SIZE_MAX).status(), Status::size_overflow);
        EXPECT_EQ(grow(block, SIZE_MAX / 2).status(), Status::out_of_address_space);
    }
    expect_bytes(block, block.size);
    EXPECT_TRUE(os::release(block));
    EXPECT_EQ(os::extend(block, pages(8)).status(), Status::not_mapped);
    EXPECT_EQ(os::move_and_extend(block, pages(8)).status(), Status::not_mapped);
}

}  // namespace
