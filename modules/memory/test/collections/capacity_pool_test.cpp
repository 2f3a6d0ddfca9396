#include "resource_model.hpp"
#include "strict_resource.hpp"

#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::CapacityPool;
using ouro::PooledVector;
using ouro::Status;
using ouro::testing_support::ResourceModel;
using ouro::testing_support::StrictResource;

TEST(CapacityPool, ABlockOfADeadVectorServesTheNext) {
    StrictResource heap;
    CapacityPool pool(heap);
    for (int round = 0; round < 10; ++round) {
        PooledVector<std::uint32_t> numbers(pool);
        PooledVector<std::uint64_t> others(pool);
        for (std::uint32_t i = 0; i < 1000; ++i) {
            ASSERT_TRUE(numbers.push_back(i));
            ASSERT_TRUE(others.push_back(i));
        }
        ASSERT_EQ(pool.check(), Status::ok);
    }
    const auto fetched = pool.pool_stats().fetched;
    {
        PooledVector<char> text(pool);
        ASSERT_EQ(text.resize(3000), Status::ok);
        EXPECT_EQ(text.capacity(), 4096U);
    }
    EXPECT_EQ(pool.pool_stats().fetched, fetched);
    EXPECT_GT(pool.pool_stats().reused, 20U);
    EXPECT_EQ(pool.stats().live_blocks, 0U);
    EXPECT_EQ(pool.stats().live_bytes, 0U);
}

TEST(CapacityPool, TrimReturnsTheLargestFirst) {
    StrictResource heap;
    CapacityPool pool(heap);
    for (const std::size_t size : {100U, 1000U, 10000U}) {
        const auto block = pool.allocate(size, 16);
        ASSERT_TRUE(block);
        pool.deallocate(*block, 16);
    }
    EXPECT_EQ(pool.pool_stats().kept_bytes, 128U + 1024U + 16384U);
    EXPECT_EQ(pool.trim(2000), 16384U);
    EXPECT_EQ(pool.pool_stats().kept_blocks, 2U);
    EXPECT_EQ(pool.trim(), 128U + 1024U);
    EXPECT_EQ(heap.live_blocks(), 0U);
    EXPECT_EQ(pool.check(), Status::ok);
}

TEST(CapacityPool, LimitsAreKept) {
    StrictResource heap;
    CapacityPool pool(heap, {.largest_block_bytes = 5000, .max_kept_bytes = 1500});
    const auto small = pool.allocate(1000, 16);
    const auto second = pool.allocate(1000, 16);
    const auto large = pool.allocate(4097, 16);
    const auto strict = pool.allocate(100, 4096);
    ASSERT_TRUE(small && second && large && strict);
    EXPECT_EQ(small->size, 1024U);
    EXPECT_EQ(large->size, 4097U);
    EXPECT_TRUE(ouro::is_aligned(strict->data, 4096));
    pool.deallocate(*small, 16);
    pool.deallocate(*second, 16);
    pool.deallocate(*large, 16);
    pool.deallocate(*strict, 4096);
    EXPECT_EQ(pool.pool_stats().kept_bytes, 1024U);
    EXPECT_EQ(heap.live_blocks(), 1U);
}

TEST(CapacityPool, SenselessRequestsHaveTheirStatus) {
    StrictResource heap;
    CapacityPool pool(heap);
    EXPECT_EQ(pool.allocate(0, 16).status(), Status::zero_size);
    EXPECT_EQ(pool.allocate(16, 3).status(), Status::bad_alignment);
    EXPECT_EQ(pool.allocate(SIZE_MAX, 16).status(), Status::size_overflow);
    const auto block = pool.allocate(16, 16);
    ASSERT_TRUE(block);
    EXPECT_EQ(pool.reallocate(*block, 0, 16).status(), Status::zero_size);
    heap.fail_calls(0);
    EXPECT_EQ(pool.reallocate(*block, 4000, 16).status(), Status::out_of_memory);
    heap.stop_failing();
    pool.deallocate(*block, 16);
    pool.deallocate({}, 16);
    EXPECT_EQ(pool.stats().failures, 5U);
    EXPECT_EQ(pool.stats().live_bytes, 0U);
}

TEST(CapacityPool, RandomCallsKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        CapacityPool pool(heap, {.largest_block_bytes = 1024, .max_kept_bytes = 20000});
        ResourceModel model(pool, {}, seed);
        for (int step = 0; step < 3000; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
            ASSERT_TRUE(step % 500 != 0 || pool.check() == Status::ok);
        }
        model.free_all();
        ASSERT_EQ(pool.stats().live_bytes, 0U);
        ASSERT_EQ(pool.stats().live_blocks, 0U);
        pool.trim();
        ASSERT_EQ(heap.live_blocks(), 0U);
    }
}

}  // namespace
