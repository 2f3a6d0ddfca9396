// What is particular to the one linear memory: ranges that come back, limits, and what its report says.
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/memory_pressure.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
namespace os = ouro::os;

const std::size_t kPage = os::page_size();

MemoryBlock reserve_pages(std::size_t count) {
    const auto block = os::reserve({.bytes = count * kPage});
    EXPECT_TRUE(block);
    return block ? *block : MemoryBlock{};
}

void release_all(std::initializer_list<MemoryBlock> blocks) {
    for (const MemoryBlock block : blocks)
        EXPECT_TRUE(os::release(block));
}

bool is_filled(MemoryBlock block, std::byte value) {
    for (const std::byte byte : block.bytes()) {
        if (byte != value) return false;
    }
    return true;
}

std::uint64_t available_bytes() {
    const auto memory = os::system_memory();
    EXPECT_TRUE(memory);
    return memory ? memory->available_bytes : 0;
}

TEST(LinearMemory, AReleasedRangeIsUsedAgainAndReadsZero) {
    const MemoryBlock first = reserve_pages(4);
    ASSERT_TRUE(os::commit(first));
    std::memset(first.data, 0xEE, first.size);
    ASSERT_TRUE(os::release(first));
    const MemoryBlock second = reserve_pages(4);
    EXPECT_EQ(second.data, first.data);
    ASSERT_TRUE(os::commit(second));
    EXPECT_TRUE(is_filled(second, std::byte{0}));
    release_all({second});
}

TEST(LinearMemory, WhatIsWrittenToDecommittedPagesIsForgotten) {
    const MemoryBlock block = reserve_pages(1);
    ASSERT_TRUE(os::commit(block));
    ASSERT_TRUE(os::decommit(block));
    // Nothing stops it here; where pages can be protected this is a fault.
    std::memset(block.data, 0x77, block.size);
    ASSERT_TRUE(os::commit(block));
    EXPECT_TRUE(is_filled(block, std::byte{0}));
    release_all({block});
}

TEST(LinearMemory, NeighboursThatAreReleasedBecomeOneGap) {
    const MemoryBlock a = reserve_pages(2);
    const MemoryBlock b = reserve_pages(3);
    const MemoryBlock c = reserve_pages(4);
    const MemoryBlock end = reserve_pages(1);
    ASSERT_EQ(b.data, a.end());
    ASSERT_EQ(c.data, b.end());
    ASSERT_EQ(end.data, c.end());
    release_all({a, c, b});
    const MemoryBlock whole = reserve_pages(9);
    EXPECT_EQ(whole.data, a.data);
    release_all({whole, end});
}

TEST(LinearMemory, ReleaseTakesPartsOfOneReservation) {
    const MemoryBlock block = reserve_pages(4);
    const MemoryBlock next = reserve_pages(4);
    ASSERT_EQ(next.data, block.end());
    EXPECT_EQ(os::release({block.data, 8 * kPage}).status(), Status::bad_address);
    release_all({block.sub(kPage, kPage)});
    EXPECT_EQ(os::commit(block).status(), Status::not_mapped);
    EXPECT_EQ(os::commit(block.sub(2 * kPage, 2 * kPage)).status(), Status::ok);
    release_all({block.sub(0, kPage), block.sub(2 * kPage, 2 * kPage)});
    EXPECT_EQ(os::release(block).status(), Status::bad_address);
    release_all({next});
}

TEST(LinearMemory, ARangeLiesInOneReservation) {
    const MemoryBlock block = reserve_pages(2);
    const MemoryBlock next = reserve_pages(2);
    ASSERT_EQ(next.data, block.end());
    const MemoryBlock across{block.data + kPage, 2 * kPage};
    EXPECT_EQ(os::commit(across).status(), Status::not_mapped);
    EXPECT_EQ(os::decommit(across).status(), Status::not_mapped);
    release_all({block, next});
    EXPECT_EQ(os::commit(block).status(), Status::not_mapped);
    EXPECT_EQ(os::protect(block, os::Protection::read).status(), Status::not_mapped);
    EXPECT_EQ(os::advise_huge(block, true).status(), Status::not_mapped);
    // The program's own data is nobody's reservation.
    EXPECT_EQ(os::commit({reinterpret_cast<std::byte*>(kPage), kPage}).status(), Status::not_mapped);
    EXPECT_EQ(os::reserve({.bytes = kPage, .address = reinterpret_cast<void*>(kPage)}).status(),
              Status::address_in_use);
}

TEST(LinearMemory, OnlyCommittedPagesCanBeProtectedAndPrefaulted) {
    const MemoryBlock block = reserve_pages(2);
    ASSERT_TRUE(os::commit(block.sub(0, kPage)));
    EXPECT_EQ(os::prefault(block).status(), Status::not_mapped);
    EXPECT_EQ(os::protect(block, os::Protection::read_write).status(), Status::not_mapped);
    EXPECT_TRUE(os::prefault(block.sub(0, kPage)));
    EXPECT_TRUE(os::protect(block.sub(0, kPage), os::Protection::read_write));
    EXPECT_EQ(os::protect(block.sub(0, kPage), os::Protection::read).status(), Status::not_supported);
    EXPECT_EQ(os::protect(block.sub(0, kPage), os::Protection::none).status(), Status::not_supported);
    release_all({block});
}

