// Built with AddressSanitizer only: it knows which blocks of the heap are free.
#include <ouro/memory/small_object_allocator.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::SmallObjectAllocator;

TEST(SmallObjectAsanDeathTest, AFreeBlockIsNotTouched) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20});
    const auto block = *heap.allocate(100);
    auto* const byte = reinterpret_cast<volatile unsigned char*>(block.data);
    *byte = 1;
    heap.deallocate(block);
    EXPECT_DEATH(*byte = 2, "use-after-poison");
}

TEST(SmallObjectAsanDeathTest, TheNextBlockIsNotReachedOver) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20});
    const auto block = *heap.allocate(112);
    auto* const behind = reinterpret_cast<volatile unsigned char*>(block.end());
    EXPECT_DEATH(*behind = 2, "use-after-poison");
    heap.deallocate(block);
}

}  // namespace
