#include "sparse_model.hpp"
#include "strict_resource.hpp"

#include <ouro/memory/collections/compressed_sparse_array.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::CompressedSparseArray;
using ouro::Status;
using ouro::testing_support::SparseModel;
using ouro::testing_support::StrictResource;

struct alignas(32) Record {
    std::uint64_t number;
    float weight;
    std::uint8_t name[12];
    std::uint64_t rest = 0;

    explicit Record(std::uint32_t seed) : number(seed), weight(static_cast<float>(seed)), name{} {
        name[seed % sizeof(name)] = static_cast<std::uint8_t>(seed);
    }
    friend bool operator==(const Record&, const Record&) = default;
};

using Numbers = CompressedSparseArray<std::uint32_t, 64>;
static_assert(std::ranges::forward_range<Numbers::Indices>);

// Each index below a thousand holds itself, in chunks of which one at a time is not packed.
ouro::Expected<Numbers> thousand_numbers(StrictResource& heap) {
    auto array = Numbers::create(heap, {.max_raw_chunks = 1});
    if (!array) return array.status();
    for (std::uint32_t index = 0; index < 1000; ++index) {
        if (const Status status = array->set(index, index); status != Status::ok) return status;
    }
    return array;
}

template <class T, std::size_t ChunkValues>
void run_model(std::uint64_t seed, std::size_t max_raw_chunks) {
    StrictResource heap;
    {
        SparseModel<T, ChunkValues> model(heap, max_raw_chunks, seed);
        for (int step = 0; step < 4000; ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            ASSERT_NO_FATAL_FAILURE(model.step());
            if (step % 200 == 0) {
                ASSERT_NO_FATAL_FAILURE(model.verify());
            }
        }
        ASSERT_NO_FATAL_FAILURE(model.verify());
        ASSERT_EQ(model.refusals(), 0U);
    }
    ASSERT_EQ(heap.live_blocks(), 0U);
}

TEST(CompressedSparseArray, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        run_model<std::uint32_t, 64>(seed, 1);
        run_model<std::uint8_t, 256>(seed, 5);
        run_model<Record, 128>(seed, 8);
        run_model<double, 1024>(seed, 100);
    }
}

TEST(CompressedSparseArray, ColdChunksShrinkAndComeBack) {
    StrictResource heap;
    auto array = CompressedSparseArray<std::uint32_t>::create(heap, {.max_raw_chunks = 100});
    ASSERT_TRUE(array);
    for (std::uint32_t i = 0; i < 20 * 1024; ++i)
        ASSERT_EQ(array->set(i, 1'000'000 + i / 4), Status::ok);
    EXPECT_EQ(array->stats().raw_chunks, 20U);
    // The first call only forgets that they were used.
    EXPECT_EQ(*array->compress_cold(), 0U);
    EXPECT_EQ(*array->get(0), 1'000'000U);
    EXPECT_EQ(*array->compress_cold(), 19U);
    const auto stats = array->stats();
    EXPECT_EQ(stats.raw_chunks, 1U);
    EXPECT_EQ(stats.packed_value_bytes, 19U * 4096U);
    EXPECT_LT(stats.packed_bytes, stats.packed_value_bytes / 4);
    EXPECT_EQ(stats.misses, 0U);
    EXPECT_EQ(*array->get(5000), 1'000'000U + 1250U);
    EXPECT_EQ(*array->get(5001), 1'000'000U + 1250U);
    EXPECT_EQ(array->stats().misses, 1U);
    EXPECT_EQ(array->check(), Status::ok);
}

