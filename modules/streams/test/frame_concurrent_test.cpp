#include "small_table.hpp"
#include "workers.hpp"

#include <ouro/os/thread.hpp>
#include <ouro/streams/frame_stream.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameStream;
using ouro::FrameWriter;
using ouro::MemoryTable;
using ouro::Status;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::run_workers;
using ouro::testing_support::small_table;

constexpr std::size_t kWriters = 4;
constexpr unsigned kFrames = 60;
constexpr std::size_t kSpans = 80;

// All arrive, then all go on; the last to arrive does something first.
class Barrier {
public:
    explicit Barrier(std::size_t count) : count_(count) {}

    template <class Last>
    void arrive(Last last) {
        const std::uint32_t turn = turn_.load();
        if (arrived_.fetch_add(1) + 1 == count_) {
            last();
            arrived_.store(0);
            turn_.fetch_add(1);
            return;
        }
        while (turn_.load() == turn)
            ouro::os::yield_thread();
    }

private:
    std::size_t count_;
    std::atomic<std::size_t> arrived_ = 0;
    std::atomic<std::uint32_t> turn_ = 0;
};

using Spans = std::vector<std::span<std::uint32_t>>;

std::uint32_t stamp(std::size_t writer, unsigned frame, std::size_t span) {
    return static_cast<std::uint32_t>(writer << 24U | frame << 12U | span);
}

Spans write_frame(FrameWriter& writer, std::size_t number, unsigned frame) {
    Spans spans;
    for (std::size_t i = 0; i < kSpans; ++i) {
        const auto span = writer.make_span<std::uint32_t>(1 + i * 7 % 300);
        if (!span) {
            ADD_FAILURE() << ouro::status_name(span.status());
            break;
        }
        for (std::uint32_t& word : *span)
            word = stamp(number, frame, i);
        spans.push_back(*span);
    }
    return spans;
}

bool holds(const Spans& spans, std::size_t number, unsigned frame) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        for (const std::uint32_t word : spans[i]) {
            if (word != stamp(number, frame, i)) return false;
        }
    }
    return true;
}

// Writers fill a frame while each reads what its neighbour wrote in the one before.
TEST(FrameConcurrent, WritersAndReadersShareTwoFrames) {
    MemoryTable table = small_table(32 * kMib);
    auto frames = FrameStream::create(
        table, {.frame_bytes = 8 * kMib, .chunk_bytes = 4 * kKib, .commit_step_bytes = 1, .decay_swaps = 7});
    ASSERT_TRUE(frames);
    std::vector<std::vector<Spans>> written(kFrames, std::vector<Spans>(kWriters));
    std::atomic<unsigned> wrong = 0;
    Barrier barrier(kWriters);
    run_workers(kWriters, [&](std::size_t number) {
        FrameWriter writer = frames->add_writer();
        for (unsigned frame = 0; frame < kFrames; ++frame) {
            written[frame][number] = write_frame(writer, number, frame);
            const std::size_t neighbour = (number + 1) % kWriters;
            if (frame != 0 && !holds(written[frame - 1][neighbour], neighbour, frame - 1)) wrong.fetch_add(1);
            if (!holds(written[frame][number], number, frame)) wrong.fetch_add(1);
            if (writer.check() != Status::ok) wrong.fetch_add(1);
            barrier.arrive([&] { frames->swap(); });
        }
    });
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(frames->stats().allocations, kWriters * kFrames * kSpans);
    EXPECT_EQ(frames->stats().frame, kFrames + 1);
    EXPECT_EQ(frames->check(), Status::ok);
    EXPECT_EQ(table.check(), Status::ok);
}

// A swap may come in the middle of a writer's work, as long as the writer finishes before the next one.
TEST(FrameConcurrent, ASwapDoesNotWaitForWriters) {
    MemoryTable table = small_table(32 * kMib);
    auto frames = FrameStream::create(table, {.frame_bytes = 8 * kMib, .chunk_bytes = 2 * kKib});
    ASSERT_TRUE(frames);
    std::atomic<std::uint32_t> started = 0;
    std::atomic<std::uint32_t> finished = 0;
    std::atomic<unsigned> wrong = 0;
    run_workers(kWriters + 1, [&](std::size_t number) {
        if (number == kWriters) {
            for (unsigned frame = 0; frame < kFrames; ++frame) {
                started.fetch_add(1);
                frames->swap();
                while (finished.load() != (frame + 1) * kWriters)
                    ouro::os::yield_thread();
            }
            return;
        }
        FrameWriter writer = frames->add_writer();
        for (unsigned frame = 0; frame < kFrames; ++frame) {
            while (started.load() <= frame)
                ouro::os::yield_thread();
            if (!holds(write_frame(writer, number, frame), number, frame)) wrong.fetch_add(1);
            finished.fetch_add(1);
        }
    });
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(frames->check(), Status::ok);
}

TEST(FrameConcurrent, AFullFrameRefusesEachWriterCleanly) {
    MemoryTable table = small_table(4 * kMib);
    auto frames =
        FrameStream::create(table, {.name = "small", .frame_bytes = 256 * kKib, .chunk_bytes = 4 * kKib});
    ASSERT_TRUE(frames);
    std::atomic<std::uint64_t> blocks = 0;
    std::atomic<unsigned> wrong = 0;
    run_workers(kWriters, [&](std::size_t number) {
        FrameWriter writer = frames->add_writer();
        for (;;) {
            const auto block = writer.allocate(600);
            if (!block) {
                if (block.status() != Status::capacity_exhausted) wrong.fetch_add(1);
                break;
            }
            std::memset(block->data, static_cast<int>(number), block->size);
            blocks.fetch_add(1);
        }
        if (frames->last_refusal().name() != "small" || writer.check() != Status::ok) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(frames->stats().failures, kWriters);
    EXPECT_EQ(frames->stats().allocations, blocks.load());
    EXPECT_GE(blocks.load() * 600, 200 * kKib);
}

// Streams of one table are opened, grown and closed by several threads at once.
TEST(TableConcurrent, StreamsAreOpenedAndClosedFromAnyThread) {
    MemoryTable table = small_table(32 * kMib);
    std::atomic<unsigned> wrong = 0;
    run_workers(kWriters, [&](std::size_t number) {
        for (unsigned round = 0; round < 100; ++round) {
            auto stream = table.open_stream({.name = "from a thread",
                                             .reserve_bytes = (1 + round % 5) * 256 * kKib,
                                             .commit_step_bytes = 1});
            if (!stream) {
                wrong.fetch_add(1);
                continue;
            }
            const auto block = stream->take(100 * kKib, 64);
            if (!block || block->data[100] != std::byte{0}) wrong.fetch_add(1);
            if (block) std::memset(block->data, static_cast<int>(number + 1), block->size);
            if (stream->grow(64 * kMib).status() != Status::capacity_exhausted) wrong.fetch_add(1);
            if (table.stats().streams == 0) wrong.fetch_add(1);
        }
    });
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.stats().refusals, kWriters * 100U);
    EXPECT_EQ(table.check(), Status::ok);
}

}  // namespace
