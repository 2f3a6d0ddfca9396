#include "input_pattern.hpp"
#include "workers.hpp"

#include <ouro/ecs/input_block.hpp>

#include <array>
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::InputBlock;
using ouro::InputReader;
using ouro::InputRecord;
using ouro::InputState;
using ouro::InputWriter;
using ouro::Status;
using ouro::testing_support::is_whole;
using ouro::testing_support::run_workers;
using ouro::testing_support::write_pattern;

constexpr std::uint32_t kWrites = 20'000;

struct SharedInput {
    alignas(ouro::kInputBlockAlignment) std::array<std::byte, sizeof(InputBlock)> bytes{};
    std::atomic<bool> is_done = false;
};

TEST(InputConcurrent, CopiesAreNeverTorn) {
    SharedInput shared;
    auto writer = *InputWriter::create({shared.bytes.data(), shared.bytes.size()});
    std::atomic<unsigned> copies = 0;
    run_workers(3, [&](std::size_t number) {
        if (number == 0) {
            for (std::uint32_t pattern = 1; pattern <= kWrites; ++pattern)
                write_pattern(writer, pattern);
            shared.is_done.store(true);
            return;
        }
        const auto reader = *InputReader::attach(shared.bytes);
        std::uint32_t newest = 0;
        while (!shared.is_done.load()) {
            InputRecord record;
            if (reader.read(record) != Status::ok) continue;
            ASSERT_TRUE(is_whole(record)) << record.text_total;
            ASSERT_LE(newest, record.text_total);
            newest = record.text_total;
            copies.fetch_add(1, std::memory_order_relaxed);
        }
        InputRecord last;
        ASSERT_EQ(reader.read(last), Status::ok);
        EXPECT_EQ(last.text_total, kWrites);
    });
    EXPECT_GT(copies.load(), 0U);
}

// Whenever samples are taken, they add up to what was written.
TEST(InputConcurrent, NothingIsLostBetweenSamples) {
    SharedInput shared;
    auto writer = *InputWriter::create({shared.bytes.data(), shared.bytes.size()});
    run_workers(3, [&](std::size_t number) {
        auto reader = *InputReader::attach(shared.bytes);
        InputState state{};
        // The first one is what all others are counted from.
        while (number != 0 && reader.sample(state) != Status::ok) {
        }
        if (number == 0) {
            for (std::uint32_t pattern = 1; pattern <= kWrites; ++pattern)
                write_pattern(writer, pattern);
            shared.is_done.store(true);
            return;
        }
        const auto start = static_cast<std::uint32_t>(state.mouse.x);
        std::uint32_t moved = 0;
        std::uint32_t typed = 0;
        for (bool is_last = false; !is_last;) {
            const bool is_done = shared.is_done.load();
            if (reader.sample(state) != Status::ok) continue;
            is_last = is_done;
            moved += static_cast<std::uint32_t>(state.mouse.moved_x);
            typed += state.text_count + state.text_dropped;
        }
        EXPECT_EQ(moved, kWrites - start);
        EXPECT_EQ(typed, kWrites - start);
    });
}

}  // namespace
