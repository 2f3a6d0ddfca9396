#include "small_table.hpp"

#include <ouro/base/random.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/memory_table.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::BlockInfo;
using ouro::MemoryTable;
using ouro::Status;
using ouro::Stream;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;
namespace os = ouro::os;

TEST(MemoryTable, IsDividedIntoStreamsWithGuardsBetween) {
    MemoryTable table = small_table();
    auto first = table.open_stream({.name = "first", .reserve_bytes = 3 * kMib});
    auto second = table.open_stream({.name = "second", .reserve_bytes = kMib, .guard_bytes = 300 * kKib});
    auto third = table.open_stream({.name = "third", .reserve_bytes = kMib, .alignment = 2 * kMib});
    ASSERT_TRUE(first && second && third);
    EXPECT_EQ(first->range().data, table.range().data);
    EXPECT_EQ(first->reserved_bytes(), 3 * kMib);
    EXPECT_GE(second->range().data, first->range().end() + os::page_size());
    EXPECT_GE(third->range().data, second->range().end() + 300 * kKib);
    EXPECT_TRUE(ouro::is_aligned(third->range().data, 2 * kMib));
    EXPECT_TRUE(table.range().contains(third->range()));
    EXPECT_EQ(table.stats().streams, 3U);
    EXPECT_EQ(table.stats().stream_bytes, 5 * kMib);
    EXPECT_EQ(table.check(), Status::ok);
}

TEST(MemoryTable, OneStreamCanHaveAllOfIt) {
    MemoryTable table = small_table(4 * kMib);
    EXPECT_EQ(table.stats().largest_free_bytes, 4 * kMib);
    auto whole = table.open_stream({.name = "whole", .reserve_bytes = 4 * kMib});
    ASSERT_TRUE(whole);
    EXPECT_EQ(table.stats().largest_free_bytes, 0U);
    EXPECT_EQ(table.open_stream({.name = "late", .reserve_bytes = 1}).status(), Status::capacity_exhausted);
    const auto refusal = table.last_refusal();
    EXPECT_EQ(refusal.status, Status::capacity_exhausted);
    EXPECT_TRUE(refusal.name() == "late");
    EXPECT_EQ(refusal.wanted_bytes, os::page_size());
    EXPECT_EQ(table.stats().refusals, 1U);
}

TEST(MemoryTable, ClosedRangesAreUsedAgainAndReadZero) {
    MemoryTable table = small_table(8 * kMib);
    auto low = table.open_stream({.name = "low", .reserve_bytes = kMib});
    auto middle = table.open_stream({.name = "middle", .reserve_bytes = kMib});
    auto high = table.open_stream({.name = "high", .reserve_bytes = kMib});
    ASSERT_TRUE(low && middle && high);
    const auto block = middle->take(1000, 16);
    ASSERT_TRUE(block);
    block->data[0] = std::byte{1};
    const std::byte* const place = middle->range().data;
    middle->close();
    EXPECT_FALSE(middle->is_open());
    EXPECT_EQ(table.stats().streams, 2U);
    EXPECT_EQ(table.check(), Status::ok);
    auto larger = table.open_stream({.name = "larger", .reserve_bytes = 2 * kMib});
    auto again = table.open_stream({.name = "again", .reserve_bytes = kMib});
    ASSERT_TRUE(larger && again);
    EXPECT_GT(larger->range().data, high->range().data);
    EXPECT_EQ(again->range().data, place);
    const auto fresh = again->take(1000, 16);
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fresh->data[0], std::byte{0});
}

TEST(MemoryTable, BadRequestsAreNamed) {
    EXPECT_EQ(MemoryTable::create({.name = ""}).status(), Status::bad_argument);
    EXPECT_EQ(MemoryTable::create({.reserve_bytes = ~std::size_t{0}}).status(), Status::size_overflow);
    EXPECT_EQ(MemoryTable::create({.reserve_bytes = ~os::page_size() + 1 - os::page_size()}).status(),
              Status::size_overflow);
    MemoryTable table = small_table(kMib);
    EXPECT_EQ(table.open_stream({.name = "", .reserve_bytes = 1}).status(), Status::bad_argument);
    EXPECT_EQ(table.open_stream({.name = "a"}).status(), Status::zero_size);
    EXPECT_EQ(table.open_stream({.name = "a", .reserve_bytes = 1, .alignment = 3}).status(),
              Status::bad_alignment);
    EXPECT_EQ(table.open_stream({.name = "a", .reserve_bytes = ~std::size_t{0}}).status(),
              Status::size_overflow);
    EXPECT_EQ(table.open_stream({.name = "a", .reserve_bytes = 1, .guard_bytes = ~std::size_t{0}}).status(),
              Status::size_overflow);
    EXPECT_EQ(table.open_stream({.name = "a", .reserve_bytes = 2 * kMib}).status(),
              Status::capacity_exhausted);
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.check(), Status::ok);
}

TEST(MemoryTable, BeginsWhereItWasTold) {
    std::byte* address = nullptr;
    {
        const MemoryTable anywhere = small_table(kMib);
        address = anywhere.range().data;
        EXPECT_EQ(MemoryTable::create({.reserve_bytes = kMib, .address = address}).status(),
                  Status::address_in_use);
    }
    auto there = MemoryTable::create({.reserve_bytes = kMib, .address = address});
    ASSERT_TRUE(there);
    auto stream = there->open_stream({.name = "image", .reserve_bytes = kMib});
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->range().data, address);
    EXPECT_EQ(MemoryTable::create({.reserve_bytes = kMib, .address = address + 1}).status(),
              Status::bad_address);
}

