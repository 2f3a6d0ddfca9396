#include "bit_models.hpp"
#include "strict_resource.hpp"

#include <ouro/memory/collections/bit_set.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::BitSet;
using ouro::FixedBitSet;
using ouro::Status;
using ouro::testing_support::BitSetModel;
using ouro::testing_support::FixedBitSetModel;
using ouro::testing_support::StrictResource;

static_assert(std::ranges::forward_range<BitSet> && std::ranges::common_range<BitSet>);
static_assert(std::ranges::forward_range<const FixedBitSet<100>>);
// size() is the number of bits, not the length of the range.
static_assert(!std::ranges::sized_range<BitSet> && !std::ranges::sized_range<const FixedBitSet<100>>);
static_assert(sizeof(FixedBitSet<65>) == 16 && std::is_trivially_copyable_v<FixedBitSet<65>>);

// At compile time too.
constexpr std::size_t count_at_compile_time() {
    FixedBitSet<100> set;
    set.set_range(3, 90);
    set.clear(50);
    return (~set).count() + set.find_next(49);
}
static_assert(count_at_compile_time() == 11 + 51);

template <std::size_t N>
void run_fixed(std::uint64_t seed) {
    FixedBitSetModel<N> model(seed);
    for (int step = 0; step < 200; ++step) {
        ASSERT_NO_FATAL_FAILURE(model.step());
        ASSERT_NO_FATAL_FAILURE(model.verify());
    }
}

TEST(FixedBitSet, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        run_fixed<1>(seed);
        run_fixed<63>(seed);
        run_fixed<64>(seed);
        run_fixed<65>(seed);
        run_fixed<200>(seed);
    }
}

TEST(BitSet, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        BitSetModel model(heap, seed);
        for (int step = 0; step < 1000; ++step) {
            ASSERT_NO_FATAL_FAILURE(model.step());
            ASSERT_NO_FATAL_FAILURE(model.verify());
        }
        ASSERT_EQ(model.refusals(), 0U);
    }
}

TEST(BitSet, ManyBitsAreCountedRight) {
    StrictResource heap;
    // Around the sizes at which the batches of count_bits end.
    for (const std::size_t bits : {31U * 64U - 1U, 31U * 64U, 31U * 64U + 1U, 62U * 64U + 5U, 100'000U}) {
        auto set = BitSet::create(heap, bits);
        ASSERT_TRUE(set);
        set->set_all();
        ASSERT_EQ(set->count(), bits);
        ASSERT_TRUE(set->all());
        set->clear(bits / 2);
        ASSERT_EQ(set->count(), bits - 1);
        ASSERT_EQ(set->find_first_clear(), bits / 2);
    }
}

TEST(BitSet, SetOperationsBetweenSets) {
    StrictResource heap;
    auto even = BitSet::create(heap, 1000);
    auto third = BitSet::create(heap, 1000);
    ASSERT_TRUE(even && third);
    for (std::size_t i = 0; i < 1000; i += 2)
        even->set(i);
    for (std::size_t i = 0; i < 1000; i += 3)
        third->set(i);
    EXPECT_TRUE(even->intersects(*third));
    *even &= *third;
    EXPECT_EQ(even->count(), 167U);
    EXPECT_TRUE(even->is_subset_of(*third));
    *third -= *even;
    EXPECT_FALSE(even->intersects(*third));
    *third |= *even;
    EXPECT_EQ(third->count(), 334U);
    *third ^= *even;
    EXPECT_EQ(third->count(), 167U);
}

TEST(BitSet, HugeAndEmptySizes) {
    StrictResource heap;
    auto set = BitSet::create(heap, 0);
    ASSERT_TRUE(set);
    EXPECT_EQ(heap.live_blocks(), 0U);
    EXPECT_EQ(set->find_first(), 0U);
    EXPECT_TRUE(set->none());
    EXPECT_EQ(set->begin(), set->end());
    EXPECT_EQ(set->resize(SIZE_MAX), Status::capacity_exhausted);
    EXPECT_EQ(set->size(), 0U);
    ASSERT_EQ(set->resize(70), Status::ok);
    set->set(69);
    heap.fail_calls(0);
    EXPECT_EQ(set->resize(100000), Status::out_of_memory);
    EXPECT_EQ(set->find_first(), 69U);
}

}  // namespace
