#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>

#include <thread>

#include <gtest/gtest.h>

namespace {

using ouro::TwoEndedStack;

TEST(PoolDeath, TheGuardBehindTheEndFaults) {
    auto pool = ouro::PoolAllocator::create({.block_bytes = 65536, .max_blocks = 1});
    ASSERT_TRUE(pool);
    const auto block = pool->allocate_block();
    ASSERT_TRUE(block);
    volatile auto* behind = reinterpret_cast<volatile unsigned char*>(block->end());
    EXPECT_DEATH(*behind = 1, "");
}

TEST(PoolDeath, AnObjectThatIsGoneIsNotDestroyedAgain) {
    auto pool = ouro::Pool<int>::create({.max_objects = 10});
    ASSERT_TRUE(pool);
    const auto object = pool->make(1);
    ASSERT_TRUE(object);
    int stranger = 0;
    EXPECT_DEATH(pool->destroy(&stranger), "no such object");
    pool->destroy(*object);
    EXPECT_DEATH(pool->destroy(*object), "no such object");
}

// In every build.
TEST(PoolDeath, ABlockOfAnotherPoolIsCaughtOnAnotherThread) {
    auto pool = ouro::PoolAllocator::create({.block_bytes = 64, .max_blocks = 1000});
    auto other = ouro::PoolAllocator::create({.block_bytes = 64, .max_blocks = 1000});
    ASSERT_TRUE(pool && other);
    const auto foreign = other->allocate_block();
    ASSERT_TRUE(foreign);
    EXPECT_DEATH(std::thread([&] { pool->deallocate(*foreign); }).join(), "no block of the pool");
}

#if OURO_ASSERT_LEVEL >= 2
TEST(PoolDeath, AForeignBlockAndADoubleFreeAreCaught) {
    auto pool = ouro::LocalPoolAllocator::create({.block_bytes = 64, .max_blocks = 10});
    ASSERT_TRUE(pool);
    const auto block = pool->allocate_block();
    ASSERT_TRUE(block);
    EXPECT_DEATH(pool->deallocate_block(block->data + 8), "no block of the pool");
    pool->deallocate(*block);
    EXPECT_DEATH(pool->deallocate(*block), "free already");
}
#endif

TEST(TwoEndedStackDeath, TheWrongOrderIsCaught) {
    auto stack = TwoEndedStack::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    for (TwoEndedStack::End* end : {&stack->front(), &stack->back()}) {
        const auto first = end->allocate(64);
        const auto second = end->allocate(64);
        ASSERT_TRUE(first && second);
        EXPECT_DEATH(end->deallocate(*first), "newest block only");
        EXPECT_DEATH((void)end->reallocate(*first, 128), "newest block only");
    }
}

TEST(TwoEndedStackDeath, AStaleMarkerAndOneOfTheOtherEndAreCaught) {
    auto stack = TwoEndedStack::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto low = stack->back().mark();
    ASSERT_TRUE(stack->back().allocate(64));
    const auto high = stack->back().mark();
    EXPECT_DEATH(stack->front().pop_to(low), "other end");
    stack->back().pop_to(low);
    EXPECT_DEATH(stack->back().pop_to(high), "freed already");
}

}  // namespace
