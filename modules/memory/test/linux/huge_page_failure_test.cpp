#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cerrno>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::HugePageArena;
using ouro::Status;
using ouro::os::OsCall;
namespace os = ouro::os;
namespace inject = ouro::os::fault_injection;

constexpr std::size_t kChunk = std::size_t{2} << 20;

// Whatever call fails at whatever time, the arena gives a reason or does without, and goes on.
TEST(HugePageFailure, EveryFailureIsAStatusOrADowngrade) {
    for (const OsCall call : {OsCall::map_memory, OsCall::protect_memory, OsCall::advise_memory,
                              OsCall::scan_pagemap, OsCall::open_file, OsCall::read_file}) {
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE(std::string(inject::name_of(call)) + " " + std::to_string(nth));
            auto arena = HugePageArena::create(
                {.max_bytes = 4 * kChunk, .chunk_bytes = kChunk, .pages = os::PageKind::reserved});
            ASSERT_TRUE(arena);
            inject::fail_nth(call, nth, ENOMEM);
            const auto block = arena->allocate(1000);
            const bool fired = inject::has_fired();
            inject::clear();
            ASSERT_EQ(arena->check(), Status::ok);
            if (!block) {
                EXPECT_EQ(arena->stats().failures, 1U);
                EXPECT_EQ(arena->used_bytes(), 0U);
            }
            ASSERT_TRUE(arena->allocate(1000));
            if (!fired) break;
        }
    }
}

TEST(HugePageFailure, WhatTheSystemDoesNotTakeBackIsKept) {
    auto arena = HugePageArena::create(
        {.max_bytes = 4 * kChunk, .chunk_bytes = kChunk, .pages = os::PageKind::reserved});
    ASSERT_TRUE(arena);
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(arena->allocate(kChunk));
    arena->reset();
    inject::fail_nth(OsCall::unmap_memory, 2, ENOMEM);
    EXPECT_EQ(arena->trim(), 2 * kChunk);
    EXPECT_TRUE(inject::has_fired());
    EXPECT_EQ(arena->stats().reserved_bytes, kChunk);
    EXPECT_EQ(arena->check(), Status::ok);
    const auto block = arena->allocate(kChunk);
    ASSERT_TRUE(block);
    EXPECT_EQ(arena->stats().reserved_bytes, kChunk);
    arena->reset();
    inject::fail_nth(OsCall::unmap_memory, 1, ENOMEM);
    EXPECT_EQ(arena->trim(), 0U);
    // The end tries again.
    inject::fail_nth(OsCall::unmap_memory, 1, ENOMEM);
    {
        const HugePageArena ending = *std::move(arena);
    }
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(os::discard(*block).status(), Status::not_mapped);
}

TEST(HugePageFailure, AFailedInitialChunkIsToldAtCreation) {
    // Of the two tries, on reserved huge pages and on others, the second decides.
    inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
    const auto arena = HugePageArena::create(
        {.max_bytes = kChunk, .initial_bytes = kChunk, .pages = os::PageKind::transparent});
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(arena.status(), Status::out_of_memory);
}

}  // namespace
