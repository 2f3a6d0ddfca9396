#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FallbackChain;
using ouro::MemoryResource;
using ouro::StackAllocator;
using ouro::Status;
using ouro::SystemAllocator;
using ouro::TaggedAllocator;

class Fallback : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(small_ && large_ && chain_); }

    ouro::Expected<StackAllocator> small_ = StackAllocator::create({.name = "small", .max_bytes = 65536});
    ouro::Expected<SystemAllocator> large_ = SystemAllocator::create({.max_bytes = std::size_t{1} << 20});
    ouro::Expected<FallbackChain> chain_ = FallbackChain::create({&*small_, &*large_});
};

TEST_F(Fallback, TheFirstThatCanServes) {
    const auto here = chain_->allocate(1000);
    const auto there = chain_->allocate(100'000);
    ASSERT_TRUE(here && there);
    EXPECT_TRUE(small_->owns(here->data));
    EXPECT_TRUE(large_->owns(there->data));
    EXPECT_EQ(chain_->owner_of(here->data), &*small_);
    EXPECT_EQ(chain_->owner_of(there->data), &*large_);
    EXPECT_EQ(chain_->owner_of(&here), nullptr);
    EXPECT_FALSE(chain_->owns(&here));
    chain_->deallocate(*here);
    chain_->deallocate(*there);
    EXPECT_EQ(small_->stats().live_bytes, 0U);
    EXPECT_EQ(large_->stats().live_bytes, 0U);
    EXPECT_EQ(chain_->stats().allocations, 2U);
}

TEST_F(Fallback, AGrowingBlockMovesAcross) {
    auto block = chain_->allocate(60'000);
    ASSERT_TRUE(block);
    ASSERT_TRUE(small_->owns(block->data));
    std::memset(block->data, 0x5A, 60'000);
    block = chain_->reallocate(*block, 70'000);
    ASSERT_TRUE(block);
    EXPECT_TRUE(large_->owns(block->data));
    for (std::size_t i = 0; i < 60'000; ++i)
        ASSERT_EQ(block->data[i], std::byte{0x5A});
    EXPECT_EQ(small_->stats().live_bytes, 0U);
    // Neither has room: the block is as it was.
    EXPECT_EQ(chain_->reallocate(*block, std::size_t{2} << 20).status(), Status::capacity_exhausted);
    EXPECT_EQ(block->data[59'999], std::byte{0x5A});
    EXPECT_EQ(chain_->stats().failures, 1U);
    chain_->deallocate(*block);
}

TEST_F(Fallback, TheMostTellingStatusIsReported) {
    EXPECT_EQ(chain_->allocate(std::size_t{2} << 20).status(), Status::capacity_exhausted);
    TaggedAllocator budgeted(*large_, {.name = "budgeted", .budget_bytes = 10});
    const auto chain = FallbackChain::create({&*small_, &budgeted});
    ASSERT_TRUE(chain);
    FallbackChain last_is_budget = *chain;
    EXPECT_EQ(last_is_budget.allocate(100'000).status(), Status::budget_exceeded);
    // A link that never serves such requests does not hide the one that ran out.
    auto pool = ouro::PoolAllocator::create({.block_bytes = 64, .max_blocks = 10});
    ASSERT_TRUE(pool);
    auto reversed = FallbackChain::create({&budgeted, &*pool});
    ASSERT_TRUE(reversed);
    EXPECT_EQ(pool->allocate(64, 128).status(), Status::bad_alignment);
    EXPECT_EQ(reversed->allocate(64, 128).status(), Status::budget_exceeded);
    EXPECT_EQ(chain_->allocate(0).status(), Status::zero_size);
    EXPECT_EQ(chain_->allocate(8, 3).status(), Status::bad_alignment);
}

TEST_F(Fallback, PromisesTheLeastOfItsLinks) {
    EXPECT_EQ(chain_->info().thread_safety, ouro::ThreadSafety::single_thread);
    EXPECT_TRUE(chain_->info().frees_blocks);
    auto frame = ouro::FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    const auto with_frame = FallbackChain::create({&*frame, &*large_}, "with frame");
    ASSERT_TRUE(with_frame);
    EXPECT_FALSE(with_frame->info().frees_blocks);
    EXPECT_EQ(with_frame->info().name, "with frame");
    const auto system_only = FallbackChain::create({&*large_});
    ASSERT_TRUE(system_only);
    EXPECT_EQ(system_only->info().thread_safety, ouro::ThreadSafety::any_thread);
}

TEST_F(Fallback, SenselessChainsAreRefused) {
    EXPECT_EQ(FallbackChain::create({}).status(), Status::bad_argument);
    EXPECT_EQ(FallbackChain::create({nullptr}).status(), Status::bad_argument);
    EXPECT_EQ(FallbackChain::create({&*small_, &*large_, &*small_}).status(), Status::bad_argument);
    const std::vector<MemoryResource*> many(FallbackChain::kMaxLinks + 1, &*small_);
    EXPECT_EQ(FallbackChain::create(many).status(), Status::capacity_exhausted);
}

}  // namespace