TEST(MemoryTable, MovesWithoutItsStreams) {
    MemoryTable table = small_table(kMib);
    auto stream = table.open_stream({.name = "stays", .reserve_bytes = 100 * kKib});
    ASSERT_TRUE(stream);
    MemoryTable moved = std::move(table);
    ASSERT_TRUE(stream->take(10, 8));
    EXPECT_EQ(moved.stats().streams, 1U);
    EXPECT_GT(moved.stats().committed_bytes, 0U);
    EXPECT_EQ(moved.check(), Status::ok);
    stream->close();
    moved = small_table(2 * kMib);
    EXPECT_EQ(moved.stats().reserved_bytes, 2 * kMib);
}

TEST(MemoryTable, TwoWorldsStandSideBySide) {
    MemoryTable one = small_table(kMib);
    MemoryTable other = small_table(kMib);
    auto first = one.open_stream({.name = "a", .reserve_bytes = 64 * kKib});
    auto second = other.open_stream({.name = "a", .reserve_bytes = 64 * kKib});
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(one.range().overlaps(other.range()));
    EXPECT_EQ(first->grow(kMib).status(), Status::capacity_exhausted);
    EXPECT_EQ(one.stats().refusals, 1U);
    EXPECT_EQ(other.last_refusal().status, Status::ok);
}

TEST(MemoryTable, TheUsualSizeCanBeHad) {
    auto table = MemoryTable::create({});
    ASSERT_TRUE(table);
    if constexpr (MemoryTable::kUsualBytes != 0) {
        EXPECT_EQ(table->stats().reserved_bytes, MemoryTable::kUsualBytes);
    } else {
        EXPECT_GE(table->stats().reserved_bytes, kMib);
    }
}

TEST(MemoryTable, ItsStreamsAreListed) {
    MemoryTable table = small_table(4 * kMib);
    const auto tag = ouro::register_tag("table-test-tag");
    ASSERT_TRUE(tag);
    auto late = table.open_stream({.name = "one", .tag = *tag, .reserve_bytes = kMib});
    auto early = table.open_stream({.name = "two", .reserve_bytes = kMib});
    ASSERT_TRUE(late && early);
    ASSERT_TRUE(late->take(1000, 8));
    late->cut_to(100);
    late->publish();
    std::array<BlockInfo, 4> listed;
    ASSERT_EQ(table.snapshot_streams(listed), 2U);
    EXPECT_TRUE(listed[0].name() == "one" && listed[1].name() == "two");
    EXPECT_EQ(listed[0].tag, *tag);
    EXPECT_EQ(listed[0].kind, ouro::BlockKind::borrowed);
    EXPECT_EQ(listed[0].reserved_bytes, kMib);
    EXPECT_EQ(listed[0].committed_bytes, late->committed_bytes());
    EXPECT_EQ(listed[0].cursor_bytes, 100U);
    EXPECT_EQ(listed[0].peak_bytes, 1000U);
    EXPECT_EQ(table.snapshot_streams({}), 2U);
    const auto own = ouro::find_block(table.listing());
    ASSERT_TRUE(own);
    EXPECT_EQ(own->kind, ouro::BlockKind::own);
    EXPECT_EQ(own->committed_bytes, table.stats().committed_bytes);
    late->close();
    EXPECT_EQ(table.snapshot_streams(listed), 1U);
}

TEST(MemoryTable, HasAsManyStreamsAsItSays) {
    MemoryTable table = small_table((MemoryTable::kMaxStreams + 1) * 2 * os::page_size());
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < MemoryTable::kMaxStreams; ++i) {
        auto stream = table.open_stream({.name = "one of many", .reserve_bytes = 1});
        ASSERT_TRUE(stream);
        streams.push_back(*std::move(stream));
    }
    EXPECT_EQ(table.open_stream({.name = "last", .reserve_bytes = 1}).status(), Status::capacity_exhausted);
    streams.pop_back();
    EXPECT_TRUE(table.open_stream({.name = "last", .reserve_bytes = 1}));
    EXPECT_EQ(table.check(), Status::ok);
}

// Streams come and go at random; none ever overlaps another, and the table stays sound.
TEST(MemoryTable, RandomStreamsNeverMeet) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ouro::Random random(seed);
        MemoryTable table = small_table(64 * os::page_size());
        std::vector<Stream> streams;
        for (int step = 0; step < 200; ++step) {
            if (!streams.empty() && random.below(3) == 0) {
                const std::size_t victim = random.below(static_cast<std::uint32_t>(streams.size()));
                std::swap(streams[victim], streams.back());
                streams.pop_back();
            } else {
                const std::size_t pages = 1 + random.below(12);
                const std::size_t alignment = os::page_size() << random.below(3);
                auto opened = table.open_stream({.name = "random",
                                                 .reserve_bytes = pages * os::page_size(),
                                                 .commit_step_bytes = os::page_size(),
                                                 .alignment = alignment});
                if (!opened) {
                    ASSERT_EQ(opened.status(), Status::capacity_exhausted);
                    continue;
                }
                for (const Stream& other : streams)
                    ASSERT_FALSE(opened->range().overlaps(other.range()));
                const auto block = opened->take(1 + random.below(5000), 1);
                ASSERT_TRUE(block || pages == 1);
                streams.push_back(*std::move(opened));
            }
            ASSERT_EQ(table.check(), Status::ok);
            ASSERT_EQ(table.stats().streams, streams.size());
        }
    }
}

}  // namespace
