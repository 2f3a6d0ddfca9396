#include "hardening/reusing_resource.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/leak_report.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::CallSites;
using ouro::GuardedAllocator;
using ouro::HardeningTier;
using ouro::LeakReport;
using ouro::MemoryBlock;
using ouro::testing_support::ReusingResource;

MemoryBlock block_of(std::size_t size) {
    static std::byte place[1];
    return {place, size};
}

TEST(LeakReport, GroupsByPlaceAndResource) {
    LeakReport report;
    EXPECT_TRUE(report.is_empty());
    const CallSites nowhere{};
    report.add("one", block_of(10), 16, nowhere);
    report.add("two", block_of(100), 32, nowhere);
    report.add("one", block_of(20), 8, nowhere);
    report.sort();
    EXPECT_EQ(report.blocks(), 3U);
    EXPECT_EQ(report.bytes(), 130U);
    ASSERT_EQ(report.groups().size(), 2U);
    EXPECT_EQ(report.groups()[0].resource, "two");
    EXPECT_EQ(report.groups()[1].blocks, 2U);
    EXPECT_EQ(report.groups()[1].bytes, 30U);
    EXPECT_EQ(report.groups()[0].alignment, 32U);
    EXPECT_EQ(report.groups()[1].alignment, 0U) << "they differ";
}

TEST(LeakReport, CountsWhatItHasNoRoomToName) {
    static char names[LeakReport::kMaxGroups + 10];
    LeakReport report;
    for (const char& name : names)
        report.add({&name, 0}, block_of(1), 1, CallSites());
    EXPECT_EQ(report.groups().size(), 1U);
    LeakReport many;
    for (std::size_t i = 0; i < sizeof(names); ++i) {
        names[i] = static_cast<char>(i % 250);
        many.add({names, i}, block_of(1), 1, CallSites());
    }
    EXPECT_EQ(many.groups().size(), LeakReport::kMaxGroups);
    EXPECT_EQ(many.blocks(), sizeof(names));
}

TEST(LeakReport, CollectsFromAllGuardedAllocators) {
    ReusingResource upstream(std::size_t{1} << 20);
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    auto checked = GuardedAllocator<HardeningTier::checked>::create_on(
        upstream, {.name = "checked", .max_blocks = 100, .report_leaks = false});
    auto hardened = GuardedAllocator<HardeningTier::hardened>::create_on(
        upstream, {.name = "hardened", .max_blocks = 100, .report_leaks = false, .guard_slots = 2});
    // What lies in a frame goes with the frame.
    auto framed = GuardedAllocator<HardeningTier::checked>::create_on(*frame, {.max_blocks = 100});
    ASSERT_TRUE(checked && hardened && framed);
    EXPECT_TRUE(ouro::collect_leaks().is_empty());
    const auto one = checked->allocate(100);
    ASSERT_TRUE(one && framed->allocate(50));
    MemoryBlock blocks[3];
    for (MemoryBlock& block : blocks)
        block = hardened->allocate(10).value();
    const LeakReport report = ouro::collect_leaks();
    EXPECT_EQ(report.blocks(), 4U);
    EXPECT_EQ(report.bytes(), 130U);
    checked->deallocate(*one);
    for (const MemoryBlock block : blocks)
        hardened->deallocate(block);
    EXPECT_TRUE(ouro::collect_leaks().is_empty());
}

}  // namespace
