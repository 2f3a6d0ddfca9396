#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::PooledVector;
using ouro::Random;
using ouro::Status;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

static_assert(std::ranges::contiguous_range<PooledVector<int>>);
static_assert(std::ranges::contiguous_range<const PooledVector<Tracked>>);
static_assert(std::ranges::sized_range<PooledVector<int>> && std::ranges::common_range<PooledVector<int>>);
static_assert(std::movable<PooledVector<Tracked>> && !std::copyable<PooledVector<int>>);

template <class T>
T make(std::uint32_t number) {
    if constexpr (std::is_same_v<T, std::string>) {
        return "a text too long to be stored inside, number " + std::to_string(number);
    } else {
        return T(number);
    }
}

// Random calls beside std::vector, compared after each.
template <class T>
class VectorModel {
public:
    VectorModel(ouro::MemoryResource& resource, std::uint64_t seed) : vector_(resource), random_(seed) {}

    void step() {
        const std::uint32_t number = random_.below(1000000);
        const std::size_t index = random_.below(static_cast<std::uint32_t>(model_.size() + 1));
        switch (random_.below(12)) {
            case 0:
            case 1:
            case 2:
            case 3:
                ASSERT_TRUE(vector_.push_back(make<T>(number)));
                model_.push_back(make<T>(number));
                break;
            case 4:
            case 5: {
                const auto made = vector_.insert(vector_.begin() + index, make<T>(number));
                ASSERT_TRUE(made);
                ASSERT_EQ(**made, make<T>(number));
                model_.insert(model_.begin() + static_cast<std::ptrdiff_t>(index), make<T>(number));
                break;
            }
            case 6:
                erase_range(index);
                break;
            case 7:
                swap_remove(index);
                break;
            case 8:
                ASSERT_EQ(vector_.resize(index), Status::ok);
                model_.resize(index);
                break;
            case 9:
                ASSERT_EQ(vector_.resize(model_.size() + index % 7), Status::ok);
                model_.resize(model_.size() + index % 7);
                break;
            case 10:
                ASSERT_EQ(vector_.shrink_to_fit(), Status::ok);
                break;
            default:
                ASSERT_EQ(vector_.reserve(index * 2), Status::ok);
                ASSERT_GE(vector_.capacity(), index * 2);
        }
    }
    [[nodiscard]] bool equal() const { return std::ranges::equal(vector_, model_); }

private:
    void erase_range(std::size_t index) {
        const std::size_t end = std::min(model_.size(), index + random_.below(5));
        const auto after = vector_.erase(vector_.begin() + index, vector_.begin() + end);
        ASSERT_EQ(static_cast<std::size_t>(after - vector_.begin()), index);
        model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(index),
                     model_.begin() + static_cast<std::ptrdiff_t>(end));
    }
    void swap_remove(std::size_t index) {
        if (index == model_.size()) return;
        vector_.swap_remove(index);
        if (index + 1 != model_.size()) model_[index] = std::move(model_.back());
        model_.pop_back();
    }

    PooledVector<T> vector_;
    std::vector<T> model_;
    Random random_;
};

template <class T>
class PooledVectorOf : public testing::Test {};
using Elements = testing::Types<std::uint8_t, std::uint32_t, double, std::string, Tracked>;
TYPED_TEST_SUITE(PooledVectorOf, Elements);

TYPED_TEST(PooledVectorOf, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        {
            VectorModel<TypeParam> model(heap, seed);
            for (int step = 0; step < 1000; ++step) {
                model.step();
                if (testing::Test::HasFatalFailure()) return;
                ASSERT_TRUE(model.equal()) << "step " << step;
            }
        }
        ASSERT_EQ(heap.live_blocks(), 0U);
        ASSERT_EQ(Tracked::live, 0);
    }
}

TEST(PooledVector, AnElementCanBeAddedToItself) {
    StrictResource heap;
    PooledVector<std::uint32_t> numbers(heap);
    PooledVector<std::string> texts(heap);
    ASSERT_TRUE(numbers.push_back(7));
    ASSERT_TRUE(texts.push_back(make<std::string>(7)));
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(numbers.push_back(numbers.front()));
        ASSERT_TRUE(texts.push_back(texts.front()));
        ASSERT_TRUE(texts.insert(texts.begin() + 1, texts.back()));
    }
    ASSERT_EQ(numbers.append(numbers.span()), Status::ok);
    ASSERT_EQ(numbers.resize(10000, numbers.back()), Status::ok);
    EXPECT_TRUE(std::ranges::all_of(numbers, [](std::uint32_t value) { return value == 7; }));
    EXPECT_TRUE(std::ranges::all_of(texts, [](const std::string& t) { return t == make<std::string>(7); }));
}

