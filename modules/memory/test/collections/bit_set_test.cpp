#include "strict_resource.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/bit_set.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::BitSet;
using ouro::FixedBitSet;
using ouro::Random;
using ouro::Status;
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

template <class Set>
void compare(const Set& set, const std::vector<bool>& model) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < model.size(); ++i) {
        if (model[i]) members.push_back(i);
        ASSERT_EQ(set.test(i), model[i]) << "bit " << i;
    }
    ASSERT_EQ(set.size(), model.size());
    ASSERT_EQ(set.count(), members.size());
    ASSERT_EQ(set.any(), !members.empty());
    ASSERT_EQ(set.none(), members.empty());
    ASSERT_EQ(set.all(), members.size() == model.size());
    ASSERT_TRUE(std::ranges::equal(set, members));
    std::vector<std::size_t> visited;
    set.for_each_set([&](std::size_t index) { visited.push_back(index); });
    ASSERT_EQ(visited, members);
    std::size_t found = set.find_first();
    for (const std::size_t member : members) {
        ASSERT_EQ(found, member);
        found = set.find_next(found);
    }
    ASSERT_EQ(found, set.size());
    const auto clear = std::find(model.begin(), model.end(), false);
    ASSERT_EQ(set.find_first_clear(), static_cast<std::size_t>(clear - model.begin()));
}

// One random change of the set and its model.
template <class Set>
void change(Set& set, std::vector<bool>& model, Random& random) {
    if (model.empty()) return;
    const auto bits = static_cast<std::uint32_t>(model.size());
    const std::size_t index = random.below(bits);
    const std::size_t count = random.below(bits - static_cast<std::uint32_t>(index) + 1);
    const auto first = model.begin() + static_cast<std::ptrdiff_t>(index);
    switch (random.below(8)) {
        case 0:
            set.set(index);
            model[index] = true;
            break;
        case 1:
            set.clear(index);
            model[index] = false;
            break;
        case 2:
            set.flip(index);
            model[index] = !model[index];
            break;
        case 3:
            set.set_range(index, count);
            std::fill_n(first, count, true);
            break;
        case 4:
            set.clear_range(index, count);
            std::fill_n(first, count, false);
            break;
        case 5:
            set.flip_all();
            model.flip();
            break;
        case 6:
            set.assign(index, count % 2 == 0);
            model[index] = count % 2 == 0;
            break;
        default:
            if (random.chance(0.1)) set.set_all(), std::fill(model.begin(), model.end(), true);
            if (random.chance(0.1)) set.clear_all(), std::fill(model.begin(), model.end(), false);
    }
}

template <std::size_t N>
void run_fixed(std::uint64_t seed) {
    Random random(seed);
    FixedBitSet<N> one;
    FixedBitSet<N> two;
    std::vector<bool> model_one(N);
    std::vector<bool> model_two(N);
    for (int step = 0; step < 200; ++step) {
        change(one, model_one, random);
        change(two, model_two, random);
        ASSERT_NO_FATAL_FAILURE(compare(one, model_one));
        const auto both = one & two;
        const auto either = one | two;
        const auto differing = one ^ two;
        const auto without = one - two;
        for (std::size_t i = 0; i < N; ++i) {
            ASSERT_EQ(both.test(i), model_one[i] && model_two[i]);
            ASSERT_EQ(either.test(i), model_one[i] || model_two[i]);
            ASSERT_EQ(differing.test(i), model_one[i] != model_two[i]);
            ASSERT_EQ(without.test(i), model_one[i] && !model_two[i]);
        }
        ASSERT_EQ(one.intersects(two), both.any());
        ASSERT_EQ(one.is_subset_of(two), without.none());
        ASSERT_TRUE(both.is_subset_of(one) && both.is_subset_of(two));
        ASSERT_EQ(one == two, differing.none());
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
        Random random(seed);
        BitSet set(heap);
        std::vector<bool> model;
        for (int step = 0; step < 500; ++step) {
            change(set, model, random);
            if (random.chance(0.1)) {
                const std::size_t bits = random.below(400);
                ASSERT_EQ(set.resize(bits), Status::ok);
                model.resize(bits);
            }
            if (random.chance(0.05)) {
                ASSERT_EQ(set.shrink_to_fit(), Status::ok);
            }
            ASSERT_NO_FATAL_FAILURE(compare(set, model));
            if (random.chance(0.05)) {
                auto copy = set.clone();
                ASSERT_TRUE(copy);
                ASSERT_TRUE(*copy == set);
                set = *std::move(copy);
            }
        }
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
