// A ring whose image and history are streams of a table.
#include "small_table.hpp"

#include <ouro/memory/seal.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::kKib;
using testing_support::kMib;
using testing_support::small_table;

constexpr SegmentOptions kWorld{.name = "world", .bytes = 256 * kKib};

StateRingOptions options_in(MemoryTable& table, std::string_view name = "state") {
    return {.segments = {&kWorld, 1},
            .history_ticks = 8,
            .history_bytes = 2 * kMib,
            .table = &table,
            .name = name};
}

Tick put(StateRing& ring, std::uint64_t value) {
    std::byte* const at = ring.segment_block("world")->data + 5000;
    std::memcpy(at, &value, sizeof(value));
    EXPECT_EQ(ring.mark(at, sizeof(value)), Status::ok);
    return ring.commit().value_or(0);
}

std::uint64_t number_in(const StateRing& ring) {
    std::uint64_t value = 0;
    std::memcpy(&value, ring.segment_block("world")->data + 5000, sizeof(value));
    return value;
}

// As much as the ring does with its memory, and what it leaves there.
void use(StateRing& ring) {
    const Tick first = put(ring, 11);
    for (std::uint64_t value = 12; value <= 40; ++value)
        put(ring, value);
    const Tick newest = ring.newest();
    EXPECT_GT(newest, first);
    {
        const auto past = ring.view(newest - 3);
        ASSERT_TRUE(past);
        std::uint64_t value = 0;
        const auto offset =
            static_cast<std::uint64_t>(ring.segment_block("world")->data - ring.image().data) + 5000;
        ASSERT_EQ(past->read(offset, std::as_writable_bytes(std::span(&value, 1))), Status::ok);
        EXPECT_EQ(value, 37U);
    }
    ASSERT_TRUE(ring.rollback(newest - 5));
    EXPECT_EQ(number_in(ring), 35U);
    EXPECT_EQ(ring.check(), Status::ok);
}

TEST(RingInTable, IsTwoStreams) {
    MemoryTable table = small_table();
    const auto tag = register_tag("ring-table-tag");
    ASSERT_TRUE(tag);
    StateRingOptions options = options_in(table, "town");
    options.tag = *tag;
    auto ring = StateRing::create(options);
    ASSERT_TRUE(ring) << status_name(ring.status());
    std::array<BlockInfo, 3> listed;
    ASSERT_EQ(table.snapshot_streams(listed), 2U);
    const bool is_image_first = listed[0].name() == "town";
    const BlockInfo& image = listed[is_image_first ? 0 : 1];
    const BlockInfo& history = listed[is_image_first ? 1 : 0];
    EXPECT_EQ(image.name(), "town");
    EXPECT_EQ(history.name(), "town: history");
    EXPECT_EQ(image.base, reinterpret_cast<std::uintptr_t>(ring->image().data));
    EXPECT_EQ(image.committed_bytes, ring->image().size);
    EXPECT_EQ(history.committed_bytes, ring->stats().history_bytes);
    EXPECT_LE(history.committed_bytes, options.history_bytes);
    for (const BlockInfo& each : {image, history}) {
        EXPECT_EQ(each.tag, *tag);
        EXPECT_EQ(each.kind, BlockKind::borrowed);
        EXPECT_GE(each.base, reinterpret_cast<std::uintptr_t>(table.range().data));
        EXPECT_LE(each.base + each.reserved_bytes, reinterpret_cast<std::uintptr_t>(table.range().end()));
    }
    use(*ring);
    EXPECT_EQ(table.check(), Status::ok);
    EXPECT_EQ(table.stats().refusals, 0U);
}

TEST(RingInTable, OfItsOwnAddressesIsListedTheSame) {
    const auto ring = StateRing::create(
        {.segments = {&kWorld, 1}, .history_ticks = 8, .history_bytes = 2 * kMib, .name = "lonely"});
    ASSERT_TRUE(ring);
    std::size_t found = 0;
    for (std::size_t index = 0; index < listed_block_limit(); ++index) {
        const auto block = block_at(index);
        if (!block || (block->name() != "lonely" && block->name() != "lonely: history")) continue;
        ++found;
        EXPECT_EQ(block->kind, BlockKind::own);
        EXPECT_LT(block->cursor_bytes, block->committed_bytes);
        EXPECT_NE(block->cursor_bytes, 0U);
    }
    EXPECT_EQ(found, 2U);
}

