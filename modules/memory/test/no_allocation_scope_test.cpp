#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/no_allocation_scope.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::AllowAllocationScope;
using ouro::is_allocation_allowed;
using ouro::NoAllocationScope;

TEST(NoAllocationScope, NestsAndHasHoles) {
    EXPECT_TRUE(is_allocation_allowed());
    {
        const NoAllocationScope outer("outer");
        EXPECT_FALSE(is_allocation_allowed());
        {
            const AllowAllocationScope hole;
            EXPECT_TRUE(is_allocation_allowed());
            {
                const NoAllocationScope inner("inner");
                EXPECT_FALSE(is_allocation_allowed());
            }
            EXPECT_TRUE(is_allocation_allowed());
        }
        EXPECT_FALSE(is_allocation_allowed());
        EXPECT_STREQ(outer.name(), "outer");
        EXPECT_NE(outer.line(), 0U);
    }
    EXPECT_TRUE(is_allocation_allowed());
}

TEST(NoAllocationScope, FreeingAndShrinkingAreAllowed) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    const ouro::Allocator memory = *frame;
    const auto block = memory.allocate(1000);
    ASSERT_TRUE(block);
    const NoAllocationScope quiet("quiet");
    const auto smaller = memory.try_reallocate(*block, 100);
    ASSERT_TRUE(smaller);
    memory.deallocate(*smaller);
    const AllowAllocationScope hole;
    EXPECT_TRUE(memory.allocate(1000));
    EXPECT_TRUE(frame->allocate(1000));
}

}  // namespace