TEST(PooledVector, GrowsInPlaceWhereTheResourceCan) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{16} << 20});
    ASSERT_TRUE(frame);
    PooledVector<std::uint64_t> numbers(*frame);
    ASSERT_TRUE(numbers.push_back(0));
    const std::uint64_t* const first = numbers.data();
    for (std::uint64_t i = 1; i < 100000; ++i)
        ASSERT_TRUE(numbers.push_back(i));
    EXPECT_EQ(numbers.data(), first);
    EXPECT_EQ(numbers[99999], 99999U);
}

TEST(PooledVector, KeepsItsCapacityUntilAskedToShrink) {
    StrictResource heap;
    PooledVector<std::uint32_t> numbers(heap);
    ASSERT_EQ(numbers.resize(1000), Status::ok);
    const std::size_t capacity = numbers.capacity();
    heap.fail_calls(0);
    for (int round = 0; round < 3; ++round) {
        numbers.clear();
        ASSERT_EQ(numbers.resize(1000, 5), Status::ok);
    }
    EXPECT_EQ(numbers.capacity(), capacity);
    numbers.pop_back();
    EXPECT_EQ(numbers.shrink_to_fit(), Status::out_of_memory);
    EXPECT_EQ(numbers.size(), 999U);
    heap.stop_failing();
    numbers.clear();
    EXPECT_EQ(numbers.shrink_to_fit(), Status::ok);
    EXPECT_EQ(heap.live_blocks(), 0U);
}

TEST(PooledVector, HugeRequestsAreRefused) {
    StrictResource heap;
    PooledVector<std::uint64_t> numbers(heap);
    ASSERT_TRUE(numbers.push_back(1));
    EXPECT_EQ(numbers.reserve(SIZE_MAX), Status::size_overflow);
    EXPECT_EQ(numbers.resize(SIZE_MAX / 8), Status::size_overflow);
    EXPECT_EQ(numbers.reserve(PTRDIFF_MAX / 8), Status::capacity_exhausted);
    EXPECT_EQ(numbers.reserve(0), Status::ok);
    EXPECT_EQ(numbers.append({}), Status::ok);
    EXPECT_EQ(numbers.size(), 1U);
    EXPECT_EQ(numbers.at(1).status(), Status::out_of_range);
    EXPECT_EQ(**numbers.at(0), 1U);
}

TEST(PooledVector, WhereDoublingFailsTheNeededMayStillFit) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    PooledVector<std::byte> bytes(*frame);
    ASSERT_EQ(bytes.resize(40000), Status::ok);
    ASSERT_EQ(bytes.resize(50000), Status::ok);
    EXPECT_EQ(bytes.resize(70000), Status::capacity_exhausted);
    EXPECT_EQ(bytes.size(), 50000U);
}

TEST(PooledVector, MovesAndClones) {
    StrictResource heap;
    StrictResource other_heap;
    PooledVector<std::string> texts(heap);
    ASSERT_TRUE(texts.emplace_back("one"));
    ASSERT_TRUE(texts.emplace_back("two"));
    auto copy = texts.clone();
    ASSERT_TRUE(copy);
    EXPECT_EQ(*copy, texts);
    PooledVector<std::string> target(other_heap);
    ASSERT_TRUE(target.emplace_back("gone"));
    target = std::move(texts);
    EXPECT_EQ(target, *copy);
    EXPECT_TRUE(target.allocator() == ouro::Allocator(heap));
    EXPECT_EQ(texts.size(), 0U);
    ASSERT_TRUE(texts.emplace_back("still usable"));
    EXPECT_EQ(other_heap.live_blocks(), 0U);
}

TEST(PooledVector, StandardAlgorithmsWork) {
    StrictResource heap;
    PooledVector<std::int32_t> numbers(heap);
    ASSERT_EQ(numbers.resize(100), Status::ok);
    std::iota(numbers.begin(), numbers.end(), -50);
    std::ranges::sort(numbers, std::ranges::greater{});
    EXPECT_EQ(numbers.front(), 49);
    EXPECT_EQ(numbers.back(), -50);
    auto even = numbers | std::views::filter([](std::int32_t value) { return value % 2 == 0; });
    EXPECT_EQ(std::ranges::distance(even), 50);
}

}  // namespace
