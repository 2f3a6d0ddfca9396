#include "harness/report.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ouro::bench {
namespace {

Row full_row() {
    Row row;
    row.label = {"os", "protect a page", "ns"};
    row.ours = 105;
    row.peer = "mprotect(2)";
    row.peer_version = "Linux 6.1";
    row.peer_value = 100;
    row.bar = ratio_at_most(1.1);
    row.statistic = "min of 11";
    return row;
}

TEST(Row, MetComparesTheRatioWithTheBar) {
    Row row = full_row();
    EXPECT_DOUBLE_EQ(row.ratio().value(), 1.05);
    EXPECT_EQ(row.met(), Met::yes);
    row.bar = ratio_at_most(1.04);
    EXPECT_EQ(row.met(), Met::no);
    row.bar = ratio_at_least(1.05);
    EXPECT_EQ(row.met(), Met::yes);
    row.bar = ratio_at_least(1.06);
    EXPECT_EQ(row.met(), Met::no);
}

TEST(Row, MetComparesTheDifferenceWithTheBar) {
    Row row = full_row();
    row.bar = difference_at_most(5);
    EXPECT_EQ(row.met(), Met::yes);
    row.bar = difference_at_most(4.9);
    EXPECT_EQ(row.met(), Met::no);
    row.peer_value.reset();
    EXPECT_EQ(row.met(), Met::unknown);
}

TEST(Row, MetIsUnknownWithoutPeerBarOrOwnValue) {
    Row row = full_row();
    row.bar.reset();
    EXPECT_EQ(row.met(), Met::unknown);
    row = full_row();
    row.peer_value.reset();
    EXPECT_EQ(row.met(), Met::unknown);
    row = full_row();
    row.peer_value = 0;
    EXPECT_FALSE(row.ratio().has_value());
    EXPECT_EQ(row.met(), Met::unknown);
    row = full_row();
    row.ours.reset();
    EXPECT_EQ(row.met(), Met::unknown);
}

TEST(Row, ABarOnTheValueNeedsNoPeer) {
    Row row = full_row();
    row.peer_value.reset();
    row.bar = value_at_most(105);
    EXPECT_EQ(row.met(), Met::yes);
    row.bar = value_at_least(106);
    EXPECT_EQ(row.met(), Met::no);
}

TEST(JsonReport, StartsWithTheMachineAndThenHasTheRows) {
    Machine machine;
    machine.cpu = "Some CPU";
    machine.cores = 2;
    const auto json = nlohmann::json::parse(json_report(machine, {full_row(), full_row()}));
    ASSERT_TRUE(json.is_array());
    ASSERT_EQ(json.size(), 3U);
    EXPECT_EQ(json[0]["cpu"], "Some CPU");
    for (const char* key : {"cpu", "cores", "memory_bytes", "kernel", "compiler", "build_type", "page_bytes",
                            "transparent_huge_pages", "date", "quick"})
        EXPECT_TRUE(json[0].contains(key)) << key;
    EXPECT_FALSE(json[0].contains("case"));
    for (const char* key :
         {"suite", "case", "unit", "ours", "peer", "peer_version", "peer_value", "ratio", "bar", "met"})
        EXPECT_TRUE(json[1].contains(key)) << key;
    EXPECT_EQ(json[1]["case"], "protect a page");
    EXPECT_DOUBLE_EQ(json[1]["ratio"].get<double>(), 1.05);
    EXPECT_EQ(json[1]["met"], true);
    EXPECT_EQ(json[1]["bar_sense"], "at_most");
    EXPECT_FALSE(json[1].contains("memory_bytes"));
}

TEST(JsonReport, UnknownFiguresAreNullAndMetSaysSo) {
    Row row = full_row();
    row.peer_value.reset();
    row.peer_version.clear();
    row.memory_bytes = 7;
    const auto json = nlohmann::json::parse(json_report({}, {row}));
    EXPECT_TRUE(json[1]["peer_value"].is_null());
    EXPECT_TRUE(json[1]["peer_version"].is_null());
    EXPECT_TRUE(json[1]["ratio"].is_null());
    EXPECT_EQ(json[1]["met"], "unknown");
    EXPECT_EQ(json[1]["memory_bytes"], 7);
    row = full_row();
    row.bar = ratio_at_most(1);
    EXPECT_EQ(nlohmann::json::parse(json_report({}, {row}))[1]["met"], false);
}

void expect_narrow(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), kTableColumns) << line;
}

TEST(TableReport, StaysWithinItsColumnsWhateverTheTexts) {
    Row row = full_row();
    row.label.name = std::string(300, 'n');
    row.peer = std::string(300, 'p');
    row.note = "words " + std::string(300, 'w') + " and a very long explanation " + std::string(100, 'x');
    row.ours = 1e30;
    row.bound = 0.0001;
    row.bound_name = "the bound";
    const std::string text = table_row(row);
    expect_narrow(text);
    EXPECT_NE(text.find("and a very long explanation"), std::string::npos);
    expect_narrow(table_heading("os", "about"));
    Machine machine;
    machine.cpu = std::string(200, 'c');
    expect_narrow(table_machine(machine));
}

TEST(TableReport, ShowsEveryPartOfARow) {
    Row row = full_row();
    row.note = "reference 99 ns";
    row.memory_bytes = 3 << 20;
    const std::string text = table_row(row);
    for (const char* part : {"protect a page", "ns", "105", "mprotect(2) Linux 6.1", "100", "1.05", "<=1.1",
                             "true", "reference 99 ns", "memory: 3.00 MiB"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
    row.peer_value.reset();
    EXPECT_NE(table_row(row).find("unknown"), std::string::npos);
}

TEST(TableReport, SummaryCountsTheBars) {
    Row missed = full_row();
    missed.bar = ratio_at_most(1);
    Row unknown = full_row();
    unknown.bar.reset();
    Row without_peer = full_row();
    without_peer.peer_value.reset();
    const std::string text =
        table_summary({full_row(), full_row(), missed, unknown, unknown, unknown, without_peer});
    EXPECT_NE(text.find("7 rows: 2 bars met, 1 missed; unknown: 3 no bar, 1 peer missing"), std::string::npos)
        << text;
}

TEST(TableReport, AQuickSessionJudgesNothing) {
    Row row = full_row();
    row.judged = false;
    const std::string line = table_row(row);
    EXPECT_EQ(line.find("true"), std::string::npos) << line;
    EXPECT_EQ(line.find("<="), std::string::npos) << line;
    EXPECT_EQ(nlohmann::json::parse(json_report({}, {row}))[1]["met"], "unknown");
    const std::string summary = table_summary({row});
    EXPECT_NE(summary.find("1 row: quick, so no bar was judged"), std::string::npos) << summary;
}

}  // namespace
}  // namespace ouro::bench
