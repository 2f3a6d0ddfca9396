#include "asset_files.hpp"
#include "mapping_table.hpp"

#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/frame_stream.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace {

using ouro::AssetStack;
using ouro::FrameStream;
using ouro::FrameWriter;
using ouro::LoadWay;
using ouro::MemoryTable;
using ouro::Status;
using ouro::os::OsCall;
using ouro::testing_support::AssetFiles;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
namespace inject = ouro::os::fault_injection;
namespace os = ouro::os;

struct Operation {
    const char* name;
    // ok, or the status of what failed; corrupt_data when something is wrong.
    Status (*run)();
};

Status use_table() {
    auto table = MemoryTable::create({.reserve_bytes = 4 * kMib});
    if (!table) return table.status();
    auto first = table->open_stream({.name = "first", .reserve_bytes = kMib});
    if (!first) return first.status();
    if (const auto block = first->take(100, 1); !block) {
        const bool is_told = first->last_refusal().status == block.status() && first->cursor_bytes() == 0;
        return is_told && table->check() == Status::ok ? block.status() : Status::corrupt_data;
    }
    if (const auto warm = first->prewarm(kMib); !warm) return warm.status();
    first->cut_to(0);
    first->shrink(0);
    first->close();
    auto again = table->open_stream({.name = "again", .reserve_bytes = kMib});
    if (!again) return again.status();
    const auto block = again->take(100, 1);
    if (!block) return block.status();
    return block->data[0] == std::byte{0} && table->check() == Status::ok ? Status::ok : Status::corrupt_data;
}

Status use_frames() {
    auto table = MemoryTable::create({.reserve_bytes = 8 * kMib});
    if (!table) return table.status();
    auto frames = FrameStream::create(*table, {.frame_bytes = 2 * kMib,
                                               .chunk_bytes = 4 * kKib,
                                               .commit_step_bytes = 1,
                                               .decay_swaps = 2,
                                               .prewarm_bytes = 8 * kKib});
    if (!frames) return frames.status();
    FrameWriter writer = frames->add_writer();
    Status first_failure = Status::ok;
    for (int frame = 0; frame < 6; ++frame) {
        for (int i = 0; i < 10; ++i) {
            const auto block = writer.allocate(frame < 2 ? 50'000 : 1'000);
            if (!block && first_failure == Status::ok) first_failure = block.status();
            if (block) block->data[0] = std::byte{1};
        }
        if (writer.check() != Status::ok || frames->check() != Status::ok) return Status::corrupt_data;
        frames->swap();
    }
    return first_failure;
}

