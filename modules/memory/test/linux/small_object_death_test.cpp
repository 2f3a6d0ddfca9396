#include <ouro/memory/small_object_allocator.hpp>

#include <cstddef>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::SmallObjectAllocator;

// In every build, where it costs nothing to look.
TEST(SmallObjectDeath, ABlockOfAnotherHeapIsCaughtOnTheSlowPaths) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    auto other = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap && other);
    const auto small = other->allocate(64);
    const auto large = other->allocate(1'000'000);
    ASSERT_TRUE(small && large);
    EXPECT_DEATH(heap->deallocate(*large), "not a block of this heap");
    for (const ouro::MemoryBlock foreign : {*small, *large}) {
        EXPECT_DEATH((void)heap->try_resize(foreign, foreign.size / 2, 16), "not a block of this heap");
        EXPECT_DEATH((void)heap->reallocate(foreign, foreign.size), "not a block of this heap");
    }
    other->deallocate(*small);
    other->deallocate(*large);
}

TEST(SmallObjectDeath, AHeapThatWasMovedFromIsNotUsed) {
    auto made = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(made);
    const auto block = made->allocate(64);
    ASSERT_TRUE(block);
    SmallObjectAllocator heap = *std::move(made);
    EXPECT_DEATH((void)made->allocate(64), "moved from");
    EXPECT_DEATH((void)made->allocate(1'000'000), "moved from");
    EXPECT_DEATH((void)made->reallocate(*block, 1000), "moved from");
    EXPECT_DEATH(made->deallocate(*block), "moved from");
    EXPECT_DEATH((void)made->owns(block->data), "moved from");
    EXPECT_DEATH((void)made->stats(), "moved from");
    EXPECT_DEATH((void)made->purge(), "moved from");
    EXPECT_DEATH((void)made->check(), "moved from");
    EXPECT_DEATH(made->reset(), "moved from");
    heap.deallocate(*block);
}

TEST(SmallObjectDeath, AnAddressInsideALargeBlockIsCaught) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    const auto large = heap->allocate(100'000);
    ASSERT_TRUE(large);
    EXPECT_DEATH(heap->deallocate({large->data + 16, 100'000}), "not a block of this heap");
    heap->deallocate(*large);
}

TEST(SmallObjectDeath, ALargeBlockFreedTwiceIsCaughtWhileItsThreadKeepsIt) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 30});
    ASSERT_TRUE(heap);
    const auto first = heap->allocate(100'000);
    const auto second = heap->allocate(100'000);
    ASSERT_TRUE(first && second);
    heap->deallocate(*second);
    EXPECT_DEATH(heap->deallocate(*second), "freed twice");
    EXPECT_DEATH((void)heap->try_resize(*second, 100'000, 16), "freed twice");
    EXPECT_DEATH((void)heap->try_resize(*second, 300'000, 16), "freed twice");
    EXPECT_DEATH((void)heap->reallocate(*second, 100'000), "freed twice");
    // The two are one now.
    heap->deallocate(*first);
    EXPECT_DEATH(heap->deallocate(*second), "freed twice");
}

// When they come home at the latest, wherever in a slab of several units they lie.
TEST(SmallObjectDeath, BlocksFreedWithASizeNotTheirOwnAreCaught) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    std::vector<ouro::MemoryBlock> blocks{*heap->allocate(64)};
    for (int i = 0; i < 16; ++i)
        blocks.push_back(heap->allocate(16 << 10).value());
    const auto free_wrongly = [&heap](const ouro::MemoryBlock& block) {
        heap->deallocate({block.data, block.size == 64 ? 16U << 10 : 64U});
        heap->purge();
    };
    for (std::size_t i = 0; i < blocks.size(); i += 3)
        EXPECT_DEATH(free_wrongly(blocks[i]), "with a size not its own|not a block of this heap") << i;
}

// The second time among others, before and behind it, with neighbours and without.
TEST(SmallObjectDeath, ABlockFreedTwiceIsCaughtWhenItComesHome) {
    for (const std::size_t size : {64U, 2U << 10, 16U << 10}) {
        auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
        ASSERT_TRUE(heap);
        std::vector<ouro::MemoryBlock> blocks;
        for (int i = 0; i < 200; ++i)
            blocks.push_back(heap->allocate(size).value());
        const auto free_all = [&](std::initializer_list<std::size_t> indices) {
            for (const std::size_t index : indices)
                heap->deallocate(blocks[index]);
            heap->purge();
        };
        EXPECT_DEATH(free_all({0, 150, 0}), "freed twice") << size;
        EXPECT_DEATH(free_all({0, 1, 0}), "freed twice") << size;
        EXPECT_DEATH(free_all({0, 1, 150, 1, 0}), "freed twice") << size;
        free_all({0, 150, 1, 2});
        EXPECT_EQ(heap->check(), ouro::Status::ok);
    }
}

#if OURO_ASSERT_LEVEL >= 1
TEST(SmallObjectDeath, ABlockFreedTwiceInARowIsCaughtAtOnceWithAsserts) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    const auto block = heap->allocate(64);
    ASSERT_TRUE(block);
    EXPECT_DEATH(heap->deallocate({block->data + 16, 64}), "not a block of this heap");
    heap->deallocate(*block);
    EXPECT_DEATH(heap->deallocate(*block), "freed twice");
}
#endif

#if OURO_ASSERT_LEVEL >= 2
// In the cache, or in the slab.
TEST(SmallObjectDeath, AnyBlockThatItsOwnThreadFreedIsCaughtAtOnceWithExpensiveAsserts) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    std::vector<ouro::MemoryBlock> blocks;
    for (int i = 0; i < 2000; ++i)
        blocks.push_back(heap->allocate(64).value());
    for (std::size_t i = 0; i < blocks.size(); i += 2)
        heap->deallocate(blocks[i]);
    EXPECT_DEATH(heap->deallocate(blocks[1990]), "freed twice");
    EXPECT_DEATH(heap->deallocate(blocks[0]), "freed twice");
}
#endif

}  // namespace
