#include "soa_model.hpp"
#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/memory/collections/soa_block.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace {

using ouro::SoaBlock;
using ouro::Status;
using ouro::testing_support::SoaModel;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

struct alignas(128) Wide {
    std::uint64_t value = 0;
};
using Plain = SoaBlock<float, std::uint8_t, double>;
using Mixed = SoaBlock<std::uint16_t, Tracked, std::unique_ptr<std::uint32_t>, Wide>;

static_assert(std::ranges::random_access_range<Plain> && std::ranges::sized_range<Plain>);
static_assert(std::ranges::random_access_range<const Mixed> && std::ranges::common_range<Mixed>);
static_assert(!std::sortable<Plain::iterator>);
static_assert(ouro::kSimdLanes<float> == 16);

TEST(SoaBlock, RandomCallsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        SoaModel<float, std::uint8_t, double> model(heap, seed);
        for (int step = 0; step < 2000; ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            ASSERT_NO_FATAL_FAILURE(model.step());
            ASSERT_NO_FATAL_FAILURE(model.verify());
        }
        ASSERT_EQ(model.refusals(), 0U);
    }
}

TEST(SoaBlock, MoveOnlyAndOverAlignedColumns) {
    StrictResource heap;
    {
        Mixed block(heap);
        for (std::uint32_t i = 0; i < 500; ++i) {
            ASSERT_TRUE(block.emplace(static_cast<std::uint16_t>(i), Tracked(i),
                                      std::make_unique<std::uint32_t>(i), Wide{i}));
        }
        EXPECT_EQ(Tracked::live, 500);
        EXPECT_TRUE(ouro::is_aligned(block.column<Wide>().data(), 128));
        for (std::uint32_t i = 0; i < 400; ++i)
            block.swap_remove((i * 7) % block.size());
        Mixed moved = std::move(block);
        EXPECT_TRUE(block.empty());
        EXPECT_EQ(moved.size(), 100U);
        for (auto [small, tracked, pointer, wide] : moved) {
            EXPECT_EQ(small, tracked.value);
            EXPECT_EQ(*pointer, tracked.value);
            EXPECT_EQ(wide.value, tracked.value);
        }
        ASSERT_EQ(moved.resize(150), Status::ok);
        EXPECT_EQ(std::get<2>(moved[149]), nullptr);
        ASSERT_EQ(moved.resize(50), Status::ok);
        ASSERT_EQ(moved.shrink_to_fit(), Status::ok);
        EXPECT_EQ(moved.capacity(), 64U);
    }
    EXPECT_EQ(Tracked::live, 0);
    EXPECT_EQ(heap.live_blocks(), 0U);
}

TEST(SoaBlock, ThePaddingIsDefinedAfterEveryGrowth) {
    StrictResource heap;
    Plain block(heap);
    for (std::uint32_t i = 0; i < 300; ++i) {
        ASSERT_TRUE(block.push(1.0F, 1, 1.0));
        // The heap fills new memory with rubbish; behind the last row there is none of it.
        const auto padded = block.padded_column<std::uint8_t>();
        for (std::size_t row = block.size(); row < padded.size(); ++row)
            ASSERT_EQ(padded[row], 0U) << "row " << row << " of " << block.size();
    }
    ASSERT_EQ(block.resize(70), Status::ok);
    ASSERT_EQ(block.shrink_to_fit(), Status::ok);
    for (std::size_t row = 70; row < block.padded_size(); ++row)
        ASSERT_EQ(block.padded_column<0>()[row], 0.0F);
}

TEST(SoaBlock, ARowCanBePushedFromItself) {
    StrictResource heap;
    SoaBlock<std::uint64_t, std::string> block(heap);
    ASSERT_TRUE(block.push(7, "a text too long to be stored inside itself"));
    for (int i = 0; i < 300; ++i) {
        const auto row = block.size() - 1;
        ASSERT_TRUE(block.push(block.column<0>()[row], block.column<1>()[row]));
    }
    for (const auto& [number, text] : std::as_const(block)) {
        ASSERT_EQ(number, 7U);
        ASSERT_EQ(text, "a text too long to be stored inside itself");
    }
}

TEST(SoaBlock, HugeRequestsAreRefused) {
    StrictResource heap;
    Plain block(heap);
    ASSERT_TRUE(block.push(1, 2, 3));
    EXPECT_EQ(block.reserve(SIZE_MAX), Status::size_overflow);
    EXPECT_EQ(block.resize(SIZE_MAX - 1), Status::size_overflow);
    EXPECT_EQ(block.resize(SIZE_MAX / 64), Status::capacity_exhausted);
    EXPECT_EQ(block.size(), 1U);
    EXPECT_EQ(std::get<2>(block[0]), 3.0);
}

TEST(SoaBlock, AKernelNeedsNoRemainderLoop) {
    StrictResource heap;
    SoaBlock<float, double> block(heap);
    for (std::uint32_t i = 0; i < 77; ++i)
        ASSERT_TRUE(block.push(static_cast<float>(i), 0.0));
    constexpr std::size_t kLanes = ouro::kSimdLanes<float>;
    const auto values = block.padded_column<float>();
    ASSERT_EQ(values.size() % kLanes, 0U);
    for (std::size_t at = 0; at < values.size(); at += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            values[at + lane] *= 2;
    for (std::uint32_t i = 0; i < 77; ++i)
        ASSERT_EQ(block.column<float>()[i], static_cast<float>(2 * i));
    EXPECT_EQ(std::ranges::count_if(block, [](auto row) { return std::get<0>(row) > 100; }), 26);
}

}  // namespace