TEST(LinearMemory, AFullTableIsAStatus) {
    static std::array<MemoryBlock, 2048> blocks;
    std::size_t count = 0;
    Status status = Status::ok;
    while (count < blocks.size()) {
        const auto block = os::reserve({.bytes = kPage});
        status = block.status();
        if (!block) break;
        blocks[count++] = *block;
    }
    const auto thread = os::Thread::start([](void*) {}, nullptr).status();
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(os::release(blocks[i]));
    EXPECT_EQ(status, Status::too_many_mappings);
    EXPECT_EQ(thread, Status::too_many_threads);
    EXPECT_GT(count, 1000U);
    release_all({reserve_pages(1)});
}

// The most that can be had in one piece, found by halving.
MemoryBlock reserve_most() {
    std::size_t low = 0;
    std::size_t high = 65536;
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        const auto block = os::reserve({.bytes = middle * kPage});
        if (block) EXPECT_TRUE(os::release(*block));
        (block ? low : high) = middle;
    }
    return reserve_pages(low);
}

#if defined(OURO_FAULT_INJECTION)
// Stands before the test that lets memory grow to its end: it never shrinks again.
TEST(LinearMemory, AHostThatRefusesToGrowIsOutOfMemory) {
    const MemoryBlock most = reserve_most();
    const MemoryBlock last{most.end() - kPage, kPage};
    const std::uint64_t before = available_bytes();
    os::fault_injection::fail_nth(os::OsCall::grow_linear_memory, 1, 1);
    const auto refused = os::commit(last);
    const bool fired = os::fault_injection::has_fired();
    os::fault_injection::clear();
    EXPECT_TRUE(fired);
    EXPECT_EQ(refused.status(), Status::out_of_memory);
    EXPECT_EQ(available_bytes(), before) << "the refused commit took something";
    EXPECT_TRUE(os::commit(last));
    EXPECT_EQ(os::fault_injection::uses(os::OsCall::grow_linear_memory), 1U);
    EXPECT_TRUE(is_filled(last, std::byte{0}));
    release_all({most});
}

TEST(LinearMemory, AHostWithoutWorkersIsAStatusAndLeavesNothing) {
    const std::uint64_t before = available_bytes();
    os::fault_injection::fail_nth(os::OsCall::start_thread, 1, 1);
    EXPECT_EQ(os::Thread::start([](void*) {}, nullptr).status(), Status::too_many_threads);
    EXPECT_TRUE(os::fault_injection::has_fired());
    os::fault_injection::clear();
    EXPECT_EQ(available_bytes(), before);
}
#endif

TEST(LinearMemory, AllOfItCanBeTakenAndComesBack) {
    const auto total = static_cast<std::size_t>(os::system_memory()->total_bytes);
    const std::uint64_t before = available_bytes();
    const MemoryBlock most = reserve_most();
    ASSERT_GT(most.size, total / 2);
    EXPECT_EQ(available_bytes(), before) << "reserving takes no memory";
    const auto committed = os::commit(most);
    const std::uint64_t left = available_bytes();
    if (committed) most.end()[-1] = std::byte{1};
    const auto more = os::reserve({.bytes = total});
    const auto thread = os::Thread::start([](void*) {}, nullptr, {.stack_bytes = total}).status();
    const auto huge = os::allocate_huge(total, os::PageKind::normal).status();
    release_all({most});
    ASSERT_TRUE(committed);
    EXPECT_EQ(left, before - most.size);
    EXPECT_EQ(more.status(), Status::out_of_address_space);
    EXPECT_EQ(thread, Status::out_of_memory);
    EXPECT_EQ(huge, Status::out_of_address_space);
    EXPECT_EQ(available_bytes(), before);
    const MemoryBlock again = reserve_pages(most.size / kPage);
    ASSERT_TRUE(os::commit({again.end() - kPage, kPage}));
    EXPECT_EQ(again.end()[-1], std::byte{0});
    release_all({again});
}

TEST(LinearMemory, ThreadStacksComeBack) {
    const std::uint64_t before = available_bytes();
    for (int round = 0; round < 3; ++round) {
        std::uint64_t during = 0;
        auto thread = os::Thread::start(
            [](void* result) { *static_cast<std::uint64_t*>(result) = available_bytes(); }, &during);
        ASSERT_TRUE(thread);
        thread->join();
        EXPECT_LE(during, before - (std::uint64_t{1} << 20));
        EXPECT_EQ(available_bytes(), before);
    }
}

TEST(LinearMemory, HugePagesAreNotThereAndTheReportSaysSo) {
    EXPECT_EQ(os::huge_page_size(), 0U);
    EXPECT_EQ(os::allocate_huge(0, os::PageKind::reserved).status(), Status::zero_size);
    EXPECT_EQ(os::allocate_huge(SIZE_MAX, os::PageKind::reserved).status(), Status::size_overflow);
    for (const auto kind : {os::PageKind::normal, os::PageKind::transparent, os::PageKind::reserved}) {
        const auto made = os::allocate_huge(kPage + 1, kind);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->block.size, 2 * kPage);
        EXPECT_EQ(made->report.asked, kind);
        EXPECT_EQ(made->report.given, os::PageKind::normal);
        EXPECT_EQ(made->report.page_bytes, kPage);
        EXPECT_EQ(made->report.huge_bytes, 0U);
        EXPECT_EQ(made->report.reason, kind == os::PageKind::normal ? Status::ok : Status::not_supported);
        EXPECT_TRUE(os::advise_huge(made->block, false));
        EXPECT_EQ(os::advise_huge(made->block, true).status(), Status::not_supported);
        EXPECT_TRUE(os::release_huge(*made));
    }
}

}  // namespace
