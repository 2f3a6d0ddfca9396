#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::RingBuffer;
using ouro::Status;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

static_assert(std::ranges::random_access_range<RingBuffer<int>>);
static_assert(std::ranges::random_access_range<const RingBuffer<Tracked>>);
static_assert(std::ranges::sized_range<RingBuffer<int>> && std::ranges::common_range<RingBuffer<int>>);
static_assert(std::sortable<RingBuffer<int>::iterator>);
static_assert(std::convertible_to<RingBuffer<int>::iterator, RingBuffer<int>::const_iterator>);

// Random calls beside std::deque.
template <class T>
class RingModel {
public:
    RingModel(ouro::MemoryResource& resource, std::size_t capacity, std::uint64_t seed)
        : ring_(*RingBuffer<T>::create(resource, capacity)), random_(seed) {}

    void step() {
        const std::uint32_t number = random_.below(1000000);
        const bool full = model_.size() == ring_.capacity();
        switch (random_.below(8)) {
            case 0:
            case 1:
                ASSERT_EQ(ring_.push_back(T(number)).status(),
                          full ? Status::capacity_exhausted : Status::ok);
                if (!full) model_.push_back(number);
                break;
            case 2:
                ASSERT_EQ(ring_.push_front(T(number)).status(),
                          full ? Status::capacity_exhausted : Status::ok);
                if (!full) model_.push_front(number);
                break;
            case 3:
                ASSERT_EQ(ring_.push_back_overwriting(T(number)), T(number));
                if (full) model_.pop_front();
                model_.push_back(number);
                break;
            case 4:
                ASSERT_EQ(ring_.push_front_overwriting(T(number)), T(number));
                if (full) model_.pop_back();
                model_.push_front(number);
                break;
            case 5:
                pop(ring_.pop_front(), true);
                break;
            case 6:
                pop(ring_.pop_back(), false);
                break;
            default:
                drop(random_.below(4));
        }
    }
    [[nodiscard]] bool equal() {
        const auto same = [](const T& one, std::uint32_t other) { return one == T(other); };
        const auto parts = ring_.parts();
        if (parts.first.size() + parts.second.size() != model_.size()) return false;
        const auto middle = model_.begin() + static_cast<std::ptrdiff_t>(parts.first.size());
        return std::ranges::equal(ring_, model_, same) &&
               std::equal(parts.first.begin(), parts.first.end(), model_.begin(), same) &&
               std::equal(parts.second.begin(), parts.second.end(), middle, same);
    }

private:
    void pop(ouro::Expected<T> value, bool from_front) {
        ASSERT_EQ(value.status(), model_.empty() ? Status::not_found : Status::ok);
        if (model_.empty()) return;
        ASSERT_EQ(*value, T(from_front ? model_.front() : model_.back()));
        if (from_front) {
            model_.pop_front();
        } else {
            model_.pop_back();
        }
    }
    void drop(std::uint32_t count) {
        const std::size_t expected = std::min<std::size_t>(count, model_.size());
        const auto end = static_cast<std::ptrdiff_t>(expected);
        if (random_.chance(0.5)) {
            ASSERT_EQ(ring_.drop_front(count), expected);
            model_.erase(model_.begin(), model_.begin() + end);
        } else {
            ASSERT_EQ(ring_.drop_back(count), expected);
            model_.erase(model_.end() - end, model_.end());
        }
    }

    RingBuffer<T> ring_;
    std::deque<std::uint32_t> model_;
    Random random_;
};

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
                model.step();
                if (testing::Test::HasFatalFailure()) return;
                ASSERT_TRUE(model.equal()) << "step " << step;
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
