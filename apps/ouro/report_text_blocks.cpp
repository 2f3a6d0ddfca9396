#include "report_text_parts.hpp"
#include "text_table.hpp"

#include <algorithm>

namespace ouro {

std::string use_text(const std::optional<std::uint64_t>& bytes) {
    return bytes ? size_text(*bytes) : "-";
}

std::string blocks_text(const Report& report, const ReportStyle& style) {
    const BlocksReport& blocks = report.blocks;
    if (blocks.tags.empty()) return "";
    using enum TextColumns::Side;
    TextColumns columns({left, left, right, right});
    columns.head({"Blocks", "tag", "committed", "high water"});
    for (const BlockTagReport& tag : blocks.tags)
        columns.row({count_text(tag.blocks) + (tag.blocks == 1 ? " block" : " blocks"), tag.tag,
                     size_text(tag.committed_bytes), use_text(tag.high_water_bytes)});
    const std::size_t shown = std::min(style.top, blocks.list.size());
    for (std::size_t index = 0; index < shown; ++index) {
        const BlockReport& block = blocks.list[index];
        columns.row({"  " + block.name, block.tag, size_text(block.committed_bytes),
                     use_text(block.high_water_bytes)});
    }
    std::string text = columns.text();
    if (shown < blocks.list.size())
        text += "  (of " + count_text(blocks.list.size()) + " blocks; `ouro streams` shows all)\n";
    if (blocks.unlisted != 0) text += "  (" + count_text(blocks.unlisted) + " more found the list full)\n";
    // What is charged lies in such blocks as a rule: the two are not to be added.
    return text + "  In all " + size_text(blocks.committed_bytes) +
           " in blocks that the program lists; budgets bound what is charged to tags, not these.\n";
}

}  // namespace ouro
