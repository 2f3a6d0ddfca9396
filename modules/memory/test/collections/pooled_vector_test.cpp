#include "strict_resource.hpp"
#include "tracked.hpp"
#include "vector_model.hpp"

#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

// Owns by an address alone, and counts how often it is moved one by one.
struct Relocatable {
    Relocatable() = default;
    explicit Relocatable(int number) : value(number) {}
    Relocatable(Relocatable&& other) noexcept : value(std::exchange(other.value, 0)) { ++moves; }
    Relocatable& operator=(Relocatable&&) noexcept = default;
    ~Relocatable() { ends += value != 0 ? 1 : 0; }

    int value = 0;
    static inline int moves = 0;
    static inline int ends = 0;
};

}  // namespace

template <>
inline constexpr bool ouro::kRelocatesAsBytes<Relocatable> = true;

namespace {

using ouro::PooledVector;
using ouro::Status;
using ouro::testing_support::make_element;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;
using ouro::testing_support::VectorModel;

static_assert(std::ranges::contiguous_range<PooledVector<int>>);
static_assert(std::ranges::contiguous_range<const PooledVector<Tracked>>);
static_assert(std::ranges::sized_range<PooledVector<int>> && std::ranges::common_range<PooledVector<int>>);
static_assert(std::movable<PooledVector<Tracked>> && !std::copyable<PooledVector<int>>);

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
                SCOPED_TRACE("step " + std::to_string(step));
                ASSERT_NO_FATAL_FAILURE(model.step());
                ASSERT_NO_FATAL_FAILURE(model.verify());
            }
            ASSERT_EQ(model.refusals(), 0U);
        }
        ASSERT_EQ(heap.live_blocks(), 0U);
        ASSERT_EQ(Tracked::live, 0);
    }
}

TEST(PooledVector, WhatMayBeRelocatedAsBytesIsNotMovedOneByOne) {
    StrictResource heap;
    {
        PooledVector<Relocatable> vector(heap);
        for (int i = 1; i <= 1000; ++i)
            ASSERT_TRUE(vector.emplace_back(i));
        ASSERT_EQ(vector.shrink_to_fit(), Status::ok);
        EXPECT_EQ(Relocatable::moves, 0);
        EXPECT_EQ(Relocatable::ends, 0);
        EXPECT_EQ(vector.back().value, 1000);
    }
    EXPECT_EQ(Relocatable::ends, 1000);
}

TEST(PooledVector, SharedOwnersSurviveGrowth) {
    StrictResource heap;
    const auto owned = std::make_shared<int>(5);
    {
        PooledVector<std::shared_ptr<int>> vector(heap);
        for (int i = 0; i < 100; ++i)
            ASSERT_TRUE(vector.push_back(owned));
        EXPECT_EQ(owned.use_count(), 101);
    }
    EXPECT_EQ(owned.use_count(), 1);
}

TEST(PooledVector, AnElementCanBeAddedToItself) {
    StrictResource heap;
    PooledVector<std::uint32_t> numbers(heap);
    PooledVector<std::string> texts(heap);
    ASSERT_TRUE(numbers.push_back(7));
    ASSERT_TRUE(texts.push_back(make_element<std::string>(7)));
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(numbers.push_back(numbers.front()));
        ASSERT_TRUE(texts.push_back(texts.front()));
        ASSERT_TRUE(texts.insert(texts.begin() + 1, texts.back()));
    }
    ASSERT_EQ(numbers.append(numbers.span()), Status::ok);
    ASSERT_EQ(numbers.resize(10000, numbers.back()), Status::ok);
    EXPECT_TRUE(std::ranges::all_of(numbers, [](std::uint32_t value) { return value == 7; }));
    EXPECT_TRUE(
        std::ranges::all_of(texts, [](const std::string& t) { return t == make_element<std::string>(7); }));
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

// Whoever counts refusals counts each attempt.
template <class T>
void fill_a_budget(std::size_t budget_bytes) {
    StrictResource heap;
    ouro::TaggedAllocator limited(heap, {.name = "limited", .budget_bytes = budget_bytes});
    PooledVector<T> values(limited);
    std::size_t growths = 0;
    for (;;) {
        const std::size_t capacity = values.capacity();
        const std::uint64_t failures = limited.stats().failures;
        const bool has_grown = static_cast<bool>(values.push_back(T{}));
        growths += has_grown && values.capacity() != capacity ? 1U : 0U;
        ASSERT_LE(limited.stats().failures - failures, 3U) << "of " << values.size() << " elements";
        if (!has_grown) break;
    }
    EXPECT_LE(limited.stats().failures, 40U);
    // Of these as many as fit into the last 256 bytes are by one element.
    EXPECT_LE(growths, 40U + 512 / sizeof(T));
    // What was refused once need not be refused for ever.
    limited.set_budget(16 * budget_bytes);
    for (std::size_t i = 0; i < 2 * budget_bytes / sizeof(T); ++i)
        ASSERT_TRUE(values.push_back(T{}));
}

TEST(PooledVector, AFullBudgetIsAskedFewTimes) {
    fill_a_budget<std::uint32_t>(1'000'000);
    fill_a_budget<std::uint64_t>(100'000);
    fill_a_budget<std::string>(1'000'000);
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
