#include "hardening/recorded_errors.hpp"
#include "hardening/reusing_resource.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::GuardedAllocator;
using ouro::GuardOptions;
using ouro::HardeningTier;
using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::StackAllocator;
using ouro::Status;
using ouro::TaggedAllocator;
using ouro::testing_support::RecordedErrors;
using ouro::testing_support::ReusingResource;
using Checked = GuardedAllocator<HardeningTier::checked>;

constexpr std::size_t kBytes = std::size_t{4} << 20;

class GuardedAllocatorTest : public testing::Test {
protected:
    // A sanitizer would stop at the injected bugs before we can see them.
    static GuardOptions options() { return {.name = "mine", .max_blocks = 4096, .annotate = false}; }

    // After its last block went: what the frame hands out there is nobody's any more.
    static void expect_nothing_left(FrameAllocator& frame, Checked& guarded) {
        EXPECT_EQ(guarded.stats().live_blocks, 0U);
        EXPECT_EQ(guarded.stats().live_bytes, 0U);
        const auto other = frame.allocate(2000);
        ASSERT_TRUE(other);
        std::memset(other->data, 7, other->size);
        EXPECT_EQ(guarded.check(), Status::ok);
        EXPECT_EQ(RecordedErrors::take_names(), "");
    }

    ReusingResource upstream_{kBytes};
    RecordedErrors errors_;
};

TEST_F(GuardedAllocatorTest, GivesExactlyWhatIsAskedFor) {
    auto guarded = Checked::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    for (const std::size_t alignment : {1U, 8U, 16U, 64U, 256U}) {
        const auto block = guarded->allocate(37, alignment);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->size, 37U);
        EXPECT_TRUE(ouro::is_aligned(block->data, alignment));
        std::memset(block->data, 0, block->size);
        guarded->deallocate(*block, alignment);
    }
    EXPECT_EQ(guarded->check(), Status::ok);
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    EXPECT_EQ(guarded->stats().allocations, 5U);
    EXPECT_EQ(guarded->info().name, "mine");
}

TEST_F(GuardedAllocatorTest, SeesASingleByteBesideABlock) {
    auto guarded = Checked::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    for (const std::size_t size : {1U, 15U, 16U, 17U, 100U, 5000U}) {
        const auto block = guarded->allocate(size);
        ASSERT_TRUE(block);
        *block->end() = std::byte{0};
        EXPECT_EQ(guarded->check(), Status::corrupt_data);
        guarded->deallocate(*block);
        EXPECT_EQ(RecordedErrors::take_names(), "overflow");
        EXPECT_EQ(RecordedErrors::last().address, block->end());
        EXPECT_EQ(RecordedErrors::last().block, *block);
        const auto other = guarded->allocate(size);
        ASSERT_TRUE(other);
        *(other->data - 1) = std::byte{0};
        guarded->deallocate(*other);
        EXPECT_EQ(RecordedErrors::take_names(), "underflow");
        EXPECT_EQ(RecordedErrors::last().address, other->data - 1);
    }
    guarded->flush_quarantine();
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(guarded->check(), Status::ok);
}

TEST_F(GuardedAllocatorTest, SeesWritesIntoFreedBlocks) {
    auto guarded = Checked::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    const auto block = guarded->allocate(100);
    ASSERT_TRUE(block);
    guarded->deallocate(*block);
    block->data[50] = std::byte{7};
    EXPECT_EQ(guarded->check(), Status::corrupt_data);
    EXPECT_EQ(guarded->inspect(), 1U);
    EXPECT_EQ(RecordedErrors::take_names(), "use after free");
    EXPECT_EQ(RecordedErrors::last().address, block->data + 50);
    // Told once.
    EXPECT_EQ(guarded->inspect(), 0U);
    block->data[99] = std::byte{7};
    guarded->flush_quarantine();
    EXPECT_EQ(RecordedErrors::take_names(), "use after free");
    EXPECT_EQ(upstream_.stats().live_blocks, 0U);
}

