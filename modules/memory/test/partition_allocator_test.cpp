#include <ouro/base/random.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::MemoryBlock;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionGuards;
using ouro::PartitionOptions;
using ouro::Status;
using ouro::ThreadSafety;
using ouro::partition::kSpanBytes;

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr std::array<PartitionOptions, 3> kParts = {{{.name = "scripts", .max_bytes = kBytes},
                                                     {.name = "packets", .max_bytes = kBytes / 2},
                                                     {.name = "meshes", .max_bytes = 3 * kBytes}}};

// Each for one thread, each for any, and both side by side.
using Modes = std::array<ThreadSafety, 3>;
constexpr ThreadSafety kOne = ThreadSafety::single_thread;
constexpr ThreadSafety kAny = ThreadSafety::any_thread;
constexpr Modes kMixtures[] = {{kOne, kOne, kOne}, {kAny, kAny, kAny}, {kAny, kOne, kAny}};

std::array<PartitionOptions, 3> parts_with(const Modes& modes) {
    auto parts = kParts;
    for (std::size_t i = 0; i < parts.size(); ++i)
        parts[i].thread_safety = modes[i];
    return parts;
}

PartitionAllocator make(const Modes& modes = kMixtures[0]) {
    auto set = PartitionAllocator::create({.partitions = parts_with(modes)});
    EXPECT_TRUE(set);
    return *std::move(set);
}

std::vector<ouro::BlockInfo> listed_as(std::string_view name) {
    std::vector<ouro::BlockInfo> found;
    ouro::visit_blocks([&](const ouro::BlockInfo& block) {
        if (block.name() == name) found.push_back(block);
    });
    return found;
}

TEST(PartitionAllocator, FindsPartitionsByNameAndAddress) {
    for (const Modes& modes : kMixtures) {
        auto set = make(modes);
        ASSERT_EQ(set.size(), 3U);
        EXPECT_EQ(set.find("packets"), &set[1]);
        EXPECT_EQ(set.find("sounds"), nullptr);
        for (std::size_t i = 0; i < set.size(); ++i) {
            const auto block = set[i].allocate(100);
            ASSERT_TRUE(block);
            EXPECT_EQ(set.owner_of(block->data), &set[i]);
            EXPECT_EQ(set.owner_of(set[i].addresses().data), &set[i]);
            EXPECT_EQ(set.owner_of(set[i].addresses().end() - 1), &set[i]);
            EXPECT_NE(set.owner_of(set[i].addresses().end()), &set[i]);
            EXPECT_FALSE(set[i].is_equal(set[(i + 1) % 3]));
        }
        int elsewhere = 0;
        EXPECT_EQ(set.owner_of(&elsewhere), nullptr);
        EXPECT_EQ(set.owner_of(nullptr), nullptr);
        EXPECT_EQ(set.check(), Status::ok);
    }
}

TEST(PartitionAllocator, EachPartitionIsListedOnce) {
    for (const Modes& modes : kMixtures) {
        for (const bool on_another : {false, true}) {
            auto frame = FrameAllocator::create({.max_bytes = 16 * kBytes});
            ASSERT_TRUE(frame);
            auto parts = parts_with(modes);
            parts[1].tag = *ouro::register_tag("network");
            auto set = on_another ? PartitionAllocator::create_on(*frame, {.partitions = parts})
                                  : PartitionAllocator::create({.partitions = parts});
            ASSERT_TRUE(set);
            for (std::size_t i = 0; i < set->size(); ++i) {
                const auto listed = listed_as(kParts[i].name);
                ASSERT_EQ(listed.size(), 1U);
                EXPECT_EQ(listed[0].base, reinterpret_cast<std::uintptr_t>((*set)[i].addresses().data));
                EXPECT_EQ(listed[0].reserved_bytes, kParts[i].max_bytes);
                EXPECT_EQ(listed[0].reserved_bytes, (*set)[i].addresses().size);
                EXPECT_EQ(listed[0].tag, parts[i].tag);
                EXPECT_EQ(listed[0].kind, on_another ? ouro::BlockKind::borrowed : ouro::BlockKind::own);
            }
        }
        EXPECT_TRUE(listed_as(kParts[0].name).empty());
    }
}

