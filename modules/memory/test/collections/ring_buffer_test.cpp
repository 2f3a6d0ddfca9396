#include "ring_model.hpp"
#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::RingBuffer;
using ouro::Status;
using ouro::testing_support::RingModel;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

static_assert(std::ranges::random_access_range<RingBuffer<int>>);
static_assert(std::ranges::random_access_range<const RingBuffer<Tracked>>);
static_assert(std::ranges::sized_range<RingBuffer<int>> && std::ranges::common_range<RingBuffer<int>>);
static_assert(std::sortable<RingBuffer<int>::iterator>);
static_assert(std::convertible_to<RingBuffer<int>::iterator, RingBuffer<int>::const_iterator>);

template <class T>
class RingBufferOf : public testing::Test {};
using Elements = testing::Types<std::uint32_t, Tracked>;
TYPED_TEST_SUITE(RingBufferOf, Elements);

TYPED_TEST(RingBufferOf, RandomCallsMatchTheModel) {
    for (const std::size_t capacity : {1U, 2U, 3U, 7U, 8U, 50U}) {
        SCOPED_TRACE("capacity and seed " + std::to_string(capacity));
        StrictResource heap;
        {
            RingModel<TypeParam> model(heap, capacity, capacity);
            for (int step = 0; step < 2000; ++step) {
                SCOPED_TRACE("step " + std::to_string(step));
                ASSERT_NO_FATAL_FAILURE(model.step());
                ASSERT_NO_FATAL_FAILURE(model.verify());
            }
        }
        ASSERT_EQ(heap.live_blocks(), 0U);
        ASSERT_EQ(Tracked::live, 0);
    }
}

TEST(RingBuffer, SenselessCapacitiesHaveTheirStatus) {
    StrictResource heap;
    EXPECT_EQ(RingBuffer<int>::create(heap, 0).status(), Status::zero_size);
    EXPECT_EQ(RingBuffer<int>::create(heap, SIZE_MAX).status(), Status::size_overflow);
    EXPECT_EQ(RingBuffer<int>::create(heap, SIZE_MAX / 16).status(), Status::capacity_exhausted);
    heap.fail_calls(0);
    EXPECT_EQ(RingBuffer<int>::create(heap, 1).status(), Status::out_of_memory);
}

TEST(RingBuffer, AllocatesOnce) {
    StrictResource heap;
    auto ring = RingBuffer<std::uint64_t>::create(heap, 100);
    ASSERT_TRUE(ring);
    heap.fail_calls(0);
    for (std::uint64_t i = 0; i < 1000; ++i)
        ring->push_back_overwriting(i);
    EXPECT_EQ(heap.calls(), 0U);
    EXPECT_EQ(ring->front(), 900U);
    EXPECT_EQ(ring->back(), 999U);
}

TEST(RingBuffer, AFullRingDoesNotConsumeItsArgument) {
    StrictResource heap;
    auto ring = RingBuffer<std::string>::create(heap, 1);
    ASSERT_TRUE(ring);
    ASSERT_TRUE(ring->push_back("first"));
    std::string text(100, 'x');
    EXPECT_EQ(ring->push_back(std::move(text)).status(), Status::capacity_exhausted);
    EXPECT_EQ(ring->push_front(std::move(text)).status(), Status::capacity_exhausted);
    EXPECT_EQ(text, std::string(100, 'x'));
    EXPECT_EQ(ring->push_back_overwriting(ring->front()), "first");
}

TEST(RingBuffer, MovesAndSorts) {
    StrictResource heap;
    auto ring = RingBuffer<std::uint32_t>::create(heap, 10);
    ASSERT_TRUE(ring);
    Random random(1);
    for (int i = 0; i < 17; ++i)
        ring->push_back_overwriting(random.below(100));
    RingBuffer<std::uint32_t> moved = *std::move(ring);
    std::ranges::sort(moved);
    EXPECT_TRUE(std::ranges::is_sorted(moved));
    EXPECT_EQ(moved.size(), 10U);
    EXPECT_EQ(moved.end() - moved.begin(), 10);
    EXPECT_EQ(moved.begin()[3], moved[3]);
    EXPECT_EQ(ring->capacity(), 0U);
    EXPECT_EQ(ring->push_back(1).status(), Status::capacity_exhausted);
}

}  // namespace
