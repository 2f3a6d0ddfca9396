#include "bad_requests.hpp"
#include "hardening/recorded_errors.hpp"
#include "mapping_table.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/sampled_guards.hpp>

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::GuardSide;
using ouro::MemoryBlock;
using ouro::MemoryErrorReport;
using ouro::SampledGuards;
using ouro::Status;
using ouro::testing_support::RecordedErrors;

void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

TEST(SampledGuards, BlocksLieAgainstTheirGuard) {
    auto behind = SampledGuards::create({.slots = 4, .side = GuardSide::behind});
    auto in_front = SampledGuards::create({.slots = 4, .side = GuardSide::in_front});
    ASSERT_TRUE(behind && in_front);
    const std::size_t page = ouro::os::page_size();
    for (const std::size_t size : {16U, 64U, 4096U, 10'000U}) {
        const auto block = behind->allocate(size, 16);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->size, size);
        EXPECT_TRUE(ouro::is_aligned(block->end(), page));
        EXPECT_TRUE(behind->owns(block->data));
        EXPECT_EQ(behind->block_at(block->data), *block);
        std::memset(block->data, 1, size);
        const auto other = in_front->allocate(size, 64);
        ASSERT_TRUE(other);
        EXPECT_TRUE(ouro::is_aligned(other->data, page));
        std::memset(other->data, 1, size);
    }
    EXPECT_EQ(behind->check(), Status::ok);
    EXPECT_EQ(in_front->check(), Status::ok);
    EXPECT_EQ(behind->live_blocks(), 4U);
}

TEST(SampledGuards, NoSlotIsTriedWhileAllAreLive) {
    constexpr std::uint32_t kSlots = 16;
    auto guards = SampledGuards::create({.slots = kSlots});
    ASSERT_TRUE(guards);
    std::vector<MemoryBlock> blocks;
    for (std::uint32_t index = 0; index < kSlots; ++index)
        blocks.push_back(*guards->allocate(32, 16));
    EXPECT_EQ(guards->slots_tried(), kSlots);
    EXPECT_EQ(guards->allocate(32, 16).status(), Status::capacity_exhausted);
    EXPECT_EQ(guards->slots_tried(), kSlots);
    guards->deallocate(blocks[7], 16);
    EXPECT_TRUE(guards->allocate(32, 16));
    EXPECT_EQ(guards->allocate(32, 16).status(), Status::capacity_exhausted);
    EXPECT_LE(guards->slots_tried(), 2 * kSlots);
}

TEST(SampledGuards, WhatDoesNotFitIsNotSampled) {
    auto guards = SampledGuards::create({.slots = 2, .slot_bytes = 4096});
    ASSERT_TRUE(guards);
    EXPECT_EQ(guards->allocate(4097, 16).status(), Status::capacity_exhausted);
    EXPECT_EQ(guards->allocate(16, 8192).status(), Status::capacity_exhausted);
    for (const auto& bad : ouro::testing_support::kBadRequests)
        EXPECT_EQ(guards->allocate(bad.size, bad.alignment).status(), bad.status);
    const auto one = guards->allocate(10, 1);
    const auto two = guards->allocate(4096, 4096);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(guards->allocate(10, 1).status(), Status::capacity_exhausted);
    guards->deallocate(one->data);
    EXPECT_TRUE(guards->allocate(10, 1));
    EXPECT_EQ(SampledGuards::create({.slots = 0}).status(), Status::zero_size);
    EXPECT_EQ(SampledGuards::create({.slot_bytes = SIZE_MAX}).status(), Status::size_overflow);
    EXPECT_EQ(SampledGuards::create({.slots = 1U << 31, .slot_bytes = SIZE_MAX / 4}).status(),
              Status::size_overflow);
}

