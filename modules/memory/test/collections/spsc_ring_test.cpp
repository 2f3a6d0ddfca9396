#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::SpscRing;
using ouro::Status;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

TEST(SpscRing, SenselessCapacitiesHaveTheirStatus) {
    StrictResource heap;
    EXPECT_EQ(SpscRing<int>::create(heap, 0).status(), Status::zero_size);
    EXPECT_EQ(SpscRing<int>::create(heap, SIZE_MAX).status(), Status::size_overflow);
    EXPECT_EQ(SpscRing<int>::create(heap, SIZE_MAX / 16).status(), Status::capacity_exhausted);
    heap.fail_calls(0);
    EXPECT_EQ(SpscRing<int>::create(heap, 1).status(), Status::out_of_memory);
}

TEST(SpscRing, HoldsExactlyItsCapacity) {
    StrictResource heap;
    for (const std::size_t capacity : {1U, 2U, 3U, 100U}) {
        auto ring = SpscRing<Tracked>::create(heap, capacity);
        ASSERT_TRUE(ring);
        for (std::uint32_t i = 0; i < capacity; ++i)
            ASSERT_EQ(ring->emplace(i), Status::ok);
        Tracked refused(77);
        EXPECT_EQ(ring->push(std::move(refused)), Status::capacity_exhausted);
        EXPECT_EQ(refused.value, 77U);
        EXPECT_EQ(ring->size(), capacity);
        EXPECT_EQ(ring->peek()->value, 0U);
        EXPECT_EQ(ring->pop()->value, 0U);
        EXPECT_EQ(ring->push(std::move(refused)), Status::ok);
        // Some elements stay, and are destroyed with the ring.
    }
    EXPECT_EQ(Tracked::live, 0);
}

TEST(SpscRing, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        Random random(seed);
        auto ring = SpscRing<std::uint32_t>::create(heap, 1 + random.below(20));
        ASSERT_TRUE(ring);
        std::deque<std::uint32_t> model;
        std::vector<std::uint32_t> batch;
        std::uint32_t next = 0;
        for (int step = 0; step < 5000; ++step) {
            if (random.chance(0.5)) {
                batch.resize(random.below(8));
                for (std::size_t i = 0; i < batch.size(); ++i)
                    batch[i] = next + static_cast<std::uint32_t>(i);
                const std::size_t pushed = ring->push_some(batch);
                ASSERT_EQ(pushed, std::min(batch.size(), ring->capacity() - model.size()));
                model.insert(model.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(pushed));
                next += static_cast<std::uint32_t>(pushed);
            } else {
                batch.resize(random.below(8));
                const std::size_t popped = ring->pop_some(batch);
                ASSERT_EQ(popped, std::min(batch.size(), model.size()));
                for (std::size_t i = 0; i < popped; ++i) {
                    ASSERT_EQ(batch[i], model.front());
                    model.pop_front();
                }
            }
            ASSERT_EQ(ring->size(), model.size());
        }
        SpscRing<std::uint32_t> moved = *std::move(ring);
        ASSERT_EQ(moved.size(), model.size());
        while (!model.empty()) {
            ASSERT_EQ(*moved.pop(), model.front());
            model.pop_front();
        }
        ASSERT_EQ(moved.pop().status(), Status::not_found);
        ASSERT_EQ(moved.peek(), nullptr);
    }
}

}  // namespace
