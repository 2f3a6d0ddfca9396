#include "resource_model.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionGuards;
using ouro::PartitionOptions;
using ouro::SmallObjectAllocator;
using ouro::Status;
using ouro::ThreadSafety;
using ouro::partition::kClassBytes;
using ouro::partition::kMaxSlotBytes;
using ouro::partition::kSpanBytes;
using ouro::testing_support::ResourceModel;

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr ThreadSafety kModes[] = {ThreadSafety::single_thread, ThreadSafety::any_thread};

std::string name_of(ThreadSafety mode) {
    return mode == ThreadSafety::any_thread ? "any thread" : "one thread";
}

bool can_guard() {
    return ouro::os::page_size() < kSpanBytes;
}

PartitionAllocator make(const PartitionOptions& options = {.max_bytes = kBytes}) {
    auto set = PartitionAllocator::create({.partitions = {&options, 1}});
    EXPECT_TRUE(set);
    return *std::move(set);
}

TEST(PartitionClasses, ServeEverySizeWithTheLeastSlot) {
    std::size_t before = 0;
    for (const std::uint32_t size : kClassBytes) {
        EXPECT_GT(size, before);
        before = size;
    }
    for (std::size_t size = 1; size <= kMaxSlotBytes; ++size) {
        const std::uint32_t index = ouro::partition::class_of(size);
        ASSERT_GE(kClassBytes[index], size);
        ASSERT_TRUE(index == 0 || kClassBytes[index - 1] < size) << size;
        // At most a fifth is lost, or less than a unit.
        ASSERT_TRUE(kClassBytes[index] - size < 16 || kClassBytes[index] * 4 <= size * 5 + 3) << size;
    }
}

TEST(PartitionClasses, ASpanHandsOutEachOfItsSlotsOnce) {
    static ouro::partition::Span span;
    static std::byte memory[kSpanBytes];
    span.begin = memory;
    for (std::uint32_t index = 0; index < ouro::partition::kClassCount; ++index) {
        span.open(index, kSpanBytes);
        ASSERT_TRUE(span.is_sound(kSpanBytes));
        ASSERT_EQ(span.capacity, kSpanBytes / kClassBytes[index]);
        for (std::size_t slot = 0; slot < span.capacity; ++slot)
            ASSERT_EQ(span.take_free(), memory + slot * kClassBytes[index]);
        ASSERT_EQ(span.free_count, 0U);
        ASSERT_EQ(span.summary, 0U);
        ASSERT_TRUE(span.is_sound(kSpanBytes));
    }
}

TEST(Partition, BlocksSayHowLargeTheyAre) {
    for (const ThreadSafety mode : kModes) {
        SCOPED_TRACE(name_of(mode));
        auto set = make({.max_bytes = kBytes, .thread_safety = mode});
        const auto small = set[0].allocate(100);
        const auto large = set[0].allocate(kMaxSlotBytes + 1);
        ASSERT_TRUE(small && large);
        EXPECT_EQ(small->size, ouro::align_up(100, ouro::kDefaultAlignment));
        EXPECT_EQ(large->size, mode == ThreadSafety::any_thread
                                   ? SmallObjectAllocator::good_size(kMaxSlotBytes + 1)
                                   : ouro::align_up(kMaxSlotBytes + 1, ouro::os::page_size()));
        EXPECT_EQ(set[0].stats().live_bytes, small->size + large->size);
        EXPECT_EQ(set[0].stats().live_blocks, 2U);
        set[0].deallocate(*small);
        // The size asked for serves as well as the size given.
        set[0].deallocate({large->data, kMaxSlotBytes + 1});
        set[0].deallocate({});
        EXPECT_EQ(set[0].stats().live_bytes, 0U);
        EXPECT_EQ(set[0].stats().allocations, 2U);
        EXPECT_EQ(set[0].check(), Status::ok);
    }
}