TEST(SampledGuards, TheRateIsKeptOnAverageAndCanChange) {
    auto guards = SampledGuards::create({.sample_every = 50});
    ASSERT_TRUE(guards);
    const auto count_of = [&](int calls) {
        int count = 0;
        for (int i = 0; i < calls; ++i)
            count += guards->should_sample() ? 1 : 0;
        return count;
    };
    const int sampled = count_of(500'000);
    EXPECT_GT(sampled, 9'000);
    EXPECT_LT(sampled, 11'000);
    guards->set_sample_every(1);
    (void)count_of(100);
    EXPECT_EQ(count_of(1000), 1000);
    guards->set_sample_every(0);
    EXPECT_EQ(count_of(200'000), 0);
    ouro::SampleCountdown countdown;
    guards->set_sample_every(10);
    int own = 0;
    for (int i = 0; i < 100'000; ++i)
        own += guards->should_sample(countdown) ? 1 : 0;
    EXPECT_GT(own, 9'000);
    EXPECT_LT(own, 11'000);
}

TEST(SampledGuards, WrongFreesAndDamageAreTold) {
    const RecordedErrors errors;
    auto guards = SampledGuards::create({.name = "game", .slots = 8, .side = GuardSide::behind});
    ASSERT_TRUE(guards);
    const auto take = [&](std::size_t size) { return guards->allocate(size, 16).value(); };
    const MemoryBlock twice = take(100);
    guards->deallocate(twice, 16);
    guards->deallocate(twice, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "double free");
    EXPECT_EQ(RecordedErrors::last().resource, "game");
    EXPECT_FALSE(RecordedErrors::last().freed_at.is_empty());
    guards->deallocate({take(100).data, 50}, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "wrong size");
    guards->deallocate(take(100), 8);
    EXPECT_EQ(RecordedErrors::take_names(), "wrong alignment");
    const MemoryBlock inside = take(100);
    guards->deallocate({inside.data + 1, 99}, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "foreign pointer");
    // The guard begins at the next multiple of the alignment; what is left over in front of it is watched.
    const MemoryBlock odd = take(100);
    *odd.end() = std::byte{0};
    EXPECT_EQ(guards->check(), Status::corrupt_data);
    guards->deallocate(odd, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "overflow");
    const MemoryBlock before = take(112);
    *(before.data - 1) = std::byte{0};
    guards->deallocate(before, 16);
    EXPECT_EQ(RecordedErrors::take_names(), "underflow");
}

TEST(SampledGuards, DescribesWhatAnAccessWouldBe) {
    auto guards = SampledGuards::create({.slots = 2, .slot_bytes = 4096, .side = GuardSide::in_front});
    ASSERT_TRUE(guards);
    const auto block = guards->allocate(32, 16);
    ASSERT_TRUE(block);
    MemoryErrorReport report;
    ASSERT_TRUE(ouro::describe_fault(block->data - 1, report));
    EXPECT_EQ(report.error, ouro::MemoryError::underflow);
    EXPECT_EQ(report.block, *block);
    guards->deallocate(*block, 16);
    ASSERT_TRUE(ouro::describe_fault(block->data + 5, report));
    EXPECT_EQ(report.error, ouro::MemoryError::use_after_free);
    EXPECT_FALSE(ouro::describe_fault(&report, report));
    SampledGuards moved = *std::move(guards);
    EXPECT_TRUE(ouro::describe_fault(block->data, report));
    moved = SampledGuards();
    EXPECT_FALSE(ouro::describe_fault(block->data, report));
}

TEST(SampledGuards, GivesEverythingBack) {
    {
        (void)SampledGuards::create({});
    }
    const ouro::os::testing_support::NoMappingLeak no_leak;
    auto guards = SampledGuards::create({.slots = 16});
    ASSERT_TRUE(guards);
    MemoryBlock blocks[16];
    for (MemoryBlock& block : blocks)
        block = guards->allocate(5000, 16).value();
    for (std::size_t i = 0; i < 8; ++i)
        guards->deallocate(blocks[i], 16);
}

TEST(SampledGuardsDeath, AnOverflowStopsAtTheInstruction) {
    auto guards = SampledGuards::create({.name = "game", .slots = 4, .side = GuardSide::behind});
    ASSERT_TRUE(guards);
    const auto block = guards->allocate(64, 16);
    ASSERT_TRUE(block);
    EXPECT_DEATH(touch(block->end()),
                 "ouroboros: overflow in 'game': 0x[0-9a-f]+ was touched, 0 bytes behind its end\n"
                 "  block: 64 bytes at 0x[0-9a-f]+, aligned to 16\n"
                 "  noticed at:\n    0x");
    EXPECT_DEATH(touch(block->end() + 4000), "overflow in 'game'");
    EXPECT_DEATH(touch(block->data - 4096), "underflow in 'game'");
}

TEST(SampledGuardsDeath, AUseAfterFreeNamesBothPlaces) {
    auto guards = SampledGuards::create({.name = "game", .slots = 4});
    ASSERT_TRUE(guards);
    const auto block = guards->allocate(64, 16);
    ASSERT_TRUE(block);
    guards->deallocate(*block, 16);
    EXPECT_DEATH(touch(block->data + 3),
                 "use after free in 'game'.*byte 3 of it(.|\n)*allocated at:\n(.|\n)*freed at:\n");
    EXPECT_DEATH(
        { [[maybe_unused]] volatile auto value = *reinterpret_cast<volatile unsigned char*>(block->data); },
        "use after free");
}

}  // namespace
