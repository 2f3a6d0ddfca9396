#include "small_table.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/streams/asset_stack.hpp>
#include <ouro/streams/frame_stream.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstring>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::AssetStack;
using ouro::FrameStream;
using ouro::FrameWriter;
using ouro::LiveImage;
using ouro::MemoryTable;
using ouro::StateRing;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;

void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

TEST(StreamsDeath, AStreamThatOutlivesItsTableIsCaught) {
    EXPECT_DEATH(
        {
            auto table = std::make_optional(small_table());
            auto stream = table->open_stream({.name = "orphan", .reserve_bytes = kMib});
            table.reset();
        },
        "closed before its table ends");
}

void end_table_before_ring() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 64 * kKib};
    auto table = std::make_optional(small_table());
    const auto ring = ouro::StateRing::create(
        {.segments = {&world, 1}, .history_ticks = 4, .history_bytes = kMib, .table = &*table});
    ASSERT_TRUE(ring);
    table.reset();
}

TEST(StreamsDeath, ARingThatOutlivesItsTableIsCaught) {
    EXPECT_DEATH(end_table_before_ring(), "closed before its table ends");
}

TEST(StreamsDeath, AWriterThatOutlivesItsFramesIsCaught) {
    MemoryTable table = small_table();
    EXPECT_DEATH(
        {
            std::optional<FrameWriter> writer;
            {
                auto frames = FrameStream::create(table, {.frame_bytes = kMib});
                writer.emplace(frames->add_writer());
            }
        },
        "ends after its writers");
}

TEST(StreamsDeath, AViewThatOutlivesItsRingIsCaught) {
    constexpr ouro::SegmentOptions kWorld{.name = "world", .bytes = 64 * kKib};
    EXPECT_DEATH(
        {
            ouro::TickView view;
            auto ring =
                StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 4, .history_bytes = 4 * kMib});
            view = *ring->view(0);
        },
        "the views of a ring end before it");
}

// NOLINTBEGIN(bugprone-use-after-move): that is what these are about.
TEST(StreamsDeath, ARingThatWasMovedFromIsCaught) {
    constexpr ouro::SegmentOptions kWorld{.name = "world", .bytes = 64 * kKib};
    auto made = StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 4, .history_bytes = 4 * kMib});
    ASSERT_TRUE(made);
    StateRing from = *std::move(made);
    std::byte* const address = from.segment_block("world")->data;
    const StateRing ring = std::move(from);
    constexpr const char* kMessage = "the ring was moved from, or never made";
    EXPECT_DEATH(static_cast<void>(from.commit()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.rollback(0)), kMessage);
    EXPECT_DEATH(static_cast<void>(from.view(0)), kMessage);
    EXPECT_DEATH(static_cast<void>(from.image()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.newest()), kMessage);
    EXPECT_DEATH(static_cast<void>(StateRing().stats()), kMessage);
    // Nor does it mark in what is another's now.
    EXPECT_EQ(from.mark(address, 1), ouro::Status::out_of_range);
}

TEST(StreamsDeath, AnImageThatWasMovedFromIsCaught) {
    constexpr ouro::SegmentOptions kWorld{.name = "world", .bytes = 64 * kKib};
    auto made = LiveImage::create({.segments = {&kWorld, 1}});
    ASSERT_TRUE(made);
    LiveImage from = *std::move(made);
    LiveImage image = std::move(from);
    const ouro::Segment world = *image.segment("world");
    constexpr const char* kMessage = "the image was moved from, or never made";
    EXPECT_DEATH(static_cast<void>(from.block()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.alias()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.base()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.page_count()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.segments()), kMessage);
    EXPECT_DEATH(static_cast<void>(from.segment("world")), kMessage);
    EXPECT_DEATH(static_cast<void>(from.segment_at(0)), kMessage);
    EXPECT_DEATH(static_cast<void>(from.block_of(world)), kMessage);
    EXPECT_DEATH(static_cast<void>(from.descriptor()), kMessage);
    EXPECT_DEATH(from.note_use(1), kMessage);
    EXPECT_DEATH(from.write_header(), kMessage);
    EXPECT_DEATH(static_cast<void>(LiveImage().block()), kMessage);
    // Who has it now, and who gets it back, use it as before.
    EXPECT_EQ(image.page_count(), image.block().size / ouro::kStatePageBytes);
    from = std::move(image);
    EXPECT_EQ(from.block_of(world).size, 64 * kKib);
    EXPECT_DEATH(static_cast<void>(image.block()), kMessage);
}

TEST(StreamsDeath, AViewThatWasMovedFromIsCaught) {
    constexpr ouro::SegmentOptions kWorld{.name = "world", .bytes = 64 * kKib};
    const auto ring =
        StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 4, .history_bytes = 4 * kMib});
    ASSERT_TRUE(ring);
    ouro::TickView from = *ring->view(0);
    const ouro::TickView view = std::move(from);
    EXPECT_DEATH(static_cast<void>(from.page(0)), "a view has the pages of its image");
    EXPECT_DEATH(StateRing::changed(view, from, [](ouro::ChangedRange) {}), "two views of one ring");
}

