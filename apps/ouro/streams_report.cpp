#include "report_parts.hpp"
#include "report_text_parts.hpp"
#include "streams_command.hpp"
#include "text_columns.hpp"
#include "text_table.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace ouro {
namespace {

std::string address_text(std::uint64_t address) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16);
    return "0x" + std::string(digits.data(), end.ptr);
}

// The index of the block that this one is a part of.
std::optional<std::size_t> whole_of(const std::vector<BlockEntry>& entries, const BlockEntry& part) {
    if (part.kind != BlockKind::borrowed) return std::nullopt;
    for (std::size_t index = 0; index < entries.size(); ++index) {
        const BlockEntry& whole = entries[index];
        if (whole.kind == BlockKind::own && part.base >= whole.base &&
            part.base - whole.base < whole.reserved_bytes)
            return index;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> told_use(const BlockEntry& entry, std::uint64_t bytes) {
    return tells_use(entry) ? std::optional(bytes) : std::nullopt;
}

void add_row(TextColumns& columns, const BlockTableCopy& table, const BlockEntry& entry, bool is_part) {
    columns.row({(is_part ? "  " : "") + printable(entry.name), block_tag_text(table, entry.tag),
                 std::string(block_kind_name(entry.kind)), size_text(entry.reserved_bytes),
                 size_text(entry.committed_bytes), use_text(told_use(entry, entry.cursor_bytes)),
                 use_text(told_use(entry, entry.peak_bytes)),
                 entry.base != 0 ? address_text(entry.base) : ""});
}

std::string table_text(const BlockTableCopy& table) {
    using enum TextColumns::Side;
    TextColumns columns({left, left, left, right, right, right, right, left});
    columns.head({"block", "tag", "kind", "reserved", "committed", "cursor", "high-water", "address"});
    std::uint64_t reserved = 0;
    std::uint64_t committed = 0;
    std::optional<std::uint64_t> cursor;
    for (std::size_t index = 0; index < table.entries.size(); ++index) {
        const BlockEntry& entry = table.entries[index];
        if (whole_of(table.entries, entry)) continue;
        add_row(columns, table, entry, false);
        for (const BlockEntry& part : table.entries) {
            if (whole_of(table.entries, part) == index) add_row(columns, table, part, true);
        }
        if (entry.kind == BlockKind::borrowed) continue;
        reserved += entry.reserved_bytes;
        committed += entry.committed_bytes;
        if (tells_use(entry)) cursor = cursor.value_or(0) + entry.cursor_bytes;
    }
    columns.row({"in all", "", "", size_text(reserved), size_text(committed), use_text(cursor), "", ""});
    std::string text = columns.text();
    if (table.unlisted != 0) text += count_text(table.unlisted) + " more found the list full\n";
    return text;
}

nlohmann::ordered_json table_json(const BlockTableCopy& table) {
    nlohmann::ordered_json blocks = nlohmann::ordered_json::array();
    for (const BlockEntry& entry : table.entries) {
        const auto whole = whole_of(table.entries, entry);
        nlohmann::ordered_json block{{"name", printable(entry.name)},
                                     {"tag", block_tag_text(table, entry.tag)},
                                     {"kind", std::string(block_kind_name(entry.kind))},
                                     {"within", nullptr},
                                     {"base", nullptr},
                                     {"reserved_bytes", entry.reserved_bytes},
                                     {"committed_bytes", entry.committed_bytes},
                                     {"cursor_bytes", entry.cursor_bytes},
                                     {"high_water_bytes", entry.peak_bytes}};
        if (whole) block["within"] = *whole;
        if (entry.base != 0) block["base"] = address_text(entry.base);
        blocks.push_back(std::move(block));
    }
    return {{"module", printable(table.module)}, {"blocks", blocks}, {"unlisted", table.unlisted}};
}

}  // namespace

std::string streams_text(const StreamsReport& report) {
    std::string text;
    for (const BlockTableCopy& table : report.tables) {
        if (!text.empty()) text += '\n';
        text += "process " + std::to_string(report.process_id);
        text += report.is_live ? "" : ", recorded";
        if (!table.module.empty()) text += ", " + printable(table.module);
        text += ": " + count_text(table.entries.size()) +
                (table.entries.size() == 1 ? " block\n" : " blocks\n") + table_text(table);
    }
    return text;
}

nlohmann::ordered_json streams_json(const StreamsReport& report) {
    nlohmann::ordered_json tables = nlohmann::ordered_json::array();
    for (const BlockTableCopy& table : report.tables)
        tables.push_back(table_json(table));
    return {{"process_id", report.process_id}, {"is_live", report.is_live}, {"tables", tables}};
}

}  // namespace ouro