TEST_F(GuardedAllocatorTest, WrongFreesAreToldAndNotDone) {
    auto guarded = Checked::create_on(upstream_, options());
    auto other = Checked::create_on(upstream_, {.name = "other", .max_blocks = 100, .annotate = false});
    ASSERT_TRUE(guarded && other);
    const auto block = guarded->allocate(100);
    ASSERT_TRUE(block);
    other->deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "wrong resource");
    EXPECT_EQ(RecordedErrors::last().resource, "other");
    EXPECT_EQ(RecordedErrors::last().owner, "mine");
    guarded->deallocate({block->data + 16, 84});
    EXPECT_EQ(RecordedErrors::take_names(), "foreign pointer");
    EXPECT_EQ(RecordedErrors::last().block, *block);
    std::byte local[16];
    guarded->deallocate({local, sizeof(local)});
    EXPECT_EQ(RecordedErrors::take_names(), "foreign pointer");
    EXPECT_TRUE(RecordedErrors::last().block.is_null());
    EXPECT_EQ(guarded->stats().live_blocks, 1U);
    guarded->deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "");
    guarded->deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "double free");
    guarded->flush_quarantine();
    guarded->deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "double free");
    EXPECT_EQ(upstream_.stats().live_blocks, 0U);
}

TEST_F(GuardedAllocatorTest, WrongSizesAndAlignmentsAreToldAndTheBlockGoes) {
    auto guarded = Checked::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    const auto one = guarded->allocate(100, 16);
    const auto other = guarded->allocate(100, 32);
    ASSERT_TRUE(one && other);
    guarded->deallocate({one->data, 99}, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "wrong size");
    EXPECT_EQ(RecordedErrors::last().said_block.size, 99U);
    guarded->deallocate(*other, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "wrong alignment");
    EXPECT_EQ(RecordedErrors::last().alignment, 32U);
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    EXPECT_EQ(guarded->stats().live_bytes, 0U);
}

TEST_F(GuardedAllocatorTest, ReallocationMovesSoThatTheOldPlaceIsWatched) {
    auto guarded = Checked::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    const auto block = guarded->allocate(100);
    ASSERT_TRUE(block);
    std::memset(block->data, 5, 100);
    const auto moved = guarded->reallocate(*block, 200);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, block->data);
    EXPECT_EQ(moved->data[99], std::byte{5});
    EXPECT_EQ(guarded->reallocate(*block, 300).status(), Status::bad_address);
    EXPECT_EQ(RecordedErrors::take_names(), "double free");
    EXPECT_EQ(guarded->reallocate(*moved, 0).status(), Status::zero_size);
    EXPECT_EQ(guarded->reallocate(*moved, 2 * kBytes).status(), Status::capacity_exhausted);
    EXPECT_EQ(guarded->stats().failures, 3U);
    EXPECT_EQ(moved->data[99], std::byte{5});
    guarded->deallocate(*moved);
    EXPECT_EQ(RecordedErrors::take_names(), "");
}

TEST_F(GuardedAllocatorTest, LeaksAreToldByPlaceAtTheEnd) {
    {
        auto guarded = Checked::create_on(upstream_, options());
        ASSERT_TRUE(guarded);
        // Not known to the compiler, which would make five places of one by unrolling.
        const volatile int count = 5;
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(guarded->allocate(10));
        const auto freed = guarded->allocate(500);
        ASSERT_TRUE(freed);
        guarded->deallocate(*freed);
    }
    EXPECT_EQ(RecordedErrors::take_names(), "leak");
    EXPECT_EQ(RecordedErrors::last().blocks, 5U);
    EXPECT_EQ(RecordedErrors::last().bytes, 50U);
    {
        auto guarded = Checked::create_on(upstream_, {.max_blocks = 100, .report_leaks = false});
        ASSERT_TRUE(guarded && guarded->allocate(10));
    }
    EXPECT_EQ(RecordedErrors::take_names(), "");
}

