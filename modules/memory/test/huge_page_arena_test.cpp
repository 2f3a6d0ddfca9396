#include "resource_model.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/os/capabilities.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::HugePageArena;
using ouro::StackAllocator;
using ouro::Status;
using ouro::testing_support::ResourceModel;
namespace os = ouro::os;

// What chunks are made of.
std::size_t unit() {
    return std::max(os::huge_page_size(), os::page_size());
}

HugePageArena make(std::size_t units, os::PageKind pages = os::PageKind::transparent) {
    auto arena = HugePageArena::create({.max_bytes = units * unit(), .chunk_bytes = unit(), .pages = pages});
    EXPECT_TRUE(arena);
    return *std::move(arena);
}

std::size_t reported_bytes(const HugePageArena& arena) {
    const HugePageArena::Report report = arena.report();
    return report.reserved_bytes + report.transparent_bytes + report.normal_bytes;
}

TEST(HugePageArena, TellsWhatItAskedForAndGot) {
    for (const os::PageKind asked :
         {os::PageKind::reserved, os::PageKind::transparent, os::PageKind::normal}) {
        auto arena = make(4, asked);
        EXPECT_EQ(reported_bytes(arena), 0U);
        ASSERT_TRUE(arena.allocate(unit()));
        ASSERT_TRUE(arena.allocate(unit()));
        const HugePageArena::Report report = arena.report();
        EXPECT_EQ(report.asked, asked);
        EXPECT_EQ(report.huge_page_bytes, os::huge_page_size());
        EXPECT_EQ(report.chunks_taken, 2U);
        EXPECT_EQ(reported_bytes(arena), 2 * unit());
        EXPECT_EQ(arena.stats().committed_bytes, 2 * unit());
        // A downgrade has a reason, and what came as asked has none.
        EXPECT_EQ(report.downgrades != 0, report.last_reason != Status::ok);
        if (asked == os::PageKind::reserved) {
            EXPECT_EQ(report.downgrades == 0, report.reserved_bytes == 2 * unit());
        }
        if (asked == os::PageKind::transparent) {
            EXPECT_EQ(report.downgrades == 0, report.transparent_bytes == 2 * unit());
        }
        if (asked == os::PageKind::normal) {
            EXPECT_EQ(report.normal_bytes, 2 * unit());
            EXPECT_EQ(report.downgrades, 0U);
        }
    }
}

TEST(HugePageArena, HugePagesAreWhereTheReportSays) {
    const os::Capabilities capabilities = os::query_capabilities();
    if (capabilities.transparent_huge_pages < os::TransparentHugePages::madvise)
        GTEST_SKIP() << "needs transparent_huge_pages";
    auto arena = make(4);
    ASSERT_TRUE(arena.allocate(4 * unit()));
    const auto now = arena.huge_bytes_now();
    ASSERT_TRUE(now);
    // The system may have none left, and says so; what it claims to have given is there.
    EXPECT_EQ(*now, arena.report().transparent_bytes);
    EXPECT_TRUE(*now == 4 * unit() || arena.report().downgrades == 1);
}

TEST(HugePageArena, InitialMemoryIsThereAtOnce) {
    auto arena = HugePageArena::create(
        {.max_bytes = 3 * unit(), .initial_bytes = 3 * unit(), .pages = os::PageKind::transparent});
    ASSERT_TRUE(arena);
    EXPECT_EQ(arena->stats().committed_bytes, 3 * unit());
    EXPECT_EQ(arena->report().chunks_taken, 1U);
    const auto all = arena->allocate(3 * unit());
    ASSERT_TRUE(all);
    std::memset(all->data, 1, all->size);
    EXPECT_EQ(arena->allocate(1).status(), Status::capacity_exhausted);
    EXPECT_EQ(arena->report().chunks_taken, 1U);
}

