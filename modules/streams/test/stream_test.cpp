#include "small_table.hpp"

#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/stream.hpp>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryTable;
using ouro::Status;
using ouro::Stream;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;
namespace os = ouro::os;

class StreamTest : public testing::Test {
protected:
    Stream open(std::size_t bytes, std::size_t step = 1) {
        auto stream =
            table_.open_stream({.name = "subject", .reserve_bytes = bytes, .commit_step_bytes = step});
        EXPECT_TRUE(stream);
        return *std::move(stream);
    }

    MemoryTable table_ = small_table();
};

TEST_F(StreamTest, GrowsByCommitting) {
    Stream stream = open(kMib, 128 * kKib);
    EXPECT_EQ(stream.committed_bytes(), 0U);
    ASSERT_TRUE(stream.grow(1));
    EXPECT_EQ(stream.committed_bytes(), 128 * kKib);
    ASSERT_TRUE(stream.grow(128 * kKib));
    EXPECT_EQ(stream.committed_bytes(), 128 * kKib);
    ASSERT_TRUE(stream.grow(1000 * kKib));
    EXPECT_GE(stream.committed_bytes(), 1000 * kKib);
    ASSERT_TRUE(stream.grow(kMib));
    std::memset(stream.range().data, 1, kMib);
    EXPECT_EQ(stream.committed_bytes(), kMib);
    EXPECT_EQ(stream.cursor_bytes(), 0U);
}

TEST_F(StreamTest, TheCursorMovesAndTheHighWaterMarkStays) {
    Stream stream = open(kMib);
    const auto first = stream.take(10, 1);
    const auto second = stream.take(100, 64);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->data, stream.range().data);
    EXPECT_EQ(second->data, stream.range().data + 64);
    EXPECT_EQ(stream.cursor_bytes(), 164U);
    stream.cut_to(10);
    EXPECT_EQ(stream.cursor_bytes(), 10U);
    EXPECT_EQ(stream.high_water_bytes(), 164U);
    EXPECT_EQ(stream.take(100, 64)->data, second->data);
    const auto page_aligned = stream.take(1, 8 * os::page_size());
    ASSERT_TRUE(page_aligned);
    EXPECT_TRUE(ouro::is_aligned(page_aligned->data, 8 * os::page_size()));
}

