#include <ouro/memory/small_object_allocator.hpp>

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

}  // namespace
