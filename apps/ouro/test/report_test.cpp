#include "report_json.hpp"
#include "report_model.hpp"
#include "report_text.hpp"
#include "report_traffic.hpp"

#include <ouro/observe/recording.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

const TagReport* find_tag(const Report& report, const std::string& name) {
    const auto found = std::find_if(report.tags.begin(), report.tags.end(),
                                    [&name](const TagReport& tag) { return tag.name == name; });
    return found == report.tags.end() ? nullptr : &*found;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void expect_the_traffic(const Report& report) {
    const TagReport* const game = find_tag(report, "traffic-game");
    const TagReport* const creatures = find_tag(report, "traffic-creatures");
    const TagReport* const memories = find_tag(report, "traffic-memories");
    ASSERT_TRUE(game != nullptr && creatures != nullptr && memories != nullptr);
    EXPECT_EQ(game->live_bytes, 46'000U);
    EXPECT_EQ(game->own_live_bytes, 1'000U);
    EXPECT_EQ(game->live_blocks, 3U);
    EXPECT_EQ(creatures->live_bytes, 45'000U);
    EXPECT_EQ(creatures->peak_bytes, 45'000U);
    EXPECT_EQ(creatures->soft_bytes, 40'000U);
    EXPECT_EQ(creatures->hard_bytes, 64'000U);
    EXPECT_FALSE(game->hard_bytes);
    EXPECT_EQ(memories->parent, creatures->id);
    EXPECT_EQ(memories->depth, 3U);
    ASSERT_EQ(memories->failures.size(), 1U);
    EXPECT_EQ(memories->failures[0].reason, "budget_exceeded");
    ASSERT_GE(report.events.size(), 2U);
    EXPECT_EQ(report.events[0].kind, "request_refused");
    EXPECT_EQ(report.events[0].tag, "traffic-memories");
    EXPECT_EQ(report.events[0].bytes, 25'000U);
    EXPECT_EQ(report.events[1].kind, "soft_budget_passed");
    EXPECT_EQ(report.events[1].tag, "traffic-creatures");
}

class ReportTest : public testing::Test {
protected:
    // Counts stay in the ledger from test to test, in one process; each runs in one of its own under ctest.
    void SetUp() override {
        path_ = testing::TempDir() + "ouro-report-" + std::to_string(os::process_id()) + ".ouro";
    }
    void TearDown() override { std::filesystem::remove(path_); }

    test::ReportTraffic traffic_;
    std::string path_;
};

TEST_F(ReportTest, ARunningProcessIsReadFromOutside) {
    const LoadedImage loaded = load_process(os::process_id());
    EXPECT_TRUE(loaded.is_live);
    const Report report = make_report(loaded);
    expect_the_traffic(report);
    EXPECT_EQ(report.process_id, os::process_id());
    EXPECT_EQ(report.program, "ouro_commands_test");
    EXPECT_EQ(report.threads, 1U);
    EXPECT_LT(report.record_bytes, sizeof(detail::ObserveImage) / 2);
}

TEST_F(ReportTest, ARecordingTellsTheSame) {
    ASSERT_TRUE(save_recording(path_.c_str()));
    const LoadedImage loaded = load_target(path_);
    EXPECT_FALSE(loaded.is_live);
    expect_the_traffic(make_report(loaded));
}

TEST_F(ReportTest, TheTextShowsTheTree) {
    const std::string text = report_text(make_report(load_process(os::process_id())), {.has_unicode = false});
    EXPECT_TRUE(has(text, "\n  everything ")) << text;
    EXPECT_TRUE(has(text, "\n    traffic-game ")) << text;
    EXPECT_TRUE(has(text, "\n      traffic-creatures ")) << text;
    EXPECT_TRUE(has(text, "\n        traffic-memories ")) << text;
    EXPECT_TRUE(has(text, "###########..... 70 % of its budget, over soft")) << text;
    EXPECT_TRUE(has(text, "24.4 KiB refused: budget_exceeded, the budget is 62.5 KiB")) << text;
    EXPECT_TRUE(has(text, " budget_exceeded\n")) << text;
}

TEST_F(ReportTest, TheJsonHoldsTheSame) {
    const auto json = report_json(make_report(load_process(os::process_id())));
    const auto& tags = json["tags"];
    const auto found = std::find_if(tags.begin(), tags.end(),
                                    [](const auto& tag) { return tag["name"] == "traffic-creatures"; });
    ASSERT_NE(found, tags.end());
    EXPECT_EQ((*found)["live_bytes"], 45'000);
    EXPECT_EQ((*found)["hard_bytes"], 64'000);
    EXPECT_EQ(tags[0]["parent"], nullptr);
    EXPECT_EQ(json["events"][0]["status"], "budget_exceeded");
}

TEST_F(ReportTest, OneTagIsShownWithThoseBelowIt) {
    Report report = make_report(load_process(os::process_id()));
    keep_tag(report, "traffic-creatures");
    ASSERT_EQ(report.tags.size(), 2U);
    EXPECT_EQ(report.tags[0].name, "traffic-creatures");
    EXPECT_EQ(report.tags[0].depth, 0U);
    EXPECT_EQ(report.tags[1].depth, 1U);
    EXPECT_EQ(report.events[0].tag, "traffic-memories");
    EXPECT_THROW(keep_tag(report, "traffic-game"), ReportError);
}

TEST_F(ReportTest, RatesAreOfTheTimeBetween) {
    const Report before = make_report(load_process(os::process_id()));
    Report after = before;
    after.taken_ns += 2'000'000'000;
    after.tags[0].allocations += 10;
    after.tags[0].allocated_bytes += 4'096;
    add_rates(after, before);
    EXPECT_EQ(after.tags[0].allocations_per_second, 5.0);
    EXPECT_EQ(after.tags[0].allocated_bytes_per_second, 2'048.0);
    EXPECT_EQ(after.tags[1].allocations_per_second, 0.0);
    EXPECT_TRUE(has(report_text(after, {}), "2 KiB"));
}

std::string message_of(const std::string& target) {
    try {
        static_cast<void>(load_target(target));
    } catch (const ReportError& error) {
        return error.what();
    }
    return "nothing";
}

TEST_F(ReportTest, MistakesAreExplained) {
    EXPECT_TRUE(has(message_of("4294967294"), "there is no process 4294967294")) << message_of("4294967294");
    EXPECT_TRUE(has(message_of("no-such-file"), "cannot open 'no-such-file': No such file"));
    EXPECT_TRUE(has(message_of(testing::TempDir()), "is not a recording")) << message_of(testing::TempDir());
    EXPECT_TRUE(has(message_of("/proc/self/maps"), "ouro::save_recording(path) writes one"));
    EXPECT_TRUE(has(message_of("99999999999999999999"), "cannot open"));
    // What save_image of a ring writes.
    const std::string state = testing::TempDir() + "ouro-saved-state";
    std::ofstream(state) << "ourosave" << std::string(200, '.');
    EXPECT_TRUE(has(message_of(state), "is a saved state")) << message_of(state);
    std::remove(state.c_str());
}

TEST(ReportDrawing, BarsAndLinesKeepTheirWidth) {
    const ReportStyle plain{.has_unicode = false};
    EXPECT_EQ(bar(0, 4, plain), "....");
    EXPECT_EQ(bar(0.5, 4, plain), "##..");
    EXPECT_EQ(bar(7, 4, plain), "####");
    EXPECT_EQ(bar(0.25, 4, {}), "█░░░");
    const std::uint64_t rising[] = {0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(sparkline(rising, 8, plain), "_.:-=+*#");
    EXPECT_EQ(sparkline(rising, 4, plain), ".-+#");
    EXPECT_EQ(sparkline(rising, 100, {}), "▁▂▃▄▅▆▇█");
    EXPECT_EQ(sparkline({}, 8, plain), "");
}

}  // namespace
}  // namespace ouro