TEST_F(GuardedAllocatorTest, AStackKeepsItsOrderWithoutQuarantine) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    GuardOptions lifo = options();
    lifo.quarantine_blocks = 0;
    auto guarded = Checked::create_on(*stack, lifo);
    ASSERT_TRUE(guarded);
    const auto first = guarded->allocate(100, 64);
    const auto second = guarded->allocate(50);
    ASSERT_TRUE(first && second);
    std::memset(second->data, 9, 50);
    const auto grown = guarded->reallocate(*second, 5000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, second->data);
    EXPECT_EQ(grown->data[49], std::byte{9});
    *grown->end() = std::byte{1};
    guarded->deallocate(*grown);
    EXPECT_EQ(RecordedErrors::take_names(), "overflow");
    guarded->deallocate(*first, 64);
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(stack->used_bytes(), 0U);
    guarded->deallocate(*first, 64);
    EXPECT_EQ(RecordedErrors::take_names(), "double free");
}

TEST_F(GuardedAllocatorTest, AFrameIsLookedAtBeforeItsReset) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    auto guarded = Checked::create_on(*frame, options());
    ASSERT_TRUE(guarded);
    for (int round = 0; round < 3; ++round) {
        const auto block = guarded->allocate(100);
        ASSERT_TRUE(block && guarded->allocate(100));
        *block->end() = std::byte{1};
        guarded->release_all();
        frame->reset();
        EXPECT_EQ(RecordedErrors::take_names(), "overflow");
        EXPECT_EQ(guarded->stats().live_blocks, 0U);
        EXPECT_EQ(guarded->check(), Status::ok);
    }
}

TEST_F(GuardedAllocatorTest, ExhaustionIsAStatusAndTheQuarantineIsMemoryToo) {
    ReusingResource small(std::size_t{256} << 10);
    auto guarded = Checked::create_on(small, options());
    ASSERT_TRUE(guarded);
    for (int i = 0; i < 1000; ++i) {
        const auto block = guarded->allocate(20'000);
        ASSERT_TRUE(block) << i;
        guarded->deallocate(*block);
    }
    EXPECT_EQ(guarded->allocate(std::size_t{1} << 20).status(), Status::capacity_exhausted);
    EXPECT_EQ(guarded->allocate(SIZE_MAX).status(), Status::size_overflow);
    EXPECT_EQ(guarded->allocate(0).status(), Status::zero_size);
    EXPECT_EQ(guarded->allocate(8, 24).status(), Status::bad_alignment);
    EXPECT_EQ(guarded->stats().failures, 4U);
    EXPECT_EQ(guarded->check(), Status::ok);
    const auto block = guarded->allocate(20'000);
    ASSERT_TRUE(block);
    guarded->deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "");
}

TEST_F(GuardedAllocatorTest, TooManyBlocksAreAStatus) {
    GuardOptions few = options();
    few.max_blocks = 10;
    auto guarded = Checked::create_on(upstream_, few);
    ASSERT_TRUE(guarded);
    MemoryBlock blocks[10];
    for (MemoryBlock& block : blocks)
        block = guarded->allocate(8).value();
    EXPECT_EQ(guarded->allocate(8).status(), Status::capacity_exhausted);
    EXPECT_EQ(upstream_.stats().live_blocks, 10U);
    guarded->deallocate(blocks[3]);
    const auto again = guarded->allocate(8);
    ASSERT_TRUE(again);
    blocks[3] = *again;
    EXPECT_EQ(guarded->check(), Status::ok);
    for (const MemoryBlock block : blocks)
        guarded->deallocate(block);
    EXPECT_EQ(RecordedErrors::take_names(), "");
    EXPECT_EQ(Checked::create_on(upstream_, {.max_blocks = 0}).status(), Status::zero_size);
}

TEST_F(GuardedAllocatorTest, MovesWithWhatItKnows) {
    auto made = Checked::create_on(upstream_, options());
    ASSERT_TRUE(made);
    const auto block = made->allocate(100);
    ASSERT_TRUE(block);
    Checked guarded = *std::move(made);
    EXPECT_TRUE(guarded.owns(block->data));
    guarded.deallocate(*block);
    EXPECT_EQ(RecordedErrors::take_names(), "");
}

TEST_F(GuardedAllocatorTest, OffIsTheUpstream) {
    GuardedAllocator<HardeningTier::off, ReusingResource> guarded(upstream_);
    const auto block = guarded.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, 128U);
    EXPECT_TRUE(guarded.is_equal(upstream_));
    upstream_.deallocate(*block, 16);
    EXPECT_EQ(guarded.stats().live_blocks, 0U);
    EXPECT_FALSE(guarded.has_guard_pages());
    static_assert(sizeof(guarded) == 2 * sizeof(void*));
}

