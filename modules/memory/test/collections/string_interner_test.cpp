#include "interner_model.hpp"
#include "strict_resource.hpp"

#include <ouro/memory/collections/string_interner.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::StringId;
using ouro::StringInterner;
using ouro::testing_support::InternerModel;
using ouro::testing_support::StrictResource;

TEST(StringInterner, RandomTextsMatchTheModel) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        StrictResource heap;
        InternerModel model(heap, seed);
        for (int step = 0; step < 4000; ++step)
            ASSERT_NO_FATAL_FAILURE(model.step());
        ASSERT_NO_FATAL_FAILURE(model.verify());
        ASSERT_EQ(model.refusals(), 0U);
    }
}

TEST(StringInterner, ClearStartsAgainWithTheSameMemory) {
    StrictResource heap;
    StringInterner interner(heap);
    for (int i = 0; i < 2000; ++i)
        ASSERT_TRUE(interner.intern("name " + std::to_string(i)));
    const auto before = interner.stats();
    interner.clear();
    EXPECT_TRUE(interner.empty());
    EXPECT_EQ(interner.find("name 7").status(), Status::not_found);
    heap.fail_calls(0);
    for (int i = 0; i < 2000; ++i) {
        const auto id = interner.intern("name " + std::to_string(i));
        ASSERT_TRUE(id);
        ASSERT_EQ(static_cast<int>(*id), i);
    }
    EXPECT_EQ(heap.calls(), 0U);
    EXPECT_EQ(interner.stats().text_bytes, before.text_bytes);
    EXPECT_EQ(interner.check(), Status::ok);
    interner.release();
    EXPECT_EQ(heap.live_blocks(), 0U);
}

TEST(StringInterner, IsARangeOfItsTextsInTheOrderOfTheirIds) {
    StrictResource heap;
    StringInterner interner(heap);
    static_assert(std::ranges::contiguous_range<const StringInterner>);
    EXPECT_EQ(interner.begin(), interner.end());
    for (const char* text : {"torch", "rope", "torch", ""})
        ASSERT_TRUE(interner.intern(text));
    std::vector<std::string_view> seen;
    for (const std::string_view text : interner)
        seen.push_back(text);
    EXPECT_EQ(seen, (std::vector<std::string_view>{"torch", "rope", ""}));
    EXPECT_EQ(std::ranges::find(interner, "rope") - interner.begin(), 1);
}

TEST(StringInterner, BadIdsAreTold) {
    StrictResource heap;
    StringInterner interner(heap);
    EXPECT_EQ(interner.find("").status(), Status::not_found);
    EXPECT_EQ(interner.lookup(StringId::none).status(), Status::out_of_range);
    const auto empty = interner.intern({});
    ASSERT_TRUE(empty);
    EXPECT_EQ(*interner.lookup(*empty), "");
    EXPECT_EQ(*interner.intern(""), *empty);
    EXPECT_EQ(interner.lookup(StringId{1}).status(), Status::out_of_range);
}

TEST(StringInterner, ReservedRoomSuffices) {
    StrictResource heap;
    StringInterner interner(heap);
    ASSERT_EQ(interner.reserve(1000), Status::ok);
    const auto index_bytes = interner.stats().index_bytes;
    for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE(interner.intern(std::to_string(i)));
    const auto stats = interner.stats();
    EXPECT_EQ(stats.index_bytes, index_bytes);
    EXPECT_EQ(stats.strings, 1000U);
    EXPECT_EQ(stats.added, 1000U);
    EXPECT_GE(stats.total_probes, 1000U);
    EXPECT_GE(stats.longest_probe, 1U);
    EXPECT_GE(stats.text_block_bytes, stats.text_bytes);
}

TEST(StringInterner, MovesWithItsTexts) {
    StrictResource heap;
    StringInterner interner(heap);
    const auto id = interner.intern("torch");
    ASSERT_TRUE(id);
    const char* const place = interner.text(*id).data();
    StringInterner moved = std::move(interner);
    EXPECT_EQ(moved.text(*id).data(), place);
    EXPECT_EQ(*moved.find("torch"), *id);
}

}  // namespace
