#include "small_table.hpp"

#include <ouro/memory/seal.hpp>
#include <ouro/streams/frame_stream.hpp>

#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FrameStream;
using ouro::FrameWriter;
using ouro::MemoryTable;
using ouro::Status;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;

class FrameStreamTest : public testing::Test {
protected:
    FrameStream create(FrameStream::Options options = {.frame_bytes = 4 * kMib}) {
        auto frames = FrameStream::create(table_, options);
        EXPECT_TRUE(frames);
        return *std::move(frames);
    }

    MemoryTable table_ = small_table();
};

TEST_F(FrameStreamTest, TheLastFrameStaysReadable) {
    FrameStream frames = create();
    FrameWriter writer = frames.add_writer();
    const auto first = writer.make<int>(41);
    ASSERT_TRUE(first);
    EXPECT_TRUE(frames.is_in_current_frame(*first));
    frames.swap();
    const auto second = writer.make<int>(42);
    ASSERT_TRUE(second);
    EXPECT_EQ(**first, 41);
    EXPECT_EQ(**second, 42);
    EXPECT_TRUE(frames.is_in_last_frame(*first));
    EXPECT_FALSE(frames.is_in_current_frame(*first));
    EXPECT_TRUE(frames.is_in_current_frame(*second));
    frames.swap();
    EXPECT_FALSE(frames.is_in_last_frame(*first));
    EXPECT_EQ(**second, 42);
    EXPECT_EQ(frames.frame(), 3U);
    // The third frame has the memory of the first.
    EXPECT_EQ(*writer.make<int>(43), *first);
    EXPECT_EQ(**second, 42);
    EXPECT_EQ(frames.check(), Status::ok);
}

TEST_F(FrameStreamTest, AWriterThatSleptOverManyFramesBeginsAnew) {
    FrameStream frames = create();
    FrameWriter sleeper = frames.add_writer();
    FrameWriter busy = frames.add_writer();
    ASSERT_TRUE(sleeper.make<int>(1));
    for (int frame = 0; frame < 5; ++frame) {
        frames.swap();
        ASSERT_TRUE(busy.make_span<std::byte>(100 * kKib));
        ASSERT_EQ(sleeper.check(), Status::ok);
        ASSERT_EQ(sleeper.stats().live_bytes, 0U);
    }
    const auto late = sleeper.make<int>(2);
    ASSERT_TRUE(late);
    EXPECT_TRUE(frames.is_in_current_frame(*late));
    EXPECT_EQ(sleeper.check(), Status::ok);
    EXPECT_EQ(busy.check(), Status::ok);
}

TEST_F(FrameStreamTest, AFullFrameNamesItsStream) {
    FrameStream frames = create({.name = "tiny frames", .frame_bytes = 64 * kKib, .chunk_bytes = 16 * kKib});
    FrameWriter writer = frames.add_writer();
    FrameWriter other = frames.add_writer();
    std::size_t blocks = 0;
    Status status = Status::ok;
    while (status == Status::ok) {
        const auto block = (blocks % 2 == 0 ? writer : other).allocate(1000);
        status = block.status();
        blocks += block ? 1U : 0U;
    }
    EXPECT_EQ(status, Status::capacity_exhausted);
    EXPECT_GE(blocks, 50U);
    const ouro::StreamRefusal refusal = frames.last_refusal();
    EXPECT_TRUE(refusal.name() == "tiny frames");
    EXPECT_EQ(refusal.status, Status::capacity_exhausted);
    EXPECT_GT(refusal.wanted_bytes, refusal.reserved_bytes);
    EXPECT_EQ(table_.last_refusal().number, refusal.number);
    EXPECT_EQ(frames.stats().failures, 1U);
    EXPECT_EQ(writer.allocate(64 * kKib).status(), Status::capacity_exhausted);
    EXPECT_EQ(frames.check(), Status::ok);
    frames.swap();
    EXPECT_TRUE(writer.allocate(1000));
}

