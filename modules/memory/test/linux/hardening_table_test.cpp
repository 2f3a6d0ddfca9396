// Produces the table of docs/hardening.md, and fails when the page says something else. With OURO_UPDATE_DOCS
// in the environment it writes the page instead: the columns that this build can produce.
#include "injected_bugs.hpp"
#include "page_table.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::HardeningTier;
using ouro::testing_support::kBugs;
using ouro::testing_support::PageTable;
using ouro::testing_support::when_noticed;

const std::vector<std::string> kColumns{"off", "checked", "hardened", "checked with ASan"};

using Table = std::map<std::string, std::map<std::string, std::string>>;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream text(line);
    std::string cell;
    std::getline(text, cell, '|');
    while (std::getline(text, cell, '|')) {
        const std::size_t first = cell.find_first_not_of(' ');
        cells.push_back(
            first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    return cells;
}

Table parse(const std::string& text) {
    Table table;
    std::stringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        const auto cells = cells_of(line);
        for (std::size_t i = 1; i < cells.size() && i <= kColumns.size(); ++i)
            table[cells[0]][kColumns[i - 1]] = cells[i];
    }
    return table;
}

std::string render(Table table) {
    std::string text = "| injected bug |";
    std::string rule = "|---|";
    for (const std::string& column : kColumns) {
        text += " " + column + " |";
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const auto& bug : kBugs) {
        const std::string name(bug.text);
        text += "| " + name + " |";
        for (const std::string& column : kColumns)
            text += " " + table[name][column] + " |";
        text += "\n";
    }
    return text;
}

void produce(Table& table, const std::string& column, HardeningTier tier) {
    for (const auto& bug : kBugs)
        table[std::string(bug.text)][column] = std::string(when_noticed(bug.bug, tier));
}

TEST(HardeningTable, ThePageTellsWhatIsNoticed) {
    // Where blocks are aligned to more, more bytes lie between their ends and what is watched.
    if (ouro::kDefaultAlignment != 16) GTEST_SKIP() << "the page tells of blocks that are aligned to 16";
    const PageTable page("hardening_table_test");
    ASSERT_FALSE(page.before.empty()) << "the page lacks its two markers";
    Table table = parse(page.table);
    if (ouro::annotate::kAddressSanitizer) {
        produce(table, "checked with ASan", HardeningTier::checked);
    } else {
        produce(table, "off", HardeningTier::off);
        produce(table, "checked", HardeningTier::checked);
        produce(table, "hardened", HardeningTier::hardened);
    }
    page.demand(render(table));
}

}  // namespace
