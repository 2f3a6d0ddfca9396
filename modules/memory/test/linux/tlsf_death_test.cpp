#include <ouro/memory/tlsf_allocator.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::TlsfAllocator;

TEST(TlsfAllocatorDeath, FreeingTwiceIsCaught) {
    auto heap = TlsfAllocator::create({.max_bytes = std::size_t{4} << 20});
    ASSERT_TRUE(heap);
    const auto small = heap->allocate(64);
    const auto large = heap->allocate(5000);
    const auto wall = heap->allocate(5000);
    ASSERT_TRUE(small && large && wall);
    heap->deallocate(*small);
    EXPECT_DEATH(heap->deallocate(*small), "free already");
    heap->deallocate(*large);
    EXPECT_DEATH(heap->deallocate(*large), "free already");
}

TEST(TlsfAllocatorDeath, AForeignBlockIsCaughtAmongSeveralRegions) {
    auto heap = TlsfAllocator::create({.max_bytes = std::size_t{4} << 20});
    auto other = TlsfAllocator::create({.max_bytes = std::size_t{4} << 20});
    ASSERT_TRUE(heap && other);
    const auto region = other->allocate(100'000);
    const auto foreign = other->allocate(5000);
    ASSERT_TRUE(region && foreign && heap->add_region(*region));
    EXPECT_DEATH(heap->deallocate(*foreign), "not of this allocator");
    EXPECT_DEATH((void)heap->reallocate(*foreign, 10), "not of this allocator");
}

TEST(TlsfHeapDeath, AForeignBlockIsNotResized) {
    auto memory = TlsfAllocator::create({.max_bytes = std::size_t{4} << 20});
    ASSERT_TRUE(memory);
    const auto one = memory->allocate(1 << 20);
    const auto other = memory->allocate(1 << 20);
    ASSERT_TRUE(one && other);
    auto heap = ouro::TlsfHeap::create_in(*one);
    ASSERT_TRUE(heap);
    EXPECT_DEATH((void)(*heap)->try_resize({other->data + 512, 64}, 32), "not of this heap");
    EXPECT_DEATH((void)(*heap)->reallocate({other->data + 512, 64}, 100), "not of this heap");
}

}  // namespace