TEST(Partition, BadRequestsAreStatuses) {
    for (const ThreadSafety mode : kModes) {
        SCOPED_TRACE(name_of(mode));
        auto set = make({.max_bytes = kBytes, .thread_safety = mode});
        EXPECT_EQ(set[0].info().thread_safety, mode);
        EXPECT_EQ(set[0].allocate(0).status(), Status::zero_size);
        EXPECT_EQ(set[0].allocate(16, 3).status(), Status::bad_alignment);
        EXPECT_FALSE(set[0].allocate(SIZE_MAX));
        EXPECT_EQ(set[0].allocate(kBytes + 1).status(), Status::capacity_exhausted);
        const auto block = set[0].reallocate({}, 100);
        ASSERT_TRUE(block);
        EXPECT_EQ(set[0].reallocate(*block, 0).status(), Status::zero_size);
        EXPECT_EQ(set[0].try_resize(*block, 16, 3).status(), Status::bad_alignment);
        EXPECT_EQ(set[0].try_resize(*block, block->size)->data, block->data);
        EXPECT_EQ(set[0].try_resize(*block, block->size + 1).status(), Status::capacity_exhausted);
        set[0].deallocate(*block);
        EXPECT_EQ(set[0].stats().live_blocks, 0U);
        EXPECT_EQ(set[0].check(), Status::ok);
    }
}

TEST(Partition, AlignsAsAsked) {
    for (const ThreadSafety mode : kModes) {
        SCOPED_TRACE(name_of(mode));
        auto set = make({.max_bytes = 4 * kBytes, .thread_safety = mode});
        for (std::size_t alignment = 1; alignment <= kBytes; alignment *= 2) {
            for (const std::size_t size : {std::size_t{1}, std::size_t{48}, std::size_t{3000}, kSpanBytes}) {
                const auto block = set[0].allocate(size, alignment);
                ASSERT_TRUE(block) << size << " at " << alignment;
                EXPECT_TRUE(ouro::is_aligned(block->data, alignment));
                EXPECT_TRUE(set[0].addresses().contains(*block));
                std::memset(block->data, 1, block->size);
                ASSERT_EQ(set[0].check(), Status::ok);
                set[0].deallocate(*block, alignment);
            }
        }
        EXPECT_NE(set[0].allocate(16, SIZE_MAX / 2 + 1).status(), Status::ok);
    }
}

TEST(Partition, EmptySpansLoseTheirMemoryAndKeepTheirAddresses) {
    auto set = make({.max_bytes = kBytes, .keep_empty_bytes = 0});
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 2000; ++i)
        blocks.push_back(*set[0].allocate(256));
    const std::size_t most = set[0].stats().committed_bytes;
    EXPECT_GE(most, 2000U * 256);
    for (const MemoryBlock block : blocks)
        set[0].deallocate(block);
    // What is left is the current span of the class, and those of the blocks kept at hand.
    const std::size_t rest = set[0].stats().committed_bytes;
    EXPECT_LE(rest, 3 * kSpanBytes);
    EXPECT_EQ(set[0].trim(), rest);
    EXPECT_EQ(set[0].stats().committed_bytes, 0U);
    EXPECT_EQ(set[0].check(), Status::ok);
    EXPECT_EQ(set[0].stats().reserved_bytes, kBytes);
    EXPECT_TRUE(set.owner_of(blocks[0].data) == &set[0]);
    for (MemoryBlock& block : blocks)
        block = *set[0].allocate(512);
    EXPECT_EQ(set[0].check(), Status::ok);
}

TEST(Partition, ForAnyThreadTrimReturnsMemoryAndTheAddressesStay) {
    auto set = make({.max_bytes = kBytes, .thread_safety = ThreadSafety::any_thread});
    Partition& part = set[0];
    EXPECT_EQ(part.stats().committed_bytes, 0U);
    EXPECT_EQ(part.addresses().size, kBytes);
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 2000; ++i) {
        blocks.push_back(*part.allocate(256));
        std::memset(blocks.back().data, 1, blocks.back().size);
    }
    EXPECT_EQ(part.trim(), 0U);
    for (const MemoryBlock block : blocks)
        part.deallocate(block);
    EXPECT_GE(part.trim(), 2000U * 256);
    EXPECT_EQ(part.trim(), 0U);
    EXPECT_EQ(part.check(), Status::ok);
    EXPECT_EQ(part.stats().reserved_bytes, kBytes);
    EXPECT_TRUE(set.owner_of(blocks[0].data) == &part);
    for (MemoryBlock& block : blocks) {
        block = *part.allocate(512);
        EXPECT_TRUE(part.owns(block.data));
    }
    EXPECT_EQ(part.check(), Status::ok);
}

