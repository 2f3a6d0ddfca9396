#include "small_table.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/allocator.hpp>
#include <ouro/streams/frame_stream.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameStream;
using ouro::FrameWriter;
using ouro::FrameWriterScope;
using ouro::MemoryBlock;
using ouro::MemoryTable;
using ouro::Status;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;

class FrameWriterTest : public testing::Test {
protected:
    MemoryTable table_ = small_table();
    FrameStream frames_ = *FrameStream::create(table_, {.frame_bytes = 2 * kMib, .chunk_bytes = 4 * kKib});
    // Another writer takes what lies behind the newest chunk, so that it cannot grow.
    void intrude() { static_cast<void>(intruder_.allocate(4 * kKib)); }

    FrameWriter writer_ = frames_.add_writer();
    FrameWriter intruder_ = frames_.add_writer();
};

struct Command {
    std::uint32_t kind;
    float weight = 2.5F;
};

TEST_F(FrameWriterTest, MakesObjectsSpansAndStrings) {
    const auto command = writer_.make<Command>(7U);
    ASSERT_TRUE(command);
    EXPECT_EQ((*command)->kind, 7U);
    EXPECT_EQ((*command)->weight, 2.5F);

    const auto numbers = writer_.make_span<std::uint64_t>(1000);
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->size(), 1000U);
    EXPECT_TRUE(ouro::is_aligned(numbers->data(), alignof(std::uint64_t)));
    for (const std::uint64_t number : *numbers)
        ASSERT_EQ(number, 0U);
    const auto none = writer_.make_span<int>(0);
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->empty());
    EXPECT_EQ(writer_.make_span<std::uint64_t>(~std::size_t{0} / 4).status(), Status::size_overflow);

    constexpr std::array<std::uint16_t, 3> kSource{1, 2, 3};
    const auto copy = writer_.copy_span(std::span<const std::uint16_t>(kSource));
    ASSERT_TRUE(copy);
    EXPECT_EQ((*copy)[2], 3U);
    ASSERT_TRUE(writer_.copy_span(std::span<const std::uint16_t>()));

    const auto text = writer_.make_string("a label");
    ASSERT_TRUE(text);
    EXPECT_TRUE(*text == "a label");
    EXPECT_EQ(text->data()[text->size()], '\0');
    const auto empty = writer_.make_string({});
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->empty());
    EXPECT_EQ(writer_.check(), Status::ok);
}

TEST_F(FrameWriterTest, BadRequestsAreNamed) {
    EXPECT_EQ(writer_.allocate(0).status(), Status::zero_size);
    EXPECT_EQ(writer_.allocate(1, 0).status(), Status::bad_alignment);
    EXPECT_EQ(writer_.allocate(1, 48).status(), Status::bad_alignment);
    EXPECT_EQ(writer_.allocate(~std::size_t{0}).status(), Status::size_overflow);
    EXPECT_EQ(writer_.allocate(~std::size_t{0} - 8 * kKib).status(), Status::size_overflow);
    constexpr std::size_t kLargest = std::size_t{1} << (sizeof(std::size_t) * 8 - 1);
    EXPECT_EQ(writer_.allocate(1, kLargest).status(), Status::bad_alignment);
    ASSERT_TRUE(writer_.allocate(1));
    EXPECT_EQ(writer_.allocate(1, kLargest).status(), Status::bad_alignment);
    EXPECT_EQ(writer_.stats().failures, 7U);
    EXPECT_EQ(frames_.stats().failures, 7U);
    EXPECT_EQ(writer_.check(), Status::ok);
}

TEST_F(FrameWriterTest, AlignsAcrossChunks) {
    for (std::size_t alignment = 1; alignment <= 64 * kKib; alignment *= 2) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
            const auto block = writer_.allocate(size, alignment);
            ASSERT_TRUE(block);
            ASSERT_TRUE(ouro::is_aligned(block->data, alignment));
            std::memset(block->data, 1, block->size);
            if (size == 100) intrude();
            ASSERT_EQ(writer_.check(), Status::ok);
        }
    }
}

TEST_F(FrameWriterTest, AScopeInALoopNeedsItsMemoryOnce) {
    ASSERT_TRUE(writer_.allocate(100));
    std::size_t used = 0;
    for (int round = 0; round < 1000; ++round) {
        const FrameWriterScope scope(writer_);
        // Larger than a chunk, and many small ones.
        ASSERT_TRUE(writer_.allocate(20 * kKib));
        for (int i = 0; i < 100; ++i) {
            ASSERT_TRUE(writer_.allocate(100));
            if (round == 0 && i % 10 == 0) intrude();
        }
        if (round == 0) used = frames_.stats().used_bytes;
    }
    EXPECT_EQ(frames_.stats().used_bytes, used);
    EXPECT_EQ(writer_.stats().live_bytes, 100U);
    EXPECT_GE(writer_.stats().peak_bytes, 30 * kKib);
    EXPECT_EQ(writer_.check(), Status::ok);
}