TEST_F(GuardedAllocatorTest, ABlockThatMovedAboveAMarkGoesWithIt) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    GuardOptions at_once = options();
    at_once.quarantine_blocks = 0;
    auto guarded = Checked::create_on(*frame, at_once);
    ASSERT_TRUE(guarded);
    const auto first = guarded->allocate(100);
    const auto outer = guarded->place_mark();
    ASSERT_TRUE(first && outer && guarded->allocate(100));
    const auto moved = guarded->reallocate(*first, 300);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, first->data);
    // Older than this one it stays.
    const auto inner = guarded->place_mark();
    ASSERT_TRUE(inner && guarded->allocate(100));
    guarded->free_since(*inner);
    EXPECT_EQ(guarded->stats().live_blocks, 2U);
    EXPECT_EQ(guarded->check(), Status::ok);
    guarded->free_since(*outer);
    expect_nothing_left(*frame, *guarded);
}

TEST_F(GuardedAllocatorTest, ABlockThatGrewOverAMarkGoesWithIt) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    auto guarded = Checked::create_on(*frame, options());
    ASSERT_TRUE(guarded);
    const auto first = guarded->allocate(100);
    const auto mark = guarded->place_mark();
    ASSERT_TRUE(first && mark && guarded->try_resize(*first, 300));
    guarded->free_since(*mark);
    expect_nothing_left(*frame, *guarded);
}

TEST_F(GuardedAllocatorTest, WhatWasFreedBeforeAMarkIsFreedBelowBeforeIt) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    TaggedAllocator tagged(*frame, {.name = "below"});
    auto guarded = Checked::create_on(tagged, options());
    ASSERT_TRUE(guarded);
    guarded->deallocate(*guarded->allocate(100));
    const auto mark = guarded->place_mark();
    ASSERT_TRUE(mark);
    EXPECT_EQ(tagged.counts().live_blocks, 0U);
    ASSERT_TRUE(guarded->allocate(5000));
    guarded->free_since(*mark);
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    EXPECT_EQ(tagged.counts().live_blocks, 0U);
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
    EXPECT_EQ(guarded->check(), Status::ok);
}

TEST_F(GuardedAllocatorTest, AMarkThatFailsLeavesNothingBelow) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    TaggedAllocator first(*frame, {.name = "first"});
    TaggedAllocator second(first, {.name = "second"});
    TaggedAllocator third(second, {.name = "third"});
    auto guarded = Checked::create_on(third, options());
    ASSERT_TRUE(guarded);
    const auto block = third.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(guarded->place_mark().status(), Status::capacity_exhausted);
    EXPECT_TRUE(third.try_resize(*block, 50));
}

TEST_F(GuardedAllocatorTest, CountsSampledBlocksBesideThoseHandedOn) {
    using Hardened = GuardedAllocator<HardeningTier::hardened>;
    auto upstream = SmallObjectAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(upstream);
    auto guarded = Hardened::create_on(*upstream, {.check_unsampled = false});
    ASSERT_TRUE(guarded);
    const auto block = guarded->allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(guarded->stats().live_blocks, 1U);
    EXPECT_GE(guarded->stats().live_bytes, 100U);
    EXPECT_GE(guarded->stats().peak_bytes, guarded->stats().live_bytes);
    EXPECT_EQ(guarded->stats().allocations, 1U);
    guarded->deallocate(*block);
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    EXPECT_EQ(guarded->stats().live_bytes, 0U);
}

TEST_F(GuardedAllocatorTest, NothingIsLiveWhenAllIsReleased) {
    using Hardened = GuardedAllocator<HardeningTier::hardened>;
    auto guarded = Hardened::create_on(upstream_, options());
    ASSERT_TRUE(guarded);
    ASSERT_TRUE(guarded->allocate(100));
    guarded->release_all();
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    EXPECT_EQ(guarded->stats().live_bytes, 0U);
}

}  // namespace
