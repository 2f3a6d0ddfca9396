#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FallbackChain;
using ouro::StackAllocator;
using ouro::SystemAllocator;
using ouro::TaggedAllocator;

TEST(SystemAllocatorDeath, AForeignOrFreedBlockIsCaught) {
    auto system = SystemAllocator::create({});
    auto other = SystemAllocator::create({.cache_bytes = 0});
    ASSERT_TRUE(system && other);
    const auto block = system->allocate(5000);
    const auto foreign = other->allocate(5000);
    ASSERT_TRUE(block && foreign);
    EXPECT_DEATH(system->deallocate(*foreign), "not of this allocator");
    EXPECT_DEATH(system->deallocate({block->data + 1, 100}), "no whole block");
    system->deallocate(*block);
    EXPECT_DEATH(system->deallocate(*block), "freed already");
    other->deallocate(*foreign);
    EXPECT_DEATH(other->deallocate(*foreign), "freed already");
    EXPECT_DEATH((void)other->reallocate(*foreign, 10'000), "freed already");
}

TEST(TaggedAllocatorDeath, MoreReturnedThanGivenIsCaught) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    TaggedAllocator tagged(*system, {.name = "tagged"});
    const auto block = tagged.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_DEATH(tagged.deallocate({block->data, 200}), "more bytes were returned than were given");
    tagged.deallocate(*block);
}

template <ouro::HardeningTier kTier>
void use_one_that_was_moved_from() {
    auto upstream = ouro::SystemAllocator::create({.name = "below"});
    ASSERT_TRUE(upstream);
    auto made = ouro::GuardedAllocator<kTier>::create_on(*upstream, {.check_unsampled = false});
    ASSERT_TRUE(made);
    const auto block = made->allocate(100);
    ASSERT_TRUE(block);
    ouro::GuardedAllocator<kTier> guarded = *std::move(made);
    EXPECT_DEATH((void)made->allocate(100), "moved from");
    EXPECT_DEATH(made->deallocate(*block), "moved from");
    EXPECT_DEATH((void)made->reallocate(*block, 200), "moved from");
    EXPECT_DEATH((void)made->owns(block->data), "moved from");
    EXPECT_DEATH((void)made->stats(), "moved from");
    EXPECT_DEATH((void)made->inspect(), "moved from");
    guarded.deallocate(*block);
}

TEST(GuardedAllocatorDeath, OneThatWasMovedFromIsNotUsed) {
    use_one_that_was_moved_from<ouro::HardeningTier::checked>();
    use_one_that_was_moved_from<ouro::HardeningTier::hardened>();
}

TEST(FallbackChainDeath, ABlockOfNobodyIsCaught) {
    auto stack = StackAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(stack);
    auto chain = FallbackChain::create({&*stack});
    ASSERT_TRUE(chain);
    std::byte local[16];
    EXPECT_DEATH(chain->deallocate({local, 16}), "no link of the chain owns this block");
    EXPECT_DEATH((void)chain->reallocate({local, 16}, 32), "no link of the chain owns this block");
}

}  // namespace