TEST(HugePageArena, RefusesWhatMakesNoSense) {
    EXPECT_EQ(HugePageArena::create({.max_bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(HugePageArena::create({.max_bytes = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(HugePageArena::create({.chunk_bytes = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(HugePageArena::create({.max_bytes = unit(), .initial_bytes = 2 * unit()}).status(),
              Status::capacity_exhausted);
}

TEST(HugePageArena, MarkersCrossChunks) {
    auto arena = make(8);
    ASSERT_TRUE(arena.allocate(unit() / 2));
    const auto marker = arena.mark();
    const auto kept = arena.used_bytes();
    for (int i = 0; i < 6; ++i)
        ASSERT_TRUE(arena.allocate(unit() / 2 + 1, 1));
    EXPECT_EQ(arena.check(), Status::ok);
    const std::size_t peak = arena.used_bytes();
    EXPECT_EQ(arena.used_bytes(), kept + 6 * (unit() / 2 + 1));
    arena.rewind(marker);
    EXPECT_EQ(arena.used_bytes(), kept);
    EXPECT_EQ(arena.check(), Status::ok);
    EXPECT_EQ(arena.stats().peak_bytes, peak);
    // The chunks are used again, and none is taken.
    const auto taken = arena.report().chunks_taken;
    for (int i = 0; i < 6; ++i)
        ASSERT_TRUE(arena.allocate(unit() / 2 + 1, 1));
    EXPECT_EQ(arena.report().chunks_taken, taken);
    arena.reset();
    EXPECT_EQ(arena.used_bytes(), 0U);
}

// Small free chunks must not keep a large block out that would have fitted without them.
TEST(HugePageArena, FreeChunksMakeRoomForALargerOne) {
    auto arena = make(4);
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(arena.allocate(unit()));
    EXPECT_EQ(arena.allocate(3 * unit()).status(), Status::capacity_exhausted);
    arena.reset();
    ASSERT_TRUE(arena.allocate(4 * unit()));
    EXPECT_EQ(arena.stats().committed_bytes, 4 * unit());
    EXPECT_EQ(arena.check(), Status::ok);
}

TEST(HugePageArena, TrimReturnsWhatHoldsNothing) {
    auto arena = make(4);
    ASSERT_TRUE(arena.allocate(unit()));
    const auto marker = arena.mark();
    ASSERT_TRUE(arena.allocate(unit()));
    ASSERT_TRUE(arena.allocate(unit()));
    EXPECT_EQ(arena.trim(), 0U);
    arena.rewind(marker);
    EXPECT_EQ(arena.trim(), 2 * unit());
    EXPECT_EQ(arena.stats().committed_bytes, unit());
    arena.reset();
    EXPECT_EQ(arena.trim(), unit());
    EXPECT_EQ(arena.stats().committed_bytes, 0U);
    EXPECT_EQ(arena.check(), Status::ok);
    EXPECT_TRUE(arena.allocate(100));
}

TEST(HugePageArena, MovesWithItsMemory) {
    auto arena = make(4);
    const auto block = arena.allocate(100);
    ASSERT_TRUE(block);
    std::memset(block->data, 7, block->size);
    HugePageArena other = std::move(arena);
    EXPECT_TRUE(other.owns(block->data));
    EXPECT_EQ(block->data[99], std::byte{7});
    EXPECT_EQ(other.check(), Status::ok);
    auto third = make(1);
    ASSERT_TRUE(third.allocate(1));
    third = std::move(other);
    EXPECT_TRUE(third.owns(block->data));
    EXPECT_EQ(third.used_bytes(), 100U);
}

TEST(HugePageArena, OthersSitOnIt) {
    auto arena = make(4);
    auto stack = StackAllocator::create_on(arena, unit());
    ASSERT_TRUE(stack);
    auto frame = FrameAllocator::create_on(arena, unit());
    ASSERT_TRUE(frame);
    ResourceModel model(*stack, {.newest_only = true}, 1);
    for (int i = 0; i < 500; ++i)
        model.step();
    model.free_all();
    EXPECT_TRUE(frame->allocate(1000));
}

TEST(HugePageArena, RandomCallsAcrossChunksKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto arena = make(16);
        ResourceModel model(arena, {.max_size = unit() / 4, .max_live_blocks = 50}, seed);
        for (int step = 0; step < 600; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
            ASSERT_EQ(arena.check(), Status::ok);
            if (step % 100 != 99) continue;
            model.forget_all();
            arena.reset();
            if (step % 200 == 199) arena.trim();
        }
    }
}

}  // namespace
