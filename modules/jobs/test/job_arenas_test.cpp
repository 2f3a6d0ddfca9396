#include "jobs_support.hpp"

#include <ouro/jobs/job.hpp>
#include <ouro/jobs/job_arenas.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <cstring>

namespace ouro {
namespace {

using jobs_test::make_pool;

constexpr std::size_t kArenaBytes = std::size_t{256} << 10;

JobArenas make_arenas(JobPool& pool, JobArenasOptions options = {}) {
    options.max_bytes = kArenaBytes;
    auto arenas = JobArenas::create(pool, options);
    OURO_ASSERT(arenas.has_value(), "a test needs its arenas");
    return *std::move(arenas);
}

TEST(JobArenas, ScopesGiveMemoryAndTakeItBack) {
    JobPool pool = make_pool(0);
    JobArenas arenas = make_arenas(pool);
    const std::byte* first = nullptr;
    for (int round = 0; round < 3; ++round) {
        ScratchScope scratch(arenas);
        const auto block = scratch.allocate(1000, 64);
        ASSERT_TRUE(block);
        if (first == nullptr) first = block->data;
        EXPECT_EQ(block->data, first);
        EXPECT_EQ(arenas.stats().lent_arenas, 1U);
    }
    const JobArenasStats stats = arenas.stats();
    EXPECT_EQ(stats.arenas, 4U);
    EXPECT_EQ(stats.lent_arenas, 0U);
    EXPECT_EQ(stats.scopes, 3U);
    EXPECT_GE(stats.high_water_bytes, 1000U);
    EXPECT_LT(stats.high_water_bytes, 2000U);
    EXPECT_EQ(stats.total_high_water_bytes, stats.high_water_bytes);
    EXPECT_EQ(arenas.check(), Status::ok);
}

TEST(JobArenas, InnerScopesLeaveWhatOuterOnesHave) {
    JobPool pool = make_pool(0);
    JobArenas arenas = make_arenas(pool, {.outside_threads = 1});
    ScratchScope outer(arenas);
    const auto kept = outer.allocate(100);
    ASSERT_TRUE(kept);
    std::memset(kept->data, 7, 100);
    for (int round = 0; round < 10; ++round) {
        ScratchScope inner(arenas);
        const auto block = inner.allocate(10'000);
        ASSERT_TRUE(block);
        EXPECT_GE(block->data, kept->data + 100);
        std::memset(block->data, 8, 10'000);
    }
    for (std::size_t i = 0; i < 100; ++i)
        ASSERT_EQ(kept->data[i], std::byte{7});
    EXPECT_EQ(arenas.stats().refused_scopes, 0U);
}

TEST(JobArenas, TwoSetsOnOneThreadStayApart) {
    JobPool pool = make_pool(0);
    JobArenas one = make_arenas(pool, {.outside_threads = 1});
    JobArenas two = make_arenas(pool, {.outside_threads = 1});
    ScratchScope of_one(one);
    ScratchScope of_two(two);
    ScratchScope of_one_again(one);
    EXPECT_TRUE(of_one.has_arena() && of_two.has_arena() && of_one_again.has_arena());
    EXPECT_EQ(&of_one.allocator().resource(), &of_one_again.allocator().resource());
    EXPECT_NE(&of_one.allocator().resource(), &of_two.allocator().resource());
}

TEST(JobArenas, RefusesMoreThreadsThanItHasArenasFor) {
    JobPool pool = make_pool(0);
    EXPECT_EQ(JobArenas::create(pool, {.outside_threads = kMaxOutsideThreads + 1}).status(),
              Status::bad_argument);
    JobArenas arenas = make_arenas(pool, {.outside_threads = 0});
    {
        ScratchScope scratch(arenas);
        EXPECT_FALSE(scratch.has_arena());
        EXPECT_EQ(scratch.allocate(1).status(), Status::capacity_exhausted);
    }
    EXPECT_EQ(arenas.stats().refused_scopes, 1U);
}

TEST(JobArenas, FailsLikeAFrameWhenAnArenaIsFull) {
    JobPool pool = make_pool(0);
    JobArenas arenas = make_arenas(pool);
    {
        ScratchScope scratch(arenas);
        EXPECT_EQ(scratch.allocate(2 * kArenaBytes).status(), Status::capacity_exhausted);
        EXPECT_TRUE(scratch.allocate(kArenaBytes / 2));
    }
    EXPECT_EQ(arenas.check(), Status::ok);
}

TEST(JobArenas, TheHighWaterMarkKnowsWhatWasGivenBackBefore) {
    JobPool pool = make_pool(0);
    JobArenas arenas = make_arenas(pool);
    {
        ScratchScope scratch(arenas);
        PooledVector<int> numbers(scratch.allocator());
        ASSERT_EQ(numbers.resize(5000), Status::ok);
    }
    EXPECT_GE(arenas.stats().high_water_bytes, 5000 * sizeof(int));
}

TEST(JobArenas, MoveWithTheirScopesOpen) {
    JobPool pool = make_pool(0);
    JobArenas arenas = make_arenas(pool);
    {
        ScratchScope scratch(arenas);
        JobArenas moved(std::move(arenas));
        EXPECT_TRUE(scratch.allocate(10));
        arenas = std::move(moved);
    }
    EXPECT_EQ(arenas.check(), Status::ok);
}

// Bodies write all of what they were given; somebody else in the same memory would be noticed.
void fill_and_check(JobPool& pool, JobArenas& arenas, std::size_t index, int depth) {
    ScratchScope scratch(arenas);
    ASSERT_TRUE(scratch.has_arena());
    const auto mark = static_cast<unsigned char>(index * 31 + static_cast<std::size_t>(depth));
    const std::size_t size = 200 + index % 5 * 300;
    const auto block = scratch.allocate(size);
    ASSERT_TRUE(block);
    std::memset(block->data, mark, size);
    if (depth != 0) {
        parallel_for(pool, 6, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                fill_and_check(pool, arenas, index + i, depth - 1);
        });
    }
    for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(block->data[i], std::byte{mark});
}

TEST(JobArenas, NestedLoopsShareNothing) {
    for (const unsigned workers : {0U, 1U, 3U}) {
        JobPool pool = make_pool(workers);
        JobArenas arenas = make_arenas(pool);
        for (int round = 0; round < 10; ++round) {
            parallel_for(pool, 8, 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    fill_and_check(pool, arenas, i, 2);
            });
        }
        EXPECT_EQ(arenas.stats().scopes, 10U * 8 * (1 + 6 + 36));
        EXPECT_EQ(arenas.check(), Status::ok);
    }
}

}  // namespace
}  // namespace ouro