TEST(StreamsDeath, StreamsThatWereMovedFromAreCaught) {
    MemoryTable empty = small_table();
    MemoryTable table = std::move(empty);
    EXPECT_DEATH(static_cast<void>(empty.stats()), "the table was moved from");
    EXPECT_DEATH(static_cast<void>(empty.open_stream({.name = "stream", .reserve_bytes = kMib})),
                 "the table was moved from");

    auto stream = table.open_stream({.name = "stream", .reserve_bytes = kMib});
    ASSERT_TRUE(stream);
    const ouro::Stream other = *std::move(stream);
    EXPECT_DEATH(static_cast<void>(stream->take(16, 16)), "the stream was closed or moved from");

    auto frames = FrameStream::create(table, {.frame_bytes = kMib});
    ASSERT_TRUE(frames);
    FrameStream moved = *std::move(frames);
    EXPECT_DEATH(frames->swap(), "the frame stream was moved from");
    EXPECT_DEATH(static_cast<void>(frames->add_writer()), "the frame stream was moved from");
    FrameWriter from = moved.add_writer();
    const FrameWriter writer = std::move(from);
    EXPECT_DEATH(static_cast<void>(from.allocate(16)), "the writer was moved from");

    auto assets = AssetStack::create(table, {.max_bytes = kMib});
    ASSERT_TRUE(assets);
    const AssetStack stack = *std::move(assets);
    EXPECT_DEATH(static_cast<void>(assets->open_scope("level")), "the stream was closed or moved from");
}
// NOLINTEND(bugprone-use-after-move)

TEST(StreamsDeath, ACursorOnlyGoesBack) {
    MemoryTable table = small_table();
    auto stream = table.open_stream({.name = "stream", .reserve_bytes = kMib});
    ASSERT_TRUE(stream);
    EXPECT_DEATH(stream->cut_to(1), "cut back");
}

TEST(StreamsDeath, TheGuardBetweenStreamsFaults) {
    MemoryTable table = small_table();
    auto first = table.open_stream({.name = "first", .reserve_bytes = 64 * kKib});
    auto second = table.open_stream({.name = "second", .reserve_bytes = 64 * kKib});
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(first->take(64 * kKib, 1));
    ASSERT_TRUE(second->take(64 * kKib, 1));
    touch(first->range().end() - 1);
    EXPECT_DEATH(touch(first->range().end()), "");
    EXPECT_DEATH(touch(second->range().data - 1), "");
}

TEST(StreamsDeath, AStaleMarkerIsCaught) {
    MemoryTable table = small_table();
    auto frames = FrameStream::create(table, {.frame_bytes = kMib});
    ASSERT_TRUE(frames);
    FrameWriter writer = frames->add_writer();
    ASSERT_TRUE(writer.allocate(64));
    const auto low = writer.mark();
    ASSERT_TRUE(writer.allocate(64));
    const auto high = writer.mark();
    writer.rewind(low);
    EXPECT_DEATH(writer.rewind(high), "freed already");
}

#if defined(OURO_ADDRESS_SANITIZER)

constexpr const char* kReport = "AddressSanitizer: use-after-poison";

TEST(StreamsAsan, ADeadFrameIsForbidden) {
    MemoryTable table = small_table();
    auto frames = FrameStream::create(table, {.frame_bytes = kMib, .chunk_bytes = 4 * kKib});
    ASSERT_TRUE(frames);
    FrameWriter writer = frames->add_writer();
    const auto block = writer.allocate(64);
    ASSERT_TRUE(block);
    EXPECT_DEATH(touch(block->end()), kReport);
    frames->swap();
    touch(block->data);
    EXPECT_DEATH(touch(block->end()), kReport);
    frames->swap();
    EXPECT_DEATH(touch(block->data), kReport);
    const auto again = writer.allocate(32);
    ASSERT_EQ(again->data, block->data);
    touch(block->data);
    EXPECT_DEATH(touch(block->data + 32), kReport);
}

TEST(StreamsAsan, WhatAScopeFreedIsForbidden) {
    MemoryTable table = small_table();
    auto frames = FrameStream::create(table, {.frame_bytes = kMib, .chunk_bytes = 4 * kKib});
    ASSERT_TRUE(frames);
    FrameWriter writer = frames->add_writer();
    ASSERT_TRUE(writer.allocate(64));
    const auto start = writer.mark();
    const auto near = writer.allocate(64);
    FrameWriter other = frames->add_writer();
    ASSERT_TRUE(other.allocate(64));
    const auto far = writer.allocate(6 * kKib);
    const auto newest = writer.allocate(64);
    ASSERT_TRUE(near && far && newest);
    touch(far->end() - 1);
    writer.rewind(start);
    EXPECT_DEATH(touch(near->data), kReport);
    EXPECT_DEATH(touch(far->data), kReport);
    EXPECT_DEATH(touch(far->end() - 1), kReport);
    EXPECT_DEATH(touch(newest->data), kReport);
}

TEST(StreamsAsan, AReleasedAssetIsForbidden) {
    MemoryTable table = small_table();
    auto assets = AssetStack::create(table, {.max_bytes = kMib});
    ASSERT_TRUE(assets);
    const auto level = assets->open_scope("level");
    const auto asset = assets->allocate("mesh", 100);
    ASSERT_TRUE(level && asset);
    std::byte* const first = assets->writable_bytes(*asset)->data();
    touch(first + 99);
    EXPECT_DEATH(touch(first + 104), kReport);
    ASSERT_TRUE(assets->release(*level));
    EXPECT_DEATH(touch(first), kReport);
}

#endif

#if OURO_ASSERT_LEVEL >= 1

OURO_LOOKS_INTO_FREE_MEMORY [[gnu::noinline]] std::byte look_at(const std::byte* address) {
    return *address;
}

TEST(StreamsFill, ADeadFrameIsFilled) {
    MemoryTable table = small_table();
    auto frames = FrameStream::create(table, {.frame_bytes = kMib});
    ASSERT_TRUE(frames);
    FrameWriter writer = frames->add_writer();
    const auto block = writer.allocate(64);
    ASSERT_TRUE(block);
    std::memset(block->data, 1, block->size);
    frames->swap();
    EXPECT_EQ(block->data[63], std::byte{1});
    frames->swap();
    EXPECT_EQ(look_at(block->data + 63), std::byte{FrameStream::kDeadByte});
}

#endif

}  // namespace