TEST_F(FrameWriterTest, ALoneWritersChunkGrows) {
    const auto first = writer_.allocate(3 * kKib, 1);
    const auto second = writer_.allocate(3 * kKib, 1);
    const auto third = writer_.allocate(30 * kKib, 1);
    ASSERT_TRUE(first && second && third);
    EXPECT_EQ(second->data, first->end());
    EXPECT_EQ(third->data, second->end());
    intrude();
    const auto apart = writer_.allocate(8 * kKib, 1);
    ASSERT_TRUE(apart);
    EXPECT_GE(apart->data, third->end() + 4 * kKib);
    EXPECT_EQ(writer_.check(), Status::ok);
}

TEST_F(FrameWriterTest, AScopeOverASwapFreesNothing) {
    const auto outer = writer_.make<int>(1);
    ASSERT_TRUE(outer);
    MemoryBlock kept;
    {
        const FrameWriterScope scope(writer_);
        ASSERT_TRUE(writer_.allocate(100));
        frames_.swap();
        kept = *writer_.allocate(100);
    }
    EXPECT_NE(writer_.allocate(100)->data, kept.data);
    // A mark of a writer that has nothing in the frame yet.
    frames_.swap();
    const FrameWriter::Marker start = writer_.mark();
    const auto first = writer_.allocate(100);
    ASSERT_TRUE(first);
    intrude();
    ASSERT_TRUE(writer_.allocate(10 * kKib));
    writer_.rewind(start);
    EXPECT_EQ(writer_.allocate(100)->data, first->data);
    EXPECT_EQ(writer_.check(), Status::ok);
}

TEST_F(FrameWriterTest, TheNewestBlockGrowsShrinksAndGoes) {
    const auto block = writer_.allocate(100);
    ASSERT_TRUE(block);
    const auto grown = writer_.reallocate(*block, 1000, 16);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, block->data);
    grown->data[99] = std::byte{9};
    // No room in this chunk: it moves.
    const auto moved = writer_.reallocate(*grown, 8 * kKib, 16);
    ASSERT_TRUE(moved);
    EXPECT_NE(moved->data, grown->data);
    EXPECT_EQ(moved->data[99], std::byte{9});
    EXPECT_EQ(writer_.try_resize(*moved, kMib).status(), Status::capacity_exhausted);
    const auto shrunk = writer_.try_resize(*moved, 10);
    ASSERT_TRUE(shrunk);
    writer_.deallocate(*shrunk);
    EXPECT_EQ(writer_.allocate(100)->data, shrunk->data);
    // Of an old frame nothing grows in place, and what goes stays until the swap.
    const auto old = writer_.allocate(64);
    frames_.swap();
    EXPECT_EQ(writer_.try_resize(*old, 128).status(), Status::capacity_exhausted);
    writer_.deallocate(*old);
    const auto next = writer_.reallocate(*old, 128, 16);
    ASSERT_TRUE(next);
    EXPECT_TRUE(frames_.is_in_current_frame(next->data));
    EXPECT_TRUE(writer_.owns(next->data));
    EXPECT_FALSE(writer_.owns(old->data));
}

TEST_F(FrameWriterTest, ServesWhoeverHoldsAHandle) {
    const ouro::Allocator handle = writer_;
    const auto block = handle.allocate(100, 16);
    ASSERT_TRUE(block);
    const auto mark = writer_.place_mark();
    ASSERT_TRUE(mark);
    const auto second = handle.allocate(20 * kKib, 16);
    ASSERT_TRUE(second);
    writer_.free_since(*mark);
    EXPECT_EQ(writer_.stats().live_bytes, 100U);
    EXPECT_FALSE(handle.info().frees_blocks);
}

struct Live {
    MemoryBlock block;
    unsigned char mark;
};

bool all_hold(const std::vector<Live>& blocks) {
    for (const Live& live : blocks) {
        if (live.block.data[0] != std::byte{live.mark} ||
            live.block.data[live.block.size - 1] != std::byte{live.mark})
            return false;
    }
    return true;
}

// Random blocks, scopes and swaps against a model that knows what each live block holds.
TEST_F(FrameWriterTest, RandomUseKeepsEveryLiveBlock) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ouro::Random random(seed);
        std::vector<Live> current;
        std::vector<Live> last;
        std::vector<std::pair<FrameWriter::Marker, std::size_t>> marks;
        for (int step = 0; step < 2000; ++step) {
            const std::uint32_t choice = random.below(100);
            if (choice < 70) {
                const std::size_t size = 1 + random.below(choice < 60 ? 300 : 9000);
                const auto block = writer_.allocate(size, std::size_t{1} << random.below(8));
                if (!block) {
                    ASSERT_EQ(block.status(), Status::capacity_exhausted);
                    continue;
                }
                const auto mark = static_cast<unsigned char>(random.below(256));
                std::memset(block->data, mark, block->size);
                current.push_back({*block, mark});
            } else if (choice < 80) {
                marks.emplace_back(writer_.mark(), current.size());
            } else if (choice < 95 && !marks.empty()) {
                writer_.rewind(marks.back().first);
                current.resize(std::min(current.size(), marks.back().second));
                marks.pop_back();
            } else if (choice < 98) {
                intrude();
            } else {
                frames_.swap();
                last = std::move(current);
                current.clear();
                marks.clear();
            }
            ASSERT_TRUE(all_hold(current) && all_hold(last)) << step;
            ASSERT_EQ(writer_.check(), Status::ok);
            ASSERT_EQ(frames_.check(), Status::ok);
        }
    }
}

}  // namespace