TEST_F(StreamTest, RunningOutNamesTheStreamAndItsSize) {
    Stream stream = open(2 * os::page_size());
    ASSERT_TRUE(stream.take(100, 1));
    EXPECT_EQ(stream.take(2 * os::page_size(), 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(stream.cursor_bytes(), 100U);
    const ouro::StreamRefusal& refusal = stream.last_refusal();
    EXPECT_TRUE(refusal.name() == "subject");
    EXPECT_EQ(refusal.status, Status::capacity_exhausted);
    EXPECT_EQ(refusal.wanted_bytes, 2 * os::page_size() + 100);
    EXPECT_EQ(refusal.reserved_bytes, 2 * os::page_size());
    EXPECT_EQ(refusal.committed_bytes, os::page_size());
    EXPECT_EQ(table_.last_refusal().number, refusal.number);

    std::array<char, 200> text{};
    const std::string told(ouro::describe_refusal(refusal, text));
    EXPECT_EQ(told, "stream 'subject' was refused " + std::to_string(refusal.wanted_bytes) +
                        " bytes: capacity_exhausted (" + std::to_string(refusal.reserved_bytes) +
                        " reserved, " + std::to_string(refusal.committed_bytes) + " committed)");
    EXPECT_TRUE(ouro::describe_refusal(refusal, std::span(text).first(10)) == "stream 's");
    EXPECT_TRUE(ouro::describe_refusal({}, text) == "nothing was refused");
    EXPECT_TRUE(ouro::describe_refusal(refusal, {}).empty());
    EXPECT_TRUE(stream.take(100, 1));
}

TEST_F(StreamTest, BadRequestsChangeNothing) {
    Stream stream = open(kMib);
    ASSERT_TRUE(stream.take(5, 1));
    EXPECT_EQ(stream.take(0, 1).status(), Status::zero_size);
    EXPECT_EQ(stream.take(1, 0).status(), Status::bad_alignment);
    EXPECT_EQ(stream.take(1, 24).status(), Status::bad_alignment);
    EXPECT_EQ(stream.take(~std::size_t{0}, 1).status(), Status::size_overflow);
    EXPECT_EQ(stream.take(1, std::size_t{1} << (sizeof(std::size_t) * 8 - 1)).status() == Status::ok, false);
    EXPECT_EQ(stream.grow(2 * kMib).status(), Status::capacity_exhausted);
    EXPECT_EQ(stream.cursor_bytes(), 5U);
    EXPECT_EQ(table_.check(), Status::ok);
}

TEST_F(StreamTest, GivesBackWhatLiesBehindTheCursor) {
    Stream stream = open(kMib);
    const auto block = stream.take(900 * kKib, 1);
    ASSERT_TRUE(block);
    std::memset(block->data, 1, block->size);
    stream.shrink(0);
    EXPECT_GE(stream.committed_bytes(), 900 * kKib);
    stream.cut_to(1000);
    stream.shrink(0);
    EXPECT_EQ(stream.committed_bytes(), os::page_size());
    EXPECT_EQ(stream.range().data[999], std::byte{1});
    ASSERT_TRUE(stream.grow(900 * kKib));
    EXPECT_EQ(stream.range().data[800 * kKib], std::byte{0});
    EXPECT_EQ(stream.high_water_bytes(), 900 * kKib);
}

TEST_F(StreamTest, UnderASealNothingGrowsAndNothingGoes) {
    Stream stream = open(kMib);
    ASSERT_TRUE(stream.grow(4 * os::page_size()));
    const std::size_t committed = stream.committed_bytes();
    const ouro::SealScope sealed;
    EXPECT_TRUE(stream.take(committed, 1));
    EXPECT_EQ(stream.take(1, 1).status(), Status::sealed);
    EXPECT_EQ(stream.last_refusal().status, Status::sealed);
    stream.cut_to(0);
    stream.shrink(0);
    EXPECT_EQ(stream.committed_bytes(), committed);
}

TEST_F(StreamTest, PrewarmedMemoryIsThere) {
    Stream stream = open(kMib);
    EXPECT_TRUE(stream.prewarm(0));
    EXPECT_EQ(stream.committed_bytes(), 0U);
    EXPECT_TRUE(stream.prewarm(100 * kKib));
    EXPECT_GE(stream.committed_bytes(), 100 * kKib);
    EXPECT_EQ(stream.prewarm(2 * kMib).status(), Status::capacity_exhausted);
    EXPECT_TRUE(stream.prewarm(kMib));
    EXPECT_EQ(stream.range().data[kMib - 1], std::byte{0});
}

TEST_F(StreamTest, MovesWithItsMemory) {
    Stream stream = open(kMib);
    ASSERT_TRUE(stream.take(100, 1));
    Stream moved = std::move(stream);
    EXPECT_FALSE(stream.is_open());
    EXPECT_EQ(moved.cursor_bytes(), 100U);
    moved = open(64 * kKib);
    EXPECT_EQ(moved.cursor_bytes(), 0U);
    EXPECT_EQ(table_.stats().streams, 1U);
    moved.close();
    moved.close();
    EXPECT_EQ(table_.stats().streams, 0U);
    EXPECT_EQ(table_.check(), Status::ok);
}

TEST_F(StreamTest, OwnersTellOfMemoryOfTheirOwn) {
    Stream stream = open(kMib);
    stream.note_mapped(512 * kKib, 100 * kKib);
    EXPECT_EQ(stream.committed_bytes(), 512 * kKib);
    EXPECT_EQ(stream.cursor_bytes(), 100 * kKib);
    stream.note_cursor(50 * kKib, 300 * kKib);
    EXPECT_EQ(stream.high_water_bytes(), 300 * kKib);
    const auto listed = ouro::find_block(stream.listing());
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->committed_bytes, 512 * kKib);
    stream.note_mapped(0, 0);
    EXPECT_EQ(table_.check(), Status::ok);
}

}  // namespace
