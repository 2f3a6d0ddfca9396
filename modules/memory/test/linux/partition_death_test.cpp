#include <ouro/memory/annotations.hpp>
#include <ouro/memory/partition_allocator.hpp>

#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionGuards;
using ouro::PartitionOptions;
using ouro::ThreadSafety;
using ouro::partition::kSpanBytes;

PartitionAllocator make(PartitionGuards guards, ThreadSafety threads = ThreadSafety::single_thread) {
    const PartitionOptions part{
        .max_bytes = std::size_t{4} << 20, .guards = guards, .thread_safety = threads};
    const PartitionOptions parts[] = {part, part};
    auto set = PartitionAllocator::create({.partitions = parts});
    EXPECT_TRUE(set);
    return *std::move(set);
}

void touch(const std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(const_cast<std::byte*>(address)) = 1;
}

void expect_foreign_is_caught(Partition& part, Partition& other) {
    const auto foreign = other.allocate(100);
    ASSERT_TRUE(foreign);
    EXPECT_DEATH(part.deallocate(*foreign), "not of this partition");
    EXPECT_DEATH((void)part.reallocate(*foreign, 50), "not of this partition");
    EXPECT_DEATH((void)part.try_resize(*foreign, 50), "not of this partition");
}

TEST(PartitionDeath, BadFreesAreCaughtInEveryBuild) {
    auto set = make(PartitionGuards::none);
    Partition& part = set[0];
    expect_foreign_is_caught(part, set[1]);
    const auto small = part.allocate(100);
    const auto large = part.allocate(100'000);
    ASSERT_TRUE(small && large);
    EXPECT_DEATH(part.deallocate({small->data + 16, 16}), "no block starts here");
    EXPECT_DEATH(part.deallocate({large->data + 16, 16}), "no block starts here");
    EXPECT_DEATH(part.deallocate({large->data + kSpanBytes, 16}), "no block starts here");
    EXPECT_DEATH(part.deallocate({part.addresses().end() - kSpanBytes, 16}), "no block starts here");
    part.deallocate(*small);
    EXPECT_DEATH(part.deallocate(*small), "free already");
    part.deallocate(*large);
    EXPECT_DEATH(part.deallocate(*large), "no block starts here");
    EXPECT_DEATH((void)set[2], "fewer partitions");
}

// What is noticed at once without a lock, and what when blocks come home.
TEST(PartitionDeath, ForAnyThreadBadFreesAreCaughtAtOnceOrAtHome) {
    auto set = make(PartitionGuards::none, ThreadSafety::any_thread);
    Partition& part = set[0];
    expect_foreign_is_caught(part, set[1]);
    const auto small = part.allocate(100);
    const auto large = part.allocate(100'000);
    ASSERT_TRUE(small && large);
    part.deallocate(*large);
    EXPECT_DEATH(part.deallocate(*large), "");
    part.deallocate(*small);
    EXPECT_DEATH(
        {
            part.deallocate(*small);
            part.trim();
        },
        "");
    EXPECT_EQ(set.check(), ouro::Status::ok);
}

TEST(PartitionDeath, AGuardEndsEachSpan) {
    for (const ThreadSafety threads : {ThreadSafety::single_thread, ThreadSafety::any_thread}) {
        auto set = make(PartitionGuards::spans, threads);
        const auto small = set[0].allocate(16);
        const auto large = set[0].allocate(3 * kSpanBytes);
        ASSERT_TRUE(small && large);
        EXPECT_DEATH(touch(small->data + kSpanBytes - 4096), "");
        // The last byte before the guard is free memory, which sanitizers would not let pass.
        std::byte* const last = small->data + kSpanBytes - 4097;
        ouro::annotate::permit({last - 7, 8});
        touch(last);
        touch(large->end() - 1);
        EXPECT_DEATH(touch(large->end()), "");
    }
}

TEST(PartitionDeath, AGuardEndsEachBlockAndFreedOnesFault) {
    auto set = make(PartitionGuards::blocks);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{100}, std::size_t{4096}, std::size_t{100'000}}) {
        const auto block = set[0].allocate(size, 1);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->size, size);
        touch(block->data);
        touch(block->end() - 1);
        EXPECT_DEATH(touch(block->end()), "") << size;
        set[0].deallocate(*block, 1);
        EXPECT_DEATH(touch(block->data), "") << size;
    }
}

TEST(PartitionDeath, NothingLiesBetweenPartitions) {
    for (const ThreadSafety threads : {ThreadSafety::single_thread, ThreadSafety::any_thread}) {
        auto set = make(PartitionGuards::none, threads);
        EXPECT_FALSE(set[0].addresses().overlaps(set[1].addresses()));
        EXPECT_NE(set[0].addresses().end(), set[1].addresses().data);
        EXPECT_NE(set[1].addresses().end(), set[0].addresses().data);
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
            EXPECT_DEATH(touch(set[index].addresses().end()), "");
            EXPECT_DEATH(touch(set[index].addresses().data - 1), "");
        }
    }
}

TEST(PartitionDeath, GivenBackSpansFault) {
    auto set = make(PartitionGuards::none);
    const auto block = set[0].allocate(64);
    ASSERT_TRUE(block);
    touch(block->data);
    set[0].deallocate(*block);
    set[0].trim();
    EXPECT_DEATH(touch(block->data), "");
}

}  // namespace