// How full the image and the history are, for whoever lists the blocks of the process.
void expect_use_is_listed(StateRing& ring, std::string_view name) {
    const auto listed = [&](bool is_history) {
        BlockInfo found;
        visit_blocks([&](const BlockInfo& block) {
            const bool is_it =
                block.name().starts_with(name) && block.name().ends_with(": history") == is_history;
            if (is_it) found = block;
        });
        return found;
    };
    const std::size_t image_before = listed(false).cursor_bytes;
    const std::size_t history_before = listed(true).cursor_bytes;
    EXPECT_EQ(image_before, kStatePageBytes) << "the header";
    const MemoryBlock world = *ring.segment_block("world");
    for (int tick = 1; tick <= 3; ++tick) {
        for (std::size_t page = 0; page < 10; ++page)
            world.data[page * kStatePageBytes] = static_cast<std::byte>(tick);
        ASSERT_EQ(ring.mark(world.data, 10 * kStatePageBytes), Status::ok);
        ASSERT_TRUE(ring.commit());
    }
    EXPECT_EQ(listed(false).cursor_bytes, image_before + 10 * kStatePageBytes);
    EXPECT_EQ(listed(true).cursor_bytes, history_before + 30 * kStatePageBytes);
    ASSERT_TRUE(ring.rollback(1));
    EXPECT_EQ(listed(true).cursor_bytes, history_before + 10 * kStatePageBytes);
    EXPECT_EQ(listed(true).peak_bytes, history_before + 30 * kStatePageBytes);
    EXPECT_EQ(listed(true).committed_bytes - listed(true).cursor_bytes,
              ring.stats().free_slots * kStatePageBytes + listed(true).committed_bytes -
                  static_cast<std::size_t>(ring.stats().history_bytes));
    ASSERT_TRUE(ring.rollback(0));
    EXPECT_EQ(listed(false).cursor_bytes, image_before);
    EXPECT_EQ(listed(false).peak_bytes, image_before + 10 * kStatePageBytes);
    EXPECT_EQ(listed(false).committed_bytes, ring.image().size);
}

TEST(RingInTable, ListsHowFullItIs) {
    MemoryTable table = small_table();
    auto ring = StateRing::create(options_in(table, "town"));
    ASSERT_TRUE(ring);
    expect_use_is_listed(*ring, "town");
    EXPECT_EQ(table.check(), Status::ok);
    auto plain = StateRing::create(
        {.segments = {&kWorld, 1}, .history_ticks = 8, .history_bytes = 2 * kMib, .name = "plain town"});
    ASSERT_TRUE(plain);
    expect_use_is_listed(*plain, "plain town");
}

TEST(RingInTable, GivesItsStreamsBack) {
    MemoryTable table = small_table();
    const std::byte* first_place = nullptr;
    // Again and again in the same addresses, which are zero each time.
    for (int round = 0; round < 4; ++round) {
        auto ring = StateRing::create(options_in(table));
        ASSERT_TRUE(ring);
        EXPECT_EQ(number_in(*ring), 0U);
        if (first_place == nullptr) first_place = ring->image().data;
        EXPECT_EQ(ring->image().data, first_place);
        use(*ring);
    }
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.stats().stream_bytes, 0U);
    EXPECT_EQ(table.check(), Status::ok);
}