TEST_F(FrameStreamTest, StatisticsAddUp) {
    FrameStream frames = create({.frame_bytes = kMib, .chunk_bytes = 8 * kKib});
    {
        FrameWriter writer = frames.add_writer();
        for (int i = 0; i < 100; ++i)
            ASSERT_TRUE(writer.allocate(1000));
        EXPECT_EQ(frames.stats().writers, 1U);
    }
    const FrameStream::Stats stats = frames.stats();
    EXPECT_EQ(stats.allocations, 100U);
    EXPECT_EQ(stats.writers, 0U);
    EXPECT_EQ(stats.frame, 1U);
    EXPECT_GE(stats.used_bytes, 100'000U);
    EXPECT_EQ(stats.used_bytes, stats.chunks_taken * 8 * kKib);
    EXPECT_EQ(stats.last_used_bytes, 0U);
    EXPECT_GE(stats.reserved_bytes, 2 * kMib);
    EXPECT_GE(stats.committed_bytes, stats.used_bytes);
    frames.swap();
    frames.swap();
    EXPECT_EQ(frames.stats().used_bytes, 0U);
    EXPECT_EQ(frames.stats().high_water_bytes, stats.used_bytes);
}

TEST_F(FrameStreamTest, GivesBackWhatRecentFramesDidNotNeed) {
    FrameStream frames = create({.frame_bytes = 4 * kMib, .commit_step_bytes = 1, .decay_swaps = 8});
    FrameWriter writer = frames.add_writer();
    for (int frame = 0; frame < 2; ++frame) {
        ASSERT_TRUE(writer.allocate(3 * kMib));
        frames.swap();
    }
    const std::size_t largest = frames.stats().committed_bytes;
    EXPECT_GE(largest, 6 * kMib);
    const auto use_a_little = [&](int swaps) {
        for (int i = 0; i < swaps; ++i) {
            ASSERT_TRUE(writer.allocate(1000));
            frames.swap();
        }
    };
    use_a_little(7);
    EXPECT_GE(frames.stats().committed_bytes, largest);
    use_a_little(12);
    EXPECT_LE(frames.stats().committed_bytes, kMib);
    EXPECT_EQ(frames.check(), Status::ok);
    const auto block = writer.allocate(3 * kMib);
    ASSERT_TRUE(block);
    std::memset(block->data, 1, block->size);
}

TEST_F(FrameStreamTest, PrewarmedFramesLiveUnderASeal) {
    FrameStream frames =
        create({.frame_bytes = 4 * kMib, .commit_step_bytes = 1, .decay_swaps = 1, .prewarm_bytes = kMib});
    FrameWriter writer = frames.add_writer();
    const ouro::SealScope sealed;
    for (int frame = 0; frame < 5; ++frame) {
        ASSERT_TRUE(writer.allocate(900 * kKib));
        frames.swap();
    }
    EXPECT_EQ(writer.allocate(2 * kMib).status(), Status::sealed);
    EXPECT_EQ(frames.last_refusal().status, Status::sealed);
    EXPECT_TRUE(writer.allocate(900 * kKib));
}

TEST_F(FrameStreamTest, BadOptionsAreNamed) {
    const auto status_of = [&](const FrameStream::Options& options) {
        return FrameStream::create(table_, options).status();
    };
    EXPECT_EQ(status_of({.frame_bytes = 0}), Status::zero_size);
    EXPECT_EQ(status_of({.frame_bytes = ~std::size_t{0}}), Status::size_overflow);
    EXPECT_EQ(status_of({.frame_bytes = kMib, .chunk_bytes = 100}), Status::bad_argument);
    EXPECT_EQ(status_of({.frame_bytes = kMib, .chunk_bytes = 2 * kMib}), Status::bad_argument);
    EXPECT_EQ(status_of({.frame_bytes = kMib, .prewarm_bytes = 2 * kMib}), Status::capacity_exhausted);
    EXPECT_EQ(status_of({.name = "", .frame_bytes = kMib}), Status::bad_argument);
    // The first buffer fits, the second does not: neither is left behind.
    EXPECT_EQ(status_of({.frame_bytes = 10 * kMib}), Status::capacity_exhausted);
    EXPECT_EQ(table_.stats().streams, 0U);
}

TEST_F(FrameStreamTest, MovesWithoutItsWriters) {
    FrameStream frames = create();
    FrameWriter writer = frames.add_writer();
    const auto text = writer.make_string("still here");
    ASSERT_TRUE(text);
    FrameStream moved = std::move(frames);
    FrameWriter moved_writer = std::move(writer);
    EXPECT_TRUE(moved_writer.make<int>(1));
    moved.swap();
    EXPECT_TRUE(*text == "still here");
    EXPECT_EQ(moved.stats().writers, 1U);
    EXPECT_EQ(moved.check(), Status::ok);
}

TEST_F(FrameStreamTest, BothBuffersAreListed) {
    FrameStream frames = create({.name = "listed frames", .frame_bytes = kMib});
    FrameWriter writer = frames.add_writer();
    ASSERT_TRUE(writer.allocate(10 * kKib));
    frames.swap();
    std::size_t found = 0;
    std::size_t cursor = 0;
    ouro::visit_blocks([&](const ouro::BlockInfo& block) {
        if (block.name() != "listed frames") return;
        ++found;
        cursor += block.cursor_bytes;
    });
    EXPECT_EQ(found, 2U);
    EXPECT_GE(cursor, 10 * kKib);
}

}  // namespace
