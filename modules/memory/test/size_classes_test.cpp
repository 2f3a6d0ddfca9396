// info() tells the sizes that requests are rounded up to.
#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryResource;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Each class serves what is larger than the one before, up to its own size.
void expect_classes_are_true(MemoryResource& resource) {
    const std::span<const std::size_t> classes = resource.info().size_classes;
    ASSERT_FALSE(classes.empty());
    EXPECT_TRUE(std::ranges::is_sorted(classes, std::less_equal<>()) || classes.size() == 1);
    std::size_t before = 0;
    for (const std::size_t size : classes) {
        for (const std::size_t asked : {before + 1, size}) {
            const auto block = resource.allocate(asked, 1);
            ASSERT_TRUE(block) << asked;
            EXPECT_EQ(block->size, size) << asked;
            resource.deallocate({block->data, asked}, 1);
        }
        before = size;
    }
}

bool are_same(std::span<const std::size_t> one, std::span<const std::size_t> other) {
    return one.data() == other.data() && one.size() == other.size();
}

TEST(SizeClasses, AreThoseOfAPool) {
    auto pool = ouro::PoolAllocator::create({.block_bytes = 50, .max_blocks = 10});
    auto local = ouro::LocalPoolAllocator::create({.block_bytes = 50, .max_blocks = 10});
    ASSERT_TRUE(pool && local);
    expect_classes_are_true(*pool);
    expect_classes_are_true(*local);
    ASSERT_EQ(pool->info().size_classes.size(), 1U);
    EXPECT_EQ(pool->info().size_classes[0], 64U);
}

TEST(SizeClasses, AreThoseOfASmallObjectHeap) {
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = 32 * kMegabyte});
    ASSERT_TRUE(heap);
    expect_classes_are_true(*heap);
    EXPECT_EQ(heap->info().size_classes.back(), ouro::SmallObjectAllocator::kLargestSmallBytes);
}

TEST(SizeClasses, AreThoseOfPartitions) {
    for (const auto safety : {ouro::ThreadSafety::single_thread, ouro::ThreadSafety::any_thread}) {
        const ouro::PartitionOptions options[] = {{.max_bytes = 8 * kMegabyte, .thread_safety = safety}};
        auto set = ouro::PartitionAllocator::create({.partitions = options});
        ASSERT_TRUE(set);
        expect_classes_are_true((*set)[0]);
    }
    if (ouro::os::page_size() >= std::size_t{64} << 10) return;
    const ouro::PartitionOptions guarded[] = {
        {.max_bytes = 8 * kMegabyte, .guards = ouro::PartitionGuards::spans},
        {.max_bytes = 8 * kMegabyte, .guards = ouro::PartitionGuards::blocks}};
    auto set = ouro::PartitionAllocator::create({.partitions = guarded});
    ASSERT_TRUE(set);
    expect_classes_are_true((*set)[0]);
    // There each block has pages of its own.
    EXPECT_TRUE((*set)[1].info().size_classes.empty());
}

TEST(SizeClasses, AreThoseOfACapacityPool) {
    auto heap = ouro::TlsfAllocator::create({.max_bytes = 32 * kMegabyte});
    ASSERT_TRUE(heap);
    EXPECT_TRUE(heap->info().size_classes.empty());
    ouro::CapacityPool pool(*heap, {.largest_block_bytes = kMegabyte});
    expect_classes_are_true(pool);
    EXPECT_EQ(pool.info().size_classes.back(), kMegabyte);
    const ouro::CapacityPool passing(*heap, {.largest_block_bytes = 8});
    EXPECT_TRUE(passing.info().size_classes.empty());
}

TEST(SizeClasses, ArePassedOnByDecorators) {
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = 32 * kMegabyte});
    auto frame = ouro::FrameAllocator::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(heap && frame);
    const auto classes = heap->info().size_classes;
    const ouro::TaggedAllocator tagged(*heap, {});
    EXPECT_TRUE(are_same(tagged.info().size_classes, classes));
    auto checked = ouro::GuardedAllocator<ouro::HardeningTier::checked>::create_on(*heap, {});
    auto off = ouro::GuardedAllocator<ouro::HardeningTier::off>::create_on(*heap, {});
    ASSERT_TRUE(checked && off);
    EXPECT_TRUE(are_same(checked->info().size_classes, classes));
    EXPECT_TRUE(are_same(off->info().size_classes, classes));
    const auto alone = ouro::FallbackChain::create({&*heap});
    const auto several = ouro::FallbackChain::create({&*frame, &*heap});
    ASSERT_TRUE(alone && several);
    EXPECT_TRUE(are_same(alone->info().size_classes, classes));
    EXPECT_TRUE(several->info().size_classes.empty());
}

}  // namespace