TEST(RingInTable, MovesAndSoDoesTheTable) {
    MemoryTable first = small_table();
    auto made = StateRing::create(options_in(first));
    ASSERT_TRUE(made);
    StateRing ring = *std::move(made);
    MemoryTable table = std::move(first);
    const std::byte* const place = ring.image().data;
    put(ring, 5);
    StateRing other = std::move(ring);
    EXPECT_EQ(other.image().data, place);
    EXPECT_EQ(number_in(other), 5U);
    use(other);
    EXPECT_EQ(table.stats().streams, 2U);
    // In the place of one from nowhere, and of one from the table.
    StateRing third;
    third = std::move(other);
    EXPECT_EQ(table.stats().streams, 2U);
    auto fresh = StateRing::create(options_in(table, "fresh"));
    ASSERT_TRUE(fresh);
    EXPECT_EQ(table.stats().streams, 4U);
    third = *std::move(fresh);
    EXPECT_EQ(table.stats().streams, 2U);
    use(third);
    third = StateRing();
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.check(), Status::ok);
}

TEST(RingInTable, AFullTableNamesTheStream) {
    constexpr std::size_t kSmall = 128 * kKib;
    MemoryTable tiny = small_table(kSmall);
    EXPECT_EQ(StateRing::create(options_in(tiny)).status(), Status::capacity_exhausted);
    EXPECT_EQ(tiny.last_refusal().name(), "state");
    EXPECT_EQ(tiny.last_refusal().status, Status::capacity_exhausted);
    EXPECT_GE(tiny.last_refusal().wanted_bytes, kWorld.bytes);
    EXPECT_EQ(tiny.stats().streams, 0U);

    MemoryTable table = small_table(kMib);
    EXPECT_EQ(StateRing::create(options_in(table)).status(), Status::capacity_exhausted);
    EXPECT_EQ(table.last_refusal().name(), "state: history");
    EXPECT_GT(table.last_refusal().wanted_bytes, kMib);
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.stats().stream_bytes, 0U);
    EXPECT_EQ(table.check(), Status::ok);
    std::array<char, 200> text;
    EXPECT_EQ(describe_refusal(table.last_refusal(), text).find("stream 'state: history' was refused "), 0U);
}

TEST(RingInTable, UnderASealTheHistoryIsRefused) {
    MemoryTable table = small_table();
    {
        const SealScope sealed;
        EXPECT_EQ(StateRing::create(options_in(table)).status(), Status::sealed);
    }
    EXPECT_EQ(table.last_refusal().status, Status::sealed);
    EXPECT_EQ(table.stats().streams, 0U);
    auto ring = StateRing::create(options_in(table));
    ASSERT_TRUE(ring);
    // What is there already needs nothing more.
    const SealScope sealed;
    use(*ring);
}

TEST(RingInTable, BadOptionsLeaveNothingOpen) {
    MemoryTable table = small_table();
    StateRingOptions options = options_in(table);
    options.address = table.range().data;
    EXPECT_EQ(StateRing::create(options).status(), Status::bad_argument);
    EXPECT_EQ(StateRing::create(options_in(table, "")).status(), Status::bad_argument);
    options = options_in(table);
    options.history_bytes = kMib / 4;
    EXPECT_EQ(StateRing::create(options).status(), Status::budget_exceeded);
    EXPECT_EQ(table.stats().streams, 0U);
    EXPECT_EQ(table.stats().refusals, 0U);
}

// The longest name that the list can show still says which of the two it is.
TEST(RingInTable, ALongNameIsCutBeforeItsEnd) {
    MemoryTable table = small_table();
    const auto ring = StateRing::create(options_in(table, "a world with a name that is far too long for it"));
    ASSERT_TRUE(ring);
    std::array<BlockInfo, 2> listed;
    ASSERT_EQ(table.snapshot_streams(listed), 2U);
    const bool is_shown = listed[0].name().ends_with(": history") || listed[1].name().ends_with(": history");
    EXPECT_TRUE(is_shown);
}

TEST(RingInTable, PrefaultsTooAndPacks) {
    MemoryTable table = small_table(32 * kMib);
    StateRingOptions options = options_in(table);
    options.history_bytes = 8 * kMib;
    options.packing = true;
    options.dense_ticks = 2;
    options.prefaults = true;
    auto ring = StateRing::create(options);
    ASSERT_TRUE(ring) << status_name(ring.status());
    use(*ring);
    EXPECT_GT(ring->stats().packed_versions, 0U);
}

}  // namespace
}  // namespace ouro