// Without a place in the table a partition works all the same, and knows its addresses.
TEST(PartitionAllocator, WorksWhenTheTableOfBlocksIsFull) {
    std::vector<ouro::BlockRegistration> others;
    while (ouro::unlisted_block_count() == 0)
        others.emplace_back(ouro::BlockDescription{.name = "another"});
    for (const Modes& modes : kMixtures) {
        auto set = make(modes);
        for (std::size_t i = 0; i < set.size(); ++i) {
            const MemoryBlock addresses = set[i].addresses();
            EXPECT_EQ(addresses.size, kParts[i].max_bytes);
            EXPECT_EQ(set.owner_of(addresses.data), &set[i]);
            EXPECT_EQ(set.owner_of(addresses.data - 1), nullptr);
            EXPECT_EQ(set[i].stats().allocations, 0U);
            const auto block = set[i].allocate(100);
            ASSERT_TRUE(block);
            EXPECT_TRUE(addresses.contains(*block));
            EXPECT_EQ(set[i].stats().live_blocks, 1U);
        }
        EXPECT_EQ(set.check(), Status::ok);
    }
}

TEST(PartitionAllocator, StatisticsAreOfEachAndOfAll) {
    for (const Modes& modes : kMixtures) {
        auto set = make(modes);
        const auto one = set[0].allocate(64);
        const auto two = set[2].allocate(100'000);
        ASSERT_TRUE(one && two);
        EXPECT_EQ(set[0].stats().live_bytes, one->size);
        EXPECT_EQ(set[1].stats().live_bytes, 0U);
        EXPECT_EQ(set[1].stats().committed_bytes, 0U);
        EXPECT_EQ(set.stats().live_bytes, one->size + two->size);
        EXPECT_EQ(set.stats().live_blocks, 2U);
        EXPECT_EQ(set.stats().reserved_bytes, kBytes + kBytes / 2 + 3 * kBytes);
    }
}

TEST(PartitionAllocator, RefusesWhatMakesNoSense) {
    EXPECT_EQ(PartitionAllocator::create({}).status(), Status::bad_argument);
    PartitionOptions bad;
    for (const ThreadSafety mode : {kOne, kAny}) {
        bad = {.max_bytes = 0, .thread_safety = mode};
        EXPECT_EQ(PartitionAllocator::create({.partitions = {&bad, 1}}).status(), Status::zero_size);
        bad.max_bytes = SIZE_MAX;
        EXPECT_NE(PartitionAllocator::create({.partitions = {&bad, 1}}).status(), Status::ok);
    }
    // What was built before the one that fails goes again.
    const PartitionOptions second_fails[] = {
        {.name = "goes again", .max_bytes = kBytes, .thread_safety = kAny},
        {.max_bytes = SIZE_MAX / 4, .thread_safety = kAny}};
    EXPECT_FALSE(PartitionAllocator::create({.partitions = second_fails}));
    EXPECT_TRUE(listed_as("goes again").empty());
    bad = {.max_bytes = kBytes, .guards = PartitionGuards::spans};
    const bool can_guard = ouro::os::page_size() < kSpanBytes;
    EXPECT_EQ(PartitionAllocator::create({.partitions = {&bad, 1}}).status(),
              can_guard ? Status::ok : Status::not_supported);
    auto frame = FrameAllocator::create({.max_bytes = 4 * kBytes});
    ASSERT_TRUE(frame);
    EXPECT_EQ(PartitionAllocator::create_on(*frame, {.partitions = {&bad, 1}}).status(),
              Status::not_supported);
}

TEST(PartitionAllocator, PartitionsStayWhereTheyAreWhenTheSetMoves) {
    for (const Modes& modes : kMixtures) {
        auto set = make(modes);
        Partition& scripts = set[0];
        const auto block = scripts.allocate(100);
        ASSERT_TRUE(block);
        PartitionAllocator moved = std::move(set);
        EXPECT_EQ(&moved[0], &scripts);
        EXPECT_EQ(moved.owner_of(block->data), &scripts);
        scripts.deallocate(*block);
        moved = make(modes);
        EXPECT_EQ(moved.stats().allocations, 0U);
    }
}

TEST(PartitionAllocator, SitsOnTwoBlocksOfAnotherResource) {
    for (const Modes& modes : kMixtures) {
        auto stack = ouro::StackAllocator::create({.max_bytes = 8 * kBytes});
        ASSERT_TRUE(stack);
        {
            auto set = PartitionAllocator::create_on(*stack, {.partitions = parts_with(modes)});
            ASSERT_TRUE(set);
            const auto block = (*set)[1].allocate(1000);
            ASSERT_TRUE(block);
            EXPECT_TRUE(stack->owns(block->data));
            EXPECT_EQ(set->owner_of(block->data), &(*set)[1]);
            EXPECT_EQ((*set)[1].addresses().size, kBytes / 2);
            EXPECT_EQ((*set)[1].stats().committed_bytes, kBytes / 2);
            EXPECT_EQ(set->trim(), 0U);
            EXPECT_EQ(stack->stats().live_blocks, 2U);
            EXPECT_EQ(set->check(), Status::ok);
        }
        EXPECT_EQ(stack->used_bytes(), 0U);
        // Too little for the second block: nothing is left behind.
        EXPECT_EQ(PartitionAllocator::create_on(
                      *stack, {.partitions = std::vector<PartitionOptions>(
                                   1, {.max_bytes = 8 * kBytes, .thread_safety = modes[0]})})
                      .status(),
                  Status::capacity_exhausted);
        EXPECT_EQ(stack->used_bytes(), 0U);
    }
}

// The promise itself: whatever is allocated, freed and given back to the system, a page that ever held a
// block of one partition never holds one of another.
TEST(PartitionAllocator, NoAddressIsEverSharedBetweenPartitions) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ouro::Random random(seed);
        const Modes& modes = kMixtures[seed % 3];
        auto set = make(modes);
        std::unordered_map<std::uintptr_t, std::size_t> owner_of_page;
        std::array<std::vector<MemoryBlock>, 3> live;
        for (int step = 0; step < 20'000; ++step) {
            const std::size_t part = random.below(3);
            if (live[part].empty() || random.chance(0.52)) {
                const auto block = set[part].allocate(1 + random.below(random.chance(0.9) ? 600 : 60'000));
                if (!block) continue;
                const auto first = reinterpret_cast<std::uintptr_t>(block->data) / 4096;
                const auto last = reinterpret_cast<std::uintptr_t>(block->end() - 1) / 4096;
                for (std::uintptr_t page = first; page <= last; ++page)
                    ASSERT_EQ(owner_of_page.try_emplace(page, part).first->second, part);
                live[part].push_back(*block);
            } else {
                const std::size_t index = random.below(static_cast<std::uint32_t>(live[part].size()));
                std::swap(live[part][index], live[part].back());
                set[part].deallocate(live[part].back());
                live[part].pop_back();
            }
            if (step % 500 == 0) set.trim();
            // Now and then one of them loses everything.
            if (step % 3000 == 2999) {
                for (const MemoryBlock block : live[part])
                    set[part].deallocate(block);
                live[part].clear();
                set[part].trim();
                EXPECT_TRUE(modes[part] == kAny || set[part].stats().committed_bytes == 0);
                EXPECT_EQ(set[part].stats().live_bytes, 0U);
            }
            ASSERT_TRUE(step % 500 != 0 || set.check() == Status::ok);
        }
    }
}

}  // namespace
