#include "block_table_reader.hpp"
#include "image_reader.hpp"
#include "report_json.hpp"
#include "report_model.hpp"
#include "report_text.hpp"
#include "streams_command.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/detail/tag_table.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::BlockEntry;
using ouro::BlockKind;
using ouro::BlockTable;
using ouro::BlockTableCopy;

BlockEntry entry_of(const char* name, BlockKind kind, std::uint64_t base, std::uint64_t reserved) {
    BlockEntry entry{.generation = 1,
                     .tag = 0,
                     .kind = kind,
                     .use_is_told = 1,
                     .base = base,
                     .reserved_bytes = reserved,
                     .committed_bytes = reserved / 2,
                     .cursor_bytes = 10,
                     .peak_bytes = 20,
                     .name = {}};
    std::strncpy(entry.name.data(), name, entry.name.size() - 1);
    return entry;
}

// The bytes of a table with two entries, the second of which is not listed.
std::vector<std::byte> table_bytes() {
    const auto table = std::make_unique<BlockTable>();
    table->magic = {'o', 'u', 'r', 'o', 'b', 'l', 'k', '\0'};
    table->version = 1;
    table->entry_bytes = sizeof(BlockEntry);
    table->capacity = ouro::kMaxListedBlocks;
    table->used_entries = 2;
    table->unlisted = 3;
    table->entries[0] = entry_of("kept", BlockKind::own, 4096, 8192);
    table->entries[1] = entry_of("gone", BlockKind::own, 4096, 8192);
    table->entries[1].generation = 2;
    std::vector<std::byte> bytes(offsetof(BlockTable, entries) + 2 * sizeof(BlockEntry));
    std::memcpy(bytes.data(), table.get(), bytes.size());
    return bytes;
}

TEST(BlockTableReader, TakesWhatIsListed) {
    const BlockTableCopy copy = ouro::parse_block_table(table_bytes(), "here");
    ASSERT_EQ(copy.entries.size(), 1U);
    EXPECT_STREQ(copy.entries[0].name.data(), "kept");
    EXPECT_EQ(copy.unlisted, 3U);
}

TEST(BlockTableReader, WhatIsNoTableIsNamed) {
    EXPECT_THROW((void)ouro::parse_block_table({}, "here"), ouro::ReportError);
    std::vector<std::byte> bytes = table_bytes();
    bytes[0] = std::byte{'x'};
    EXPECT_THROW((void)ouro::parse_block_table(bytes, "here"), ouro::ReportError);
    bytes = table_bytes();
    bytes[offsetof(BlockTable, version)] = std::byte{9};
    EXPECT_THROW((void)ouro::parse_block_table(bytes, "here"), ouro::ReportError);
}

// What comes from elsewhere can be anything: it is shown, or refused.
TEST(BlockTableReader, RandomDamageIsNoHarm) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ouro::Random random(seed);
        std::vector<std::byte> bytes = table_bytes();
        for (int i = 0; i < 20; ++i) {
            const auto at = 16 + random.below(static_cast<std::uint32_t>(bytes.size() - 16));
            bytes[at] = static_cast<std::byte>(random.below(256));
        }
        bytes.resize(sizeof(std::uint64_t) * 4 + random.below(200));
        ouro::StreamsReport report{.process_id = 1, .tables = {ouro::parse_block_table(bytes, "here")}};
        report.tables[0].tag_names = ouro::parse_tag_table(bytes);
        EXPECT_FALSE(ouro::streams_text(report).empty());
        EXPECT_FALSE(ouro::streams_json(report).dump().empty());
        ouro::Report summed;
        ouro::add_blocks(summed, report.tables);
        EXPECT_FALSE(ouro::report_json(summed).dump().empty());
    }
}

TEST(BlockTableReader, TagsHaveNames) {
    const auto tag = ouro::register_tag("block-table-test");
    ASSERT_TRUE(tag);
    const auto own = ouro::detail::tag_table_bytes();
    const auto names = ouro::parse_tag_table({own.begin(), own.end()});
    ASSERT_TRUE(names.contains(tag->id()));
    EXPECT_EQ(names.at(tag->id()), "block-table-test");
    EXPECT_TRUE(ouro::parse_tag_table({}).empty());
    EXPECT_TRUE(ouro::parse_tag_table(table_bytes()).empty());
}