Status load_files(LoadWay way) {
    static const std::string path =
        testing::TempDir() + "ouro-streams-sweep-" + std::to_string(os::process_id());
    if (!std::filesystem::exists(path)) std::ofstream(path) << std::string(100'000, 'x');
    auto table = MemoryTable::create({.reserve_bytes = 4 * kMib});
    if (!table) return table.status();
    auto assets = AssetStack::create(*table, {.max_bytes = 2 * kMib, .max_assets = 10});
    if (!assets) return assets.status();
    Status first_failure = Status::ok;
    for (int round = 0; round < 2; ++round) {
        const auto level = assets->open_scope("level");
        if (!level) return Status::corrupt_data;
        const auto plain = assets->allocate("plain", 300'000);
        const auto asset = assets->load(path.c_str(), {.way = way});
        if (first_failure == Status::ok) first_failure = plain ? asset.status() : plain.status();
        if (asset && assets->bytes(*asset)->back() != std::byte{'x'}) return Status::corrupt_data;
        const std::size_t assets_there = (plain ? 1U : 0U) + (asset ? 1U : 0U);
        if (assets->check() != Status::ok || assets->stats().assets != assets_there)
            return Status::corrupt_data;
        if (!assets->release(*level) || assets->stats().used_bytes != 0) return Status::corrupt_data;
    }
    return first_failure;
}

// Whatever is refused while there is a table was refused to one of the two streams, which is named.
Status use_ring() {
    auto table = MemoryTable::create({.reserve_bytes = 8 * kMib});
    if (!table) return table.status();
    const ouro::SegmentOptions world{.name = "world", .bytes = 64 * kKib};
    auto ring = ouro::StateRing::create({.segments = {&world, 1},
                                         .history_ticks = 4,
                                         .history_bytes = kMib,
                                         .prefaults = true,
                                         .table = &*table});
    if (!ring) {
        const ouro::StreamRefusal refusal = table->last_refusal();
        const bool is_told = refusal.status == ring.status() &&
                             (refusal.name() == "state" || refusal.name() == "state: history");
        const bool is_left = table->stats().streams != 0 || table->check() != Status::ok;
        return is_told && !is_left ? ring.status() : Status::corrupt_data;
    }
    for (int tick = 0; tick < 8; ++tick) {
        std::byte& byte = ring->segment_block("world")->data[100];
        byte = static_cast<std::byte>(tick);
        if (ring->mark(&byte, 1) != Status::ok || !ring->commit()) return Status::corrupt_data;
    }
    return ring->check();
}

constexpr Operation kOperations[] = {
    {"table", use_table},
    {"ring", use_ring},
    {"frames", use_frames},
    {"read_files", [] { return load_files(LoadWay::read); }},
    {"map_files", [] { return load_files(LoadWay::map); }},
};

int count_open_files() {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; ++descriptor)
        count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

// One round with the failure; what leaks does so each time, a sanitizer's own page does not.
struct Outcome {
    Status status = Status::ok;
    bool fired = false;
    std::string left_behind;
};

// Once, or from then on.
using Fail = void (*)(OsCall call, std::uint64_t nth, int error) noexcept;

Outcome run_failing(const Operation& operation, Fail fail, OsCall call, std::uint64_t nth) {
    Outcome outcome;
    for (int attempt = 0; attempt < 3; ++attempt) {
        os::testing_support::NoMappingLeak::mark();
        fail(call, nth, ENOMEM);
        outcome.status = operation.run();
        outcome.fired = inject::has_fired();
        inject::clear();
        outcome.left_behind = os::testing_support::NoMappingLeak::difference();
        if (outcome.left_behind.empty()) break;
    }
    return outcome;
}

class StreamsFaultSweep : public testing::TestWithParam<Operation> {
protected:
    void SetUp() override { ASSERT_EQ(GetParam().run(), Status::ok); }
    void TearDown() override { inject::clear(); }
    static void sweep(Fail fail);
};

// Each use of each call fails in turn: a reason is given or the call was not needed, nothing is left behind.
void StreamsFaultSweep::sweep(Fail fail) {
    const Operation& operation = GetParam();
    const int open_files = count_open_files();
    unsigned failures = 0;
    for (unsigned number = 0; number < os::kOsCallCount; ++number) {
        const auto call = static_cast<OsCall>(number);
        // What cannot be unmapped stays; the module os has a test for that.
        if (call == OsCall::unmap_memory) continue;
        // A mapping within a table ends by mapping: that it never can is an assert.
        if (fail == inject::fail_from && operation.run == use_ring && call == OsCall::map_memory) continue;
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE("use " + std::to_string(nth) + " of " + std::string(inject::name_of(call)));
            const Outcome outcome = run_failing(operation, fail, call, nth);
            ASSERT_EQ(outcome.left_behind, "");
            ASSERT_NE(outcome.status, Status::corrupt_data);
            if (!outcome.fired) {
                ASSERT_EQ(outcome.status, Status::ok);
                break;
            }
            ++failures;
            ASSERT_EQ(operation.run(), Status::ok);
        }
    }
    EXPECT_EQ(count_open_files(), open_files);
    EXPECT_GT(failures, 0U);
}

TEST_P(StreamsFaultSweep, EveryFailureIsCleanlyReported) {
    sweep(inject::fail_nth);
}

TEST_P(StreamsFaultSweep, EveryFailureThatLastsIsCleanlyReported) {
    sweep(inject::fail_from);
}

INSTANTIATE_TEST_SUITE_P(Streams, StreamsFaultSweep, testing::ValuesIn(kOperations),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

// A stream whose memory the system will not take back keeps its addresses until it does.
TEST(StreamsFailure, AClosedStreamWaitsForTheSystem) {
    auto table = MemoryTable::create({.reserve_bytes = 2 * kMib});
    ASSERT_TRUE(table);
    auto stream = table->open_stream({.name = "sticky", .reserve_bytes = kMib});
    ASSERT_TRUE(stream);
    const auto block = stream->take(100, 1);
    ASSERT_TRUE(block);
    block->data[0] = std::byte{1};
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    stream->close();
    EXPECT_TRUE(inject::has_fired());
    EXPECT_EQ(table->check(), Status::ok);
    EXPECT_EQ(table->stats().streams, 0U);
    EXPECT_GT(table->stats().stream_bytes, 0U);
    // Refused again: the next stream gets other addresses.
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    auto other = table->open_stream({.name = "other", .reserve_bytes = 64 * kKib});
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    ASSERT_TRUE(other);
    EXPECT_NE(other->range().data, block->data);
    auto same = table->open_stream({.name = "same", .reserve_bytes = kMib});
    ASSERT_TRUE(same);
    EXPECT_EQ(same->range().data, block->data);
    EXPECT_EQ(same->take(100, 1)->data[0], std::byte{0});
}

using StreamsAssetFailure = AssetFiles;

// A mapped file that cannot be taken away at once is gone before its place is used again.
TEST_F(StreamsAssetFailure, FilePagesAreTakenAwayLater) {
    const std::string file = write("a", pattern(100'000));
    ASSERT_TRUE(assets_.load(file.c_str(), {.way = LoadWay::map}));
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    ASSERT_TRUE(assets_.release(level_));
    EXPECT_TRUE(inject::has_fired());
    EXPECT_EQ(assets_.stats().used_bytes, 0U);
    const auto next = assets_.open_scope("next");
    ASSERT_TRUE(next);
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(assets_.allocate("plain", 10).status(), Status::out_of_memory);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    // The file loses its pages: touching them would be a fault.
    std::filesystem::resize_file(file, 0);
    const auto plain = assets_.allocate("plain", 200'000);
    ASSERT_TRUE(plain);
    const std::span<const std::byte> bytes = *assets_.bytes(*plain);
    for (const std::byte byte : bytes)
        ASSERT_EQ(byte, std::byte{0});
}

}  // namespace
