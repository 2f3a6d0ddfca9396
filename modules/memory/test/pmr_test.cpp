#include "bad_requests.hpp"
#include "resource_model.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pmr.hpp>

#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Allocator;
using ouro::FrameAllocator;
using ouro::FromPmr;
using ouro::PmrResource;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{4} << 20;

TEST(PmrResource, ServesContainers) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    PmrResource resource(*frame);
    std::pmr::vector<std::pmr::string> words(&resource);
    for (int i = 0; i < 1000; ++i)
        words.emplace_back("a string that is too long to live inside its object, number " +
                           std::to_string(i));
    EXPECT_TRUE(frame->owns(words.data()));
    EXPECT_TRUE(frame->owns(words.back().data()));
    EXPECT_TRUE(words.back().ends_with("999"));
    std::pmr::map<int, int> squares(&resource);
    for (int i = 0; i < 100; ++i)
        squares[i] = i * i;
    EXPECT_EQ(squares[99], 9801);
    EXPECT_TRUE(frame->owns(&squares[50]));
}

TEST(PmrResource, FailsTheWayTheStandardKnows) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    PmrResource resource(*frame);
    std::pmr::vector<int> numbers(&resource);
    EXPECT_THROW(numbers.resize(100'000), std::bad_alloc);
    EXPECT_TRUE(numbers.empty());
    // Without optimisation gcc sees the size, and warns.
    const volatile std::size_t senseless = SIZE_MAX;
    EXPECT_THROW((void)resource.allocate(senseless, 16), std::bad_alloc);
    numbers.resize(1000);
    EXPECT_EQ(numbers.size(), 1000U);
}

TEST(PmrResource, GivesAnAddressForNothingToo) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    PmrResource resource(*frame);
    void* nothing = resource.allocate(0);
    ASSERT_NE(nothing, nullptr);
    resource.deallocate(nothing, 0);
    EXPECT_EQ(frame->used_bytes(), 0U);
}

TEST(PmrResource, IsEqualToItself) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    PmrResource one(*frame);
    const PmrResource other(*frame);
    EXPECT_TRUE(one == one);
    EXPECT_FALSE(one == other);
    EXPECT_TRUE(one.allocator() == other.allocator());
}

TEST(FromPmr, PassesTheContractsTests) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::pmr::unsynchronized_pool_resource pool;
        FromPmr resource(pool, {.name = "pool"});
        ouro::testing_support::ResourceModel model(resource, {.asks_owner = false}, seed);
        for (int step = 0; step < 3000; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
        }
        EXPECT_GT(resource.stats().live_blocks, 0U);
        EXPECT_EQ(resource.stats().live_blocks, model.live_blocks());
        model.free_all();
        EXPECT_EQ(resource.stats().live_bytes, 0U);
        EXPECT_EQ(resource.stats().live_blocks, 0U);
        EXPECT_GT(resource.stats().peak_bytes, 0U);
        EXPECT_EQ(resource.check(), Status::ok);
    }
}

TEST(FromPmr, SenselessRequestsHaveTheirStatus) {
    FromPmr resource(*std::pmr::new_delete_resource());
    resource.deallocate({});
    EXPECT_EQ(resource.stats().allocations, 0U);
    ouro::testing_support::expect_bad_requests_refused(resource);
    // Not the C++ runtime's: a sanitizer's ends the program instead.
    FromPmr nothing(*std::pmr::null_memory_resource());
    ouro::testing_support::expect_shortage_of_the_largest(nothing);
    EXPECT_EQ(resource.info().name, "pmr");
    EXPECT_TRUE(resource.is_equal(resource));
}

TEST(FromPmr, TakesTheSizeAskedAsWellAsTheSizeGiven) {
    FromPmr resource(*std::pmr::new_delete_resource());
    const auto one = resource.allocate(100, 64);
    const auto two = resource.allocate(100, 64);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->size, 128U);
    resource.deallocate(*one, 64);
    resource.deallocate({two->data, 100}, 64);
    EXPECT_EQ(resource.stats().live_bytes, 0U);
    EXPECT_EQ(resource.allocate(SIZE_MAX, 64).status(), Status::size_overflow);
}

TEST(FromPmr, WhatIsThrownBelowIsAStatus) {
    FromPmr nothing(*std::pmr::null_memory_resource());
    EXPECT_EQ(nothing.allocate(16).status(), Status::out_of_memory);
    EXPECT_EQ(nothing.stats().failures, 1U);
    EXPECT_EQ(nothing.stats().live_bytes, 0U);

    std::byte buffer[4096];
    std::pmr::monotonic_buffer_resource monotonic(buffer, sizeof(buffer), std::pmr::null_memory_resource());
    FromPmr small(monotonic, {.frees_blocks = false});
    EXPECT_FALSE(small.info().frees_blocks);
    const auto block = small.allocate(1000);
    ASSERT_TRUE(block);
    EXPECT_EQ(small.reallocate(*block, 8000).status(), Status::out_of_memory);
    EXPECT_EQ(small.stats().live_bytes, block->size);
    small.deallocate(*block);
}

TEST(FromPmr, AndBackAgain) {
    std::pmr::unsynchronized_pool_resource pool;
    FromPmr inner(pool);
    {
        PmrResource outer{Allocator(inner)};
        std::pmr::vector<std::pmr::string> words(&outer);
        for (int i = 0; i < 100; ++i)
            words.emplace_back(100, 'x');
        EXPECT_GT(inner.stats().live_blocks, 100U);
    }
    EXPECT_EQ(inner.stats().live_blocks, 0U);
    EXPECT_EQ(inner.stats().live_bytes, 0U);
}

}  // namespace
