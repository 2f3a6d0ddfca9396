// AddressSanitizer knows what frames and stacks hand out. Built with it only.
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::StackAllocator;

constexpr const char* kReport = "AddressSanitizer: use-after-poison";
static_assert(ouro::annotate::kAddressSanitizer);

void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

TEST(AnnotationAsan, AFrameIsForbiddenAfterItsReset) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    const auto block = frame->allocate(64);
    ASSERT_TRUE(block);
    touch(block->data);
    EXPECT_DEATH(touch(block->end()), kReport);
    frame->reset();
    EXPECT_DEATH(touch(block->data), kReport);
    const auto again = frame->allocate(32);
    ASSERT_TRUE(again);
    touch(again->data);
    EXPECT_DEATH(touch(block->data + 32), kReport);
    const auto grown = frame->reallocate(*again, 48);
    ASSERT_TRUE(grown);
    touch(grown->data + 47);
    const auto shrunk = frame->reallocate(*grown, 8);
    ASSERT_TRUE(shrunk);
    EXPECT_DEATH(touch(grown->data + 40), kReport);
}

TEST(AnnotationAsan, WhatAMarkerFreedIsForbidden) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    const auto kept = frame->allocate(64);
    const auto marker = frame->mark();
    const auto freed = frame->allocate(64);
    ASSERT_TRUE(kept && freed);
    frame->rewind(marker);
    touch(kept->data + 63);
    EXPECT_DEATH(touch(freed->data), kReport);
}

TEST(AnnotationAsan, AStackIsForbiddenAboveItsTop) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto low = stack->allocate(64, 128);
    const auto high = stack->allocate(64);
    ASSERT_TRUE(low && high);
    stack->deallocate(*high);
    EXPECT_DEATH(touch(high->data), kReport);
    touch(low->data);
    stack->deallocate(*low, 128);
    EXPECT_DEATH(touch(low->data), kReport);
}

TEST(AnnotationAsan, TheEndOfAnAllocatorForbidsNothingToTheNext) {
    std::byte* place = nullptr;
    {
        auto outer = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
        ASSERT_TRUE(outer);
        {
            auto inner = FrameAllocator::create_on(*outer, 4096);
            ASSERT_TRUE(inner);
            const auto block = inner->allocate(64);
            ASSERT_TRUE(block);
            place = block->data;
            EXPECT_DEATH(touch(block->end()), kReport);
        }
        const auto whole = outer->allocate(4096);
        ASSERT_TRUE(whole);
        ASSERT_TRUE(whole->contains(place));
        std::memset(whole->data, 1, whole->size);
    }
    const auto mapped = ouro::os::reserve({.bytes = std::size_t{1} << 20});
    ASSERT_TRUE(mapped && ouro::os::commit(*mapped));
    std::memset(mapped->data, 1, mapped->size);
    EXPECT_TRUE(ouro::os::release(*mapped));
}

}  // namespace