TEST(CompressedSparseArray, AChunkOnlyReadIsNotPackedAgain) {
    StrictResource heap;
    auto array = Numbers::create(heap, {.max_raw_chunks = 1});
    ASSERT_TRUE(array);
    ASSERT_EQ(array->set(0, 1), Status::ok);
    ASSERT_EQ(array->set(64, 2), Status::ok);
    ASSERT_EQ(*array->get(0), 1U);
    const auto packings = array->stats().packings;
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(*array->get(64), 2U);
        ASSERT_EQ(*array->get(0), 1U);
    }
    EXPECT_EQ(array->stats().packings, packings);
    ASSERT_EQ(array->set(0, 3), Status::ok);
    ASSERT_EQ(*array->get(64), 2U);
    EXPECT_EQ(array->stats().packings, packings + 1);
    EXPECT_EQ(*array->get(0), 3U);
}

TEST(CompressedSparseArray, TheEndsOfTheIndexSpace) {
    StrictResource heap;
    auto array = CompressedSparseArray<std::uint16_t>::create(heap);
    ASSERT_TRUE(array);
    EXPECT_EQ(array->next_index(0).status(), Status::not_found);
    ASSERT_EQ(array->set(0xFFFFFFFF, 7), Status::ok);
    ASSERT_EQ(array->set(0, 5), Status::ok);
    EXPECT_EQ(*array->next_index(0), 0U);
    EXPECT_EQ(*array->next_index(1), 0xFFFFFFFFU);
    EXPECT_EQ(*array->next_index(0xFFFFFFFF), 0xFFFFFFFFU);
    EXPECT_EQ(std::ranges::distance(array->indices()), 2);
    EXPECT_EQ(array->erase(0xFFFFFFFF), Status::ok);
    EXPECT_EQ(array->next_index(1).status(), Status::not_found);
    EXPECT_EQ(array->erase(0xFFFFFFFF), Status::not_found);
}

TEST(CompressedSparseArray, BadOptionsAreTold) {
    StrictResource heap;
    EXPECT_EQ(Numbers::create(heap, {.max_raw_chunks = 0}).status(), Status::bad_argument);
    EXPECT_EQ(Numbers::create(heap, {.max_raw_chunks = SIZE_MAX}).status(), Status::size_overflow);
}

TEST(CompressedSparseArray, WithoutMemoryARawChunkGivesItsPlace) {
    StrictResource heap;
    auto array = Numbers::create(heap, {.max_raw_chunks = 10});
    ASSERT_TRUE(array);
    for (std::uint32_t i = 0; i < 4; ++i)
        ASSERT_EQ(array->set(i * 64, i), Status::ok);
    ASSERT_TRUE(array->compress_all());
    // Two raw spaces exist: the one of this chunk and a spare. A third cannot be had.
    ASSERT_EQ(*array->get(0), 0U);
    heap.fail_calls(0);
    for (std::uint32_t i = 0; i < 4; ++i)
        ASSERT_EQ(*array->get(i * 64), i);
    heap.stop_failing();
    EXPECT_EQ(array->check(), Status::ok);
}

static_assert(std::forward_iterator<Numbers::Iterator>);
// A copy of one that writes would point to where a value was before its chunk was packed.
static_assert(std::input_iterator<Numbers::WritableIterator>);
static_assert(!std::forward_iterator<Numbers::WritableIterator>);
static_assert(std::ranges::input_range<Numbers::Writable> && !std::ranges::forward_range<Numbers::Writable>);