TEST(StreamsReport, PartsStandBelowTheirWhole) {
    BlockTableCopy table;
    table.entries = {entry_of("stream", BlockKind::borrowed, 8192, 4096),
                     entry_of("table", BlockKind::own, 4096, 65536),
                     entry_of("loose", BlockKind::borrowed, 1 << 30, 4096),
                     entry_of("pool", BlockKind::scattered, 0, 4096)};
    table.entries[0].tag = 7;
    const ouro::StreamsReport report{.process_id = 42, .tables = {table}};
    const std::string text = ouro::streams_text(report);
    EXPECT_LT(text.find("\n  table"), text.find("\n    stream"));
    EXPECT_LT(text.find("\n    stream"), text.find("\n  loose"));
    EXPECT_NE(text.find("tag 7"), std::string::npos);
    // Parts are left out of the sum.
    EXPECT_NE(text.find("68 KiB"), std::string::npos);
    const auto json = ouro::streams_json(report);
    EXPECT_EQ(json["tables"][0]["blocks"][0]["within"], 1);
    EXPECT_TRUE(json["tables"][0]["blocks"][2]["within"].is_null());
    EXPECT_TRUE(json["tables"][0]["blocks"][3]["base"].is_null());
}

TEST(StreamsReport, WhatNobodyHasToldIsADash) {
    BlockTableCopy table;
    table.entries = {entry_of("heap", BlockKind::own, 4096, 65536)};
    table.entries[0].cursor_bytes = 0;
    table.entries[0].peak_bytes = 0;
    std::string text = ouro::streams_text({.process_id = 42, .tables = {table}});
    EXPECT_EQ(text.find("   -"), std::string::npos) << "a zero that was told:\n" << text;
    table.entries[0].use_is_told = 0;
    text = ouro::streams_text({.process_id = 42, .tables = {table}});
    EXPECT_NE(text.find("32 KiB       -           -  0x1000"), std::string::npos) << text;
    EXPECT_NE(text.find("32 KiB       -\n"), std::string::npos) << text;
    // Of nothing, nothing is in use.
    table.entries[0].committed_bytes = 0;
    text = ouro::streams_text({.process_id = 42, .tables = {table}});
    EXPECT_EQ(text.find("   -"), std::string::npos) << text;
}

TEST(ReportBlocks, WhatNobodyHasToldIsADash) {
    BlockTableCopy table;
    table.tag_names = {{1, "heaps"}};
    table.entries = {entry_of("told", BlockKind::own, 4096, 65536),
                     entry_of("untold", BlockKind::own, 1 << 20, 65536)};
    table.entries[1].tag = 1;
    table.entries[1].use_is_told = 0;
    ouro::Report report;
    ouro::add_blocks(report, {table});
    const auto json = ouro::report_json(report)["blocks"];
    for (const char* const part : {"tags", "list"}) {
        for (const auto& block : json[part]) {
            const bool is_told = block["tag"] == "untagged";
            EXPECT_EQ(block["high_water_bytes"].is_null(), !is_told) << json;
        }
    }
    const std::string text = ouro::report_text(report, {.top = 3});
    EXPECT_NE(text.find("32 KiB        20 B"), std::string::npos) << text;
    EXPECT_NE(text.find("32 KiB           -"), std::string::npos) << text;
}

// A frame in a stream of a table: each tag has what no listed part of its blocks has.
TEST(ReportBlocks, PartsCountOnceAndUnderTheirOwnTag) {
    BlockTableCopy table;
    table.tag_names = {{1, "streams"}, {2, "frames"}};
    table.entries = {entry_of("frame", BlockKind::borrowed, 8192, 2048),
                     entry_of("table", BlockKind::own, 4096, 65536),
                     entry_of("stream", BlockKind::borrowed, 8192, 8192),
                     entry_of("loose", BlockKind::borrowed, 1 << 30, 4096),
                     entry_of("pool", BlockKind::scattered, 0, 4000)};
    table.entries[0].tag = 2;
    table.entries[2].tag = 1;
    ouro::Report report;
    ouro::add_blocks(report, {table, table});
    const ouro::BlocksReport& blocks = report.blocks;
    EXPECT_EQ(blocks.committed_bytes, 2U * (32768 + 2000));
    ASSERT_EQ(blocks.tags.size(), 3U);
    EXPECT_EQ(blocks.tags[0].tag, "untagged");
    EXPECT_EQ(blocks.tags[0].blocks, 6U);
    EXPECT_EQ(blocks.tags[0].committed_bytes, 2U * (32768 - 4096 + 2000));
    EXPECT_EQ(blocks.tags[1].tag, "streams");
    EXPECT_EQ(blocks.tags[1].committed_bytes, 2U * (4096 - 1024));
    EXPECT_EQ(blocks.tags[2].tag, "frames");
    EXPECT_EQ(blocks.tags[2].committed_bytes, 2U * 1024);
    EXPECT_EQ(blocks.list.size(), 10U);
    EXPECT_EQ(blocks.list[0].name, "table");
    const std::string text = ouro::report_text(report, {.top = 3});
    EXPECT_NE(text.find("of 10 blocks"), std::string::npos) << text;
    ouro::keep_tag(report, "streams");
    EXPECT_EQ(report.blocks.committed_bytes, 2U * (4096 - 1024));
    EXPECT_EQ(report.blocks.list.size(), 2U);
    EXPECT_THROW(ouro::keep_tag(report, "frames"), ouro::ReportError);
}

}  // namespace
