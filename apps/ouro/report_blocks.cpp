// The blocks of a report: what `ouro streams` lists one by one, summed up by tag.
#include "report_parts.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace ouro {
namespace {

using Entries = std::vector<BlockEntry>;

bool lies_within(const BlockEntry& part, const BlockEntry& whole) {
    return whole.base != 0 && part.base >= whole.base && part.base - whole.base < whole.reserved_bytes;
}

// The smallest listed block that a part lies in; a frame's memory may be part of a stream that is part of a
// table. Whole blocks are part of none.
std::optional<std::size_t> place_of(const Entries& entries, std::size_t part) {
    std::optional<std::size_t> place;
    if (entries[part].kind != BlockKind::borrowed) return place;
    const auto is_larger = [&](std::size_t one, std::size_t other) {
        // Of two that are the same range, the earlier one is around the later.
        return std::pair(entries[one].reserved_bytes, other) > std::pair(entries[other].reserved_bytes, one);
    };
    for (std::size_t index = 0; index < entries.size(); ++index) {
        const BlockEntry& whole = entries[index];
        const bool can_be = whole.kind == BlockKind::own ||
                            (whole.kind == BlockKind::borrowed && index != part && is_larger(index, part));
        if (can_be && lies_within(entries[part], whole) && (!place || is_larger(*place, index)))
            place = index;
    }
    return place;
}

// Of each block what no listed part of it has; nothing of parts of memory that is not listed.
struct Remainders {
    std::vector<std::uint64_t> committed;
    std::vector<std::uint64_t> high_water;
};

Remainders without_parts(const Entries& entries) {
    std::vector<std::optional<std::size_t>> places;
    Remainders left;
    for (std::size_t index = 0; index < entries.size(); ++index) {
        places.push_back(place_of(entries, index));
        left.committed.push_back(entries[index].committed_bytes);
        left.high_water.push_back(entries[index].peak_bytes);
    }
    for (std::size_t index = 0; index < entries.size(); ++index) {
        if (!places[index]) continue;
        const auto take = [](std::uint64_t& whole, std::uint64_t part) { whole -= std::min(whole, part); };
        take(left.committed[*places[index]], entries[index].committed_bytes);
        take(left.high_water[*places[index]], entries[index].peak_bytes);
    }
    // Each place is larger, or the same and earlier: the way up ends.
    const auto is_foreign = [&](std::size_t index) {
        while (places[index])
            index = *places[index];
        return entries[index].kind == BlockKind::borrowed;
    };
    for (std::size_t index = 0; index < entries.size(); ++index) {
        if (is_foreign(index)) left.committed[index] = left.high_water[index] = 0;
    }
    return left;
}

void add_table(const BlockTableCopy& table, BlocksReport& blocks,
               std::map<std::string, BlockTagReport>& tags) {
    const Remainders left = without_parts(table.entries);
    for (std::size_t index = 0; index < table.entries.size(); ++index) {
        const BlockEntry& entry = table.entries[index];
        const std::string name = block_tag_text(table, entry.tag);
        BlockTagReport& tag = tags[name];
        tag.tag = name;
        ++tag.blocks;
        tag.committed_bytes += left.committed[index];
        if (tells_use(entry))
            tag.high_water_bytes = tag.high_water_bytes.value_or(0) + left.high_water[index];
        blocks.committed_bytes += left.committed[index];
        blocks.list.push_back(
            {.name = printable(entry.name),
             .tag = name,
             .kind = std::string(block_kind_name(entry.kind)),
             .reserved_bytes = entry.reserved_bytes,
             .committed_bytes = entry.committed_bytes,
             .high_water_bytes = tells_use(entry) ? std::optional(entry.peak_bytes) : std::nullopt});
    }
    blocks.unlisted += table.unlisted;
}

}  // namespace

std::vector<BlockTableCopy> block_tables_of(const LoadedImage& loaded) {
    if (loaded.is_live) return find_block_tables(loaded.process_id);
    if (!is_block_table(loaded.blocks)) return {};
    std::vector<BlockTableCopy> tables{parse_block_table(loaded.blocks, "the recording")};
    tables.back().tag_names = parse_tag_table(loaded.tags);
    return tables;
}

void add_blocks(Report& report, const std::vector<BlockTableCopy>& tables) {
    // The same name is the same tag, whichever module registered it.
    std::map<std::string, BlockTagReport> tags;
    for (const BlockTableCopy& table : tables)
        add_table(table, report.blocks, tags);
    for (auto& [name, tag] : tags)
        report.blocks.tags.push_back(std::move(tag));
    const auto by_size = [](const auto& one, const auto& other) {
        return one.committed_bytes > other.committed_bytes;
    };
    std::stable_sort(report.blocks.tags.begin(), report.blocks.tags.end(), by_size);
    std::stable_sort(report.blocks.list.begin(), report.blocks.list.end(), by_size);
}

}  // namespace ouro
