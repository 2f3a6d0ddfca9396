#include "small_table.hpp"

#include <ouro/streams/block_listing.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::ByteSink;
using ouro::MemoryTable;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;

std::string written_by(void (*write)(const ByteSink&) noexcept) {
    std::string text;
    write({[](void* context, std::string_view bytes) { static_cast<std::string*>(context)->append(bytes); },
           &text});
    return text;
}

// The line that begins with these words.
std::string line_of(const std::string& text, const std::string& words) {
    const std::size_t start = text.find("\n" + words);
    if (start == std::string::npos) return {};
    return text.substr(start + 1, text.find('\n', start + 1) - start - 1);
}

TEST(BlockListing, AStreamStandsBelowItsTable) {
    auto table = MemoryTable::create({.name = "listed table", .reserve_bytes = 4 * kMib});
    ASSERT_TRUE(table);
    auto stream = table->open_stream({.name = "listed stream", .reserve_bytes = 1536 * kKib});
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->take(1000, 1));
    const std::string text = written_by(ouro::write_blocks_text);
    const std::string line = line_of(text, "  listed stream ");
    EXPECT_NE(line.find("part"), std::string::npos);
    EXPECT_NE(line.find("1.5 MiB"), std::string::npos);
    EXPECT_NE(line.find("256 KiB"), std::string::npos);
    EXPECT_NE(line.find("1000 B"), std::string::npos);
    EXPECT_NE(line.find("0x"), std::string::npos);
    const std::size_t above = text.find("\nlisted table ");
    ASSERT_NE(above, std::string::npos);
    EXPECT_GT(text.find("\n  listed stream "), above);
    EXPECT_FALSE(line_of(text, "in all ").empty());
    stream->close();
    EXPECT_EQ(written_by(ouro::write_blocks_text).find("listed stream"), std::string::npos);
}

TEST(BlockListing, JsonHasEveryNumber) {
    auto table = MemoryTable::create({.name = "a \"quoted\"\ttable\\", .reserve_bytes = 4 * kMib});
    ASSERT_TRUE(table);
    auto stream = table->open_stream({.name = "json stream", .reserve_bytes = kMib});
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->take(1000, 1));
    stream->cut_to(10);
    stream->publish();
    const std::string json = written_by(ouro::write_blocks_json);
    EXPECT_NE(json.find("{\"name\":\"a \\\"quoted\\\"?table\\\\\",\"tag\":\"untagged\",\"kind\":\"own\","
                        "\"within\":null,"),
              std::string::npos);
    const std::size_t start = json.find("{\"name\":\"json stream\"");
    ASSERT_NE(start, std::string::npos);
    const std::string entry = json.substr(start, json.find('}', start) - start + 1);
    EXPECT_EQ(entry.find("\"within\":null"), std::string::npos);
    EXPECT_NE(entry.find("\"reserved_bytes\":1048576,\"committed_bytes\":262144,\"cursor_bytes\":10,"
                         "\"high_water_bytes\":1000}"),
              std::string::npos);
    EXPECT_NE(json.find("],\"unlisted\":0}\n"), std::string::npos);
}

}  // namespace