TEST(Partition, KeepsSomeEmptySpansForTheNext) {
    auto set = make({.max_bytes = kBytes, .keep_empty_bytes = 8 * kSpanBytes});
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 2000; ++i)
        blocks.push_back(*set[0].allocate(1024));
    for (const MemoryBlock block : blocks)
        set[0].deallocate(block);
    const std::size_t kept = set[0].stats().committed_bytes;
    // Two spans may be pinned by blocks that are kept at hand, beside those kept empty.
    EXPECT_GE(kept, 4 * kSpanBytes);
    EXPECT_LE(kept, (8 + 2) * kSpanBytes);
    // A span of another size takes over what is there.
    ASSERT_TRUE(set[0].allocate(32));
    EXPECT_EQ(set[0].stats().committed_bytes, kept);
    EXPECT_EQ(set[0].check(), Status::ok);
}

TEST(Partition, LargeBlocksGrowAndShrinkInPlace) {
    auto set = make();
    Partition& part = set[0];
    auto block = part.allocate(100'000);
    ASSERT_TRUE(block);
    std::byte* const start = block->data;
    std::memset(start, 0x3C, 100'000);
    for (const std::size_t size : {std::size_t{200'000}, std::size_t{1'000'000}, std::size_t{50'000},
                                   std::size_t{120'000}, std::size_t{3'000'000}, std::size_t{20'000}}) {
        block = part.reallocate(*block, size, 16);
        ASSERT_TRUE(block) << size;
        EXPECT_EQ(block->data, start);
        EXPECT_GE(block->size, size);
        EXPECT_EQ(part.stats().live_bytes, block->size);
        ASSERT_EQ(part.check(), Status::ok);
        block->data[block->size - 1] = std::byte{1};
    }
    for (std::size_t i = 0; i < 20'000; ++i)
        ASSERT_EQ(start[i], std::byte{0x3C});
    // Into slots it has to move.
    block = part.reallocate(*block, 1000, 16);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->data[999], std::byte{0x3C});
    // A neighbour in the way makes a large one move.
    const auto one = part.allocate(kSpanBytes);
    const auto two = part.allocate(kSpanBytes);
    ASSERT_TRUE(one && two);
    std::memset(one->data, 0x11, one->size);
    const auto moved = part.reallocate(*one, 2 * kSpanBytes, 16);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, one->data);
    EXPECT_EQ(moved->data[kSpanBytes - 1], std::byte{0x11});
    EXPECT_EQ(part.check(), Status::ok);
}

TEST(Partition, ForAnyThreadBlocksKeepTheirBytesWhenTheyChange) {
    auto set = make({.max_bytes = kBytes, .thread_safety = ThreadSafety::any_thread});
    Partition& part = set[0];
    auto block = part.allocate(100);
    ASSERT_TRUE(block);
    std::memset(block->data, 0x3C, 100);
    for (const std::size_t size : {std::size_t{200}, std::size_t{20'000}, std::size_t{70'000},
                                   std::size_t{1'000'000}, std::size_t{300'000}, std::size_t{100}}) {
        block = part.reallocate(*block, size);
        ASSERT_TRUE(block) << size;
        EXPECT_GE(block->size, size);
        EXPECT_TRUE(part.addresses().contains(*block));
        EXPECT_EQ(part.stats().live_bytes, block->size);
        ASSERT_EQ(part.check(), Status::ok);
        for (std::size_t i = 0; i < 100; ++i)
            ASSERT_EQ(block->data[i], std::byte{0x3C});
    }
    // Large blocks shrink where they are.
    const auto large = part.allocate(4 * kSpanBytes);
    ASSERT_TRUE(large);
    const auto smaller = part.try_resize(*large, 2 * kSpanBytes);
    ASSERT_TRUE(smaller);
    EXPECT_EQ(smaller->data, large->data);
    EXPECT_EQ(smaller->size, 2 * kSpanBytes);
    EXPECT_EQ(part.check(), Status::ok);
}

TEST(Partition, ExhaustionPassesWhenSomethingIsFreed) {
    for (const ThreadSafety mode : kModes) {
        SCOPED_TRACE(name_of(mode));
        const bool is_shared = mode == ThreadSafety::any_thread;
        // A thread's caches take their part.
        auto set = make(
            {.max_bytes = 4 * kSpanBytes + (is_shared ? Partition::kThreadBytes : 0), .thread_safety = mode});
        Partition& part = set[0];
        std::vector<MemoryBlock> blocks;
        for (;;) {
            const auto block = part.allocate(1000);
            if (!block) {
                EXPECT_EQ(block.status(), Status::capacity_exhausted);
                break;
            }
            blocks.push_back(*block);
        }
        // Of so few spans they take less than they might.
        const std::size_t most = is_shared ? 4 + Partition::kThreadBytes / kSpanBytes - 1 : 4;
        EXPECT_GE(blocks.size(), 4 * (kSpanBytes / 1024));
        EXPECT_LE(blocks.size(), most * (kSpanBytes / 1024));
        EXPECT_EQ(part.allocate(kSpanBytes).status(), Status::capacity_exhausted);
        EXPECT_EQ(part.stats().failures, 2U);
        EXPECT_EQ(part.check(), Status::ok);
        part.deallocate(blocks.back());
        const auto again = part.allocate(1000);
        ASSERT_TRUE(again);
        blocks.back() = *again;
        // Enough empty spans side by side become a run.
        for (const MemoryBlock block : blocks)
            part.deallocate(block);
        if (is_shared) part.trim();
        EXPECT_TRUE(part.allocate(3 * kSpanBytes));
        EXPECT_EQ(part.check(), Status::ok);
    }
}

// Random calls on every kind of partition, with a model that stamps and checks every byte.
TEST(Partition, RandomCallsKeepEveryByte) {
    std::vector<PartitionOptions> kinds = {
        {.max_bytes = kBytes},
        {.max_bytes = kBytes, .keep_empty_bytes = 0},
        {.max_bytes = kBytes, .thread_safety = ThreadSafety::any_thread},
        {.max_bytes = kBytes, .thread_safety = ThreadSafety::any_thread, .keep_empty_bytes = 0}};
    if (can_guard()) {
        kinds.push_back({.max_bytes = kBytes, .guards = PartitionGuards::spans, .keep_empty_bytes = 0});
        kinds.push_back({.max_bytes = 16 * kBytes, .guards = PartitionGuards::blocks});
        kinds.push_back({.max_bytes = kBytes,
                         .guards = PartitionGuards::spans,
                         .thread_safety = ThreadSafety::any_thread});
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            SCOPED_TRACE("kind " + std::to_string(kind) + ", seed " + std::to_string(seed));
            auto set = make(kinds[kind]);
            const std::size_t max_size = seed == 3 ? 100'000 : 2000;
            ResourceModel model(set[0], {.max_size = max_size, .max_alignment = 8192}, seed);
            for (int step = 0; step < 3000; ++step) {
                model.step();
                if (testing::Test::HasFatalFailure()) return;
                ASSERT_TRUE(step % 100 != 0 || set[0].check() == Status::ok) << step;
                if (step % 1000 == 500) set[0].trim();
            }
            model.free_all();
            ASSERT_EQ(set[0].check(), Status::ok);
            EXPECT_EQ(set[0].stats().live_bytes, 0U);
            EXPECT_EQ(set[0].stats().live_blocks, 0U);
            set[0].trim();
            const bool is_heap = kinds[kind].thread_safety == ThreadSafety::any_thread &&
                                 kinds[kind].guards == PartitionGuards::none;
            if (is_heap) {
                EXPECT_EQ(set[0].trim(), 0U);
            } else {
                EXPECT_EQ(set[0].stats().committed_bytes, 0U);
            }
        }
    }
}

}  // namespace