TEST(CompressedSparseArray, AWalkGivesEveryElementOnce) {
    StrictResource heap;
    auto array = CompressedSparseArray<Record, 64>::create(heap, {.max_raw_chunks = 2});
    ASSERT_TRUE(array);
    EXPECT_EQ(array->begin(), array->end());
    const std::uint32_t indices[] = {0, 1, 63, 64, 5000, 5001, 1'000'000, 0xFFFF'FFFF};
    for (const std::uint32_t index : indices)
        ASSERT_EQ(array->set(index, Record(index)), Status::ok);
    ASSERT_TRUE(array->compress_all());
    for (int round = 0; round < 2; ++round) {
        std::size_t met = 0;
        for (const auto [index, value] : *array) {
            ASSERT_LT(met, std::size(indices));
            EXPECT_EQ(index, indices[met++]);
            EXPECT_EQ(value, Record(index));
        }
        EXPECT_EQ(met, std::size(indices));
        EXPECT_EQ(array->walk_status(), Status::ok);
        EXPECT_LE(array->stats().raw_chunks, 2U);
    }
    // The same twice over, from a copy of where a walk stood.
    auto place = array->begin();
    const auto before = place++;
    EXPECT_EQ((*before).index, 0U);
    EXPECT_EQ((*place).value, Record(1));
}

TEST(CompressedSparseArray, AWalkMayWrite) {
    StrictResource heap;
    auto array = Numbers::create(heap, {.max_raw_chunks = 1});
    ASSERT_TRUE(array);
    for (std::uint32_t index = 0; index < 1000; index += 3)
        ASSERT_EQ(array->set(index, index), Status::ok);
    ASSERT_TRUE(array->compress_all());
    for (auto [index, value] : array->writable())
        value = index + 7;
    EXPECT_EQ(array->walk_status(), Status::ok);
    ASSERT_TRUE(array->compress_all());
    std::size_t met = 0;
    for (const auto [index, value] : *array) {
        EXPECT_EQ(value, index + 7);
        ++met;
    }
    EXPECT_EQ(met, array->size());
    EXPECT_EQ(array->check(), Status::ok);
}

// Reading alone changes nothing, so that nothing must be packed again.
TEST(CompressedSparseArray, AWalkThatReadsLeavesPackedBytesAsTheyAre) {
    StrictResource heap;
    auto array = thousand_numbers(heap);
    ASSERT_TRUE(array);
    ASSERT_TRUE(array->compress_all());
    const std::uint64_t packings = array->stats().packings;
    std::uint64_t sum = 0;
    for (const auto [index, value] : *array)
        sum += value;
    EXPECT_EQ(sum, 499'500U);
    ASSERT_TRUE(array->compress_all());
    EXPECT_EQ(array->stats().packings, packings);
}

TEST(CompressedSparseArray, ElementsComeAndGoDuringAWalk) {
    StrictResource heap;
    auto array = thousand_numbers(heap);
    ASSERT_TRUE(array);
    std::size_t met = 0;
    for (const auto [index, value] : *array) {
        ASSERT_EQ(array->erase(index), Status::ok);
        // Another chunk takes the only place there is.
        ASSERT_TRUE(index >= 900 || array->get(999 - index % 50));
        if (index % 2 == 0 && index < 998) {
            ASSERT_EQ(array->erase(index + 1), Status::ok);
        }
        if (index == 998) {
            ASSERT_EQ(array->set(5000, 5000), Status::ok);
        }
        EXPECT_EQ(value, index);
        ++met;
    }
    // The even ones, the last odd one and the new one.
    EXPECT_EQ(met, 502U);
    EXPECT_TRUE(array->empty());
    EXPECT_EQ(array->check(), Status::ok);
}

TEST(CompressedSparseArray, AWalkThatCannotGoOnSaysSo) {
    StrictResource heap;
    auto array = thousand_numbers(heap);
    ASSERT_TRUE(array);
    ASSERT_TRUE(array->compress_all());
    // A chunk that was written must be packed before the next gets its place, and nothing can be packed.
    heap.fail_calls(0);
    std::uint32_t met = 0;
    for (auto [index, value] : array->writable()) {
        value += 1;
        ++met;
    }
    EXPECT_GT(met, 0U);
    EXPECT_LT(met, 1000U);
    EXPECT_EQ(array->walk_status(), Status::out_of_memory);
    heap.stop_failing();
    std::uint32_t again = 0;
    for (const auto [index, value] : *array) {
        EXPECT_EQ(value, index < met ? index + 1 : index);
        ++again;
    }
    EXPECT_EQ(again, 1000U);
    EXPECT_EQ(array->walk_status(), Status::ok);
    EXPECT_EQ(array->check(), Status::ok);
}

}  // namespace
