// The profiler's, the timeline's and the pressure's parts of a report, of this process itself.
#include "report_parts.hpp"

#include "report_json.hpp"
#include "report_model.hpp"
#include "report_names.hpp"
#include "report_text.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/pressure.hpp>
#include <ouro/observe/profiler.hpp>
#include <ouro/observe/tag_scope.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// Outside of an unnamed namespace, so that its name is told.
[[gnu::noinline]] ouro::MemoryBlock allocate_in_report_test(ouro::MemoryResource& memory) {
    const auto block = memory.allocate(100'000, 16);
    asm volatile("" ::: "memory");
    return block ? *block : ouro::MemoryBlock{};
}

namespace ouro {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(ReportParts, SitesHaveTheirStacksAndNames) {
    SystemAllocator system = *SystemAllocator::create({});
    const auto tag = register_tag("parts-profile");
    ASSERT_TRUE(tag);
    ChargedAllocator memory(system, *tag);
    ASSERT_TRUE(start_profiler({.mean_bytes = 1'000, .seed = 1}));
    const MemoryBlock block = allocate_in_report_test(memory);
    ASSERT_FALSE(block.is_null());
    const LoadedImage loaded = load_process(os::process_id());
    Report report = make_report(loaded);
    memory.deallocate(block);
    stop_profiler();
    ASSERT_TRUE(report.profile);
    ASSERT_EQ(report.profile->sites.size(), 1U);
    EXPECT_TRUE(report.profile->is_running);
    EXPECT_EQ(report.profile->mean_bytes, 1'000U);
    EXPECT_EQ(report.profile->sites[0].tag, "parts-profile");
    EXPECT_EQ(report.profile->sites[0].live.bytes, 100'000U);
    EXPECT_EQ(report.profile->sites[0].live.blocks, 1U);
    name_sites(report, loaded.mappings, 10);
    EXPECT_TRUE(has(report_text(report, {}), "allocate_in_report_test")) << report_text(report, {});
    EXPECT_TRUE(has(report_json(report)["profile"].dump(), "allocate_in_report_test"));
    Report after = make_report(load_process(os::process_id()));
    ASSERT_TRUE(after.profile);
    EXPECT_FALSE(after.profile->is_running);
    EXPECT_EQ(after.profile->sites[0].live.bytes, 0U);
    // Nothing is live there any more; it was.
    leave_out_empty_sites(after);
    EXPECT_TRUE(after.profile->sites.empty());
    EXPECT_TRUE(has(report_text(after, {}), "(of 1 sites; 1 have none of these bytes)\n  --by allocated"))
        << report_text(after, {});
}

TEST(ReportParts, StacksAreCutUnlessAllIsWanted) {
    Report report;
    SiteReport& site = report.profile.emplace().sites.emplace_back();
    site.number = 1;
    site.live.bytes = 1;
    const std::string name(200, 'n');
    for (unsigned frame = 0; frame < 9; ++frame)
        site.frames.emplace_back().function = name + std::to_string(frame) + "(int)";
    const std::string text = report_text(report, {});
    EXPECT_TRUE(has(text, "n...\n")) << text;
    EXPECT_TRUE(has(text, "... 4 more, with --full\n")) << text;
    const std::string full = report_text(report, {.is_full = true});
    EXPECT_TRUE(has(full, name + "8(int)\n")) << full;
    EXPECT_FALSE(has(full, "--full")) << full;
}

TEST(ReportParts, NamesOfFunctionsLoseTheirParametersOnly) {
    const char* const names[][2] = {
        {"main", "main"},
        {"load(int, char const*)", "load"},
        {"Store::find(int) const", "Store::find"},
        {"Store::operator()(int) const", "Store::operator()"},
        {"Store::operator()", "Store::operator()"},
        {"(anonymous namespace)::step(int) [clone .constprop.0]", "(anonymous namespace)::step"},
        {"game::(anonymous namespace)::table", "game::(anonymous namespace)::table"},
        {"run()::{lambda(int)#1}::operator()(int) const", "run()::{lambda(int)#1}::operator()"},
        {"void each<&(anonymous namespace)::step>(int)", "void each<&(anonymous namespace)::step>"},
        {"decltype ({parm#1}+(1)) M::sum<int>(int)", "decltype ({parm#1}+(1)) M::sum<int>"},
        {")(", ")("},
    };
    for (const auto& [whole, expected] : names)
        EXPECT_EQ(short_function_name(whole), expected);
}

TEST(ReportParts, SitesAreLeftOutThatHaveNothingOfWhatTheyAreSortedBy) {
    Report report;
    ProfileReport& profile = report.profile.emplace();
    for (const unsigned bytes : {0U, 7U, 0U}) {
        SiteReport& site = profile.sites.emplace_back();
        site.live.bytes = bytes;
        site.growth_bytes = bytes == 0 ? -5 : 0;
    }
    Report by_growth = report;
    leave_out_empty_sites(report);
    ASSERT_EQ(profile.sites.size(), 1U);
    EXPECT_EQ(profile.sites[0].live.bytes, 7U);
    EXPECT_EQ(profile.empty_sites, 2U);
    sort_sites(by_growth, SiteSorting::growth);
    leave_out_empty_sites(by_growth);
    EXPECT_EQ(by_growth.profile->sites.size(), 2U);
}

TEST(ReportParts, ARateLimitIsToldWithItsFigures) {
    const auto tag = register_tag("parts-rate");
    ASSERT_TRUE(tag);
    ASSERT_TRUE(set_rate_limit(*tag, {.bytes = 1 << 20, .calls = 1'000, .interval_ns = 500'000'000}));
    Report report = make_report(load_process(os::process_id()));
    keep_tag(report, "parts-rate");
    EXPECT_TRUE(has(report_text(report, {}), ", rate limited to 1 MiB and 1,000 requests in 500 ms"))
        << report_text(report, {});
    const auto json = report_json(report)["tags"][0]["rate_limit"];
    EXPECT_EQ(json["bytes"], 1 << 20);
    EXPECT_EQ(json["requests"], 1'000);
    EXPECT_EQ(json["seconds"], 0.5);
    ASSERT_TRUE(set_rate_limit(*tag, {.calls = 7}));
    report = make_report(load_process(os::process_id()));
    EXPECT_TRUE(has(report_text(report, {}), ", rate limited to 7 requests in 1.0 s"));
    clear_rate_limit(*tag);
    report = make_report(load_process(os::process_id()));
    EXPECT_FALSE(has(report_text(report, {}), "rate limited")) << report_text(report, {});
}

TEST(ReportParts, TheTimelineIsALine) {
    SystemAllocator system = *SystemAllocator::create({});
    ChargedAllocator memory(system);
    look_at_timeline();
    const auto block = memory.allocate(50'000);
    ASSERT_TRUE(block);
    look_at_timeline();
    const Report report = make_report(load_process(os::process_id()));
    memory.deallocate(*block);
    ASSERT_GE(report.timeline.size(), 2U);
    const MomentReport& before = report.timeline[report.timeline.size() - 2];
    EXPECT_EQ(report.timeline.back().live_bytes, before.live_bytes + 50'000);
    EXPECT_GE(before.seconds_ago, report.timeline.back().seconds_ago);
    EXPECT_TRUE(has(report_text(report, {}), "\nTimeline: the last "));
    EXPECT_EQ(report_json(report)["timeline"].size(), report.timeline.size());
}

void expect_the_rest_untracked(const MomentReport& moment) {
    const std::uint64_t known = std::max(moment.live_bytes, moment.listed_bytes) + moment.record_bytes;
    ASSERT_GT(moment.listed_bytes, 0U);
    ASSERT_GT(moment.resident_bytes, known);
    EXPECT_EQ(moment.untracked_bytes, moment.resident_bytes - known);
}

// At each moment beside the records of then: those that came later are no memory of before.
TEST(ReportParts, WhatIsResidentAndNeitherChargedNorListedIsUntracked) {
    SystemAllocator system = *SystemAllocator::create({});
    ChargedAllocator memory(system);
    const auto block = memory.allocate(50'000);
    ASSERT_TRUE(block);
    look_at_timeline();
    for (int i = 0; i < 100; ++i) {
        const TagScope scope(*register_tag("later " + std::to_string(i)));
        memory.deallocate(*memory.allocate(1));
    }
    look_at_timeline();
    const Report report = make_report(load_process(os::process_id()));
    memory.deallocate(*block);
    ASSERT_GE(report.timeline.size(), 2U);
    const MomentReport& before = report.timeline[report.timeline.size() - 2];
    const MomentReport& last = report.timeline.back();
    expect_the_rest_untracked(before);
    expect_the_rest_untracked(last);
    EXPECT_LT(before.record_bytes, last.record_bytes);
    EXPECT_LE(last.record_bytes, report.record_bytes);
    EXPECT_TRUE(has(report_text(report, {}), "\n  untracked")) << report_text(report, {});
    const auto moment = report_json(report)["timeline"].back();
    EXPECT_EQ(moment["untracked_bytes"], *last.untracked_bytes);
    EXPECT_EQ(moment["record_bytes"], last.record_bytes);
}

// Threads whose frees others make hold less and less of what they took: that adds up to no peak.
TEST(ReportParts, ThePeakIsTheProgramsOwn) {
    SystemAllocator system = *SystemAllocator::create({});
    const Tag tag = *register_tag("given away");
    ChargedAllocator memory(system, tag);
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1'000'000}));
    constexpr int kRounds = 40;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<MemoryBlock> blocks;
        for (int i = 0; i < 60; ++i)
            blocks.push_back(*memory.allocate(10'000));
        std::thread([&] {
            for (const MemoryBlock block : blocks)
                memory.deallocate(block);
        }).join();
        if (round == kRounds / 2) reset_peaks();
    }
    const Report report = make_report(load_process(os::process_id()));
    const auto found = std::find_if(report.tags.begin(), report.tags.end(),
                                    [](const TagReport& one) { return one.name == "given away"; });
    ASSERT_NE(found, report.tags.end());
    EXPECT_GE(found->peak_bytes, 600'000U);
    EXPECT_LE(found->peak_bytes, 1'000'000U);
}

TEST(ReportParts, TimelineAndPressureNameListedBlocks) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    const BlockRegistration world(
        {.name = "forest", .reserved_bytes = 8 * kMiB, .committed_bytes = 7 * kMiB});
    const BlockRegistration part({.name = "undergrowth",
                                  .kind = BlockKind::borrowed,
                                  .reserved_bytes = 8 * kMiB,
                                  .committed_bytes = 5 * kMiB});
    PressureMonitor monitor;
    monitor.poll();
    look_at_timeline();
    look_at_timeline();
    const LoadedImage loaded = load_process(os::process_id());
    Report report = make_report(loaded);
    add_blocks(report, block_tables_of(loaded));
    EXPECT_EQ(report.timeline.back().listed_bytes, report.blocks.committed_bytes);
    EXPECT_EQ(report_json(report)["timeline"].back()["listed_bytes"], report.blocks.committed_bytes);
    const std::string text = report_text(report, {});
    EXPECT_TRUE(std::regex_search(text, std::regex("\n  blocks +[^ ]+ +7\\.?\\d* MiB  at most"))) << text;
    const std::string pressure = text.substr(text.find("\nPressure\n"));
    EXPECT_TRUE(has(pressure, "'forest' (untagged) with 7 MiB")) << text;
    EXPECT_FALSE(has(pressure, "'undergrowth'")) << text;
}

TEST(ReportParts, ASpikeTellsHowMuchItRose) {
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
    post_event({.kind = ObserveEventKind::spike, .bytes = 120 * kMiB, .limit_bytes = 100 * kMiB});
    const Report report = make_report(load_process(os::process_id()));
    EXPECT_TRUE(has(report_text(report, {}), "rose by 20 MiB, from 100 MiB to 120 MiB"))
        << report_text(report, {});
}

TEST(ReportParts, EventsNameTheLevelOfPressure) {
    post_event({.kind = ObserveEventKind::pressure_changed, .level = 1, .bytes = 7, .limit_bytes = 10});
    const Report report = make_report(load_process(os::process_id()));
    EXPECT_TRUE(has(report_text(report, {}), "in use: pressure is low")) << report_text(report, {});
    EXPECT_EQ(report_json(report)["events"][0]["level"], "low");
}

// As a profile of malloc alone is: no account was ever opened.
TEST(ReportParts, NothingChargedIsSaidAndShowsNoBudget) {
    ASSERT_NE(detail::observe_image(), nullptr);
    LoadedImage loaded = load_process(os::process_id());
    std::memset(loaded.copy.bytes().data() + offsetof(detail::ObserveImage, ledger), 0,
                sizeof(detail::Ledger));
    Report report = make_report(loaded);
    // That of another test.
    report.profile.reset();
    ASSERT_EQ(report.tags.size(), 1U);
    EXPECT_FALSE(report.tags[0].hard_bytes || report.tags[0].soft_bytes);
    const std::string text = report_text(report, {});
    EXPECT_TRUE(has(text, "Nothing was charged to a tag")) << text;
    EXPECT_FALSE(has(text, "of its budget")) << text;
    EXPECT_TRUE(report_json(report)["tags"][0]["hard_bytes"].is_null());
}

TEST(ReportParts, AProfileAloneCountsInNoThread) {
    Report report;
    EXPECT_TRUE(has(report_text(report, {}), "Nothing was charged to a tag"));
    report.profile.emplace();
    const std::string text = report_text(report, {});
    EXPECT_FALSE(has(text, "counting")) << text;
    EXPECT_FALSE(has(text, "Nothing was charged")) << text;
    EXPECT_TRUE(has(text, "samples what is allocated")) << text;
}

// To ask for its use opens a tag's account.
TEST(ReportParts, TagsThatWereNeverUsedAreNotShown) {
    const Tag parent = *register_tag("shown-parent");
    const Tag child = *register_tag("shown-child", parent);
    const Tag asked = *register_tag("asked-about", parent);
    static_cast<void>(use_of(asked));
    const auto text_now = [] { return report_text(make_report(load_process(os::process_id())), {}); };
    static_cast<void>(use_of(child));
    EXPECT_FALSE(has(text_now(), "shown-")) << text_now();
    ASSERT_TRUE(set_budget(child, {.hard_bytes = 1'000}));
    EXPECT_TRUE(has(text_now(), "shown-parent") && has(text_now(), "shown-child")) << text_now();
    EXPECT_FALSE(has(text_now(), "asked-about")) << text_now();
    ASSERT_TRUE(set_budget(child, {}));
}

TEST(ReportParts, TextsAreNoCommandsToATerminal) {
    EXPECT_EQ(printable("plain, \xc3\xa4 and \xf0\x9f\x90\x8d"), "plain, \xc3\xa4 and \xf0\x9f\x90\x8d");
    EXPECT_EQ(printable("\x1b[2J\x7f\n"), "?[2J??");
    // As letters of UTF-8, and as bytes.
    EXPECT_EQ(printable("a\xc2\x9b"
                        "1mb\x9b"
                        "c"),
              "a?1mb?c");
    EXPECT_EQ(printable("\xe2\x80\xae\xe2\x80\xa8"), "??");
    EXPECT_EQ(printable("\xc3"), "?");
    EXPECT_EQ(printable("\xe4\xbd"), "??");
    EXPECT_EQ(printable("\xff\xc3\xa4"), "?\xc3\xa4");
}

// A program with records of its own and a preloaded library with others.
TEST(ReportParts, EitherOfTwoSetsOfRecordsCanBeShown) {
    SystemAllocator system = *SystemAllocator::create({});
    ChargedAllocator memory(system);
    const auto block = memory.allocate(1'000);
    ASSERT_TRUE(block);
    const std::size_t page = os::page_size();
    auto other = os::Reservation::create({.bytes = page + sizeof(detail::ObserveImage)});
    ASSERT_TRUE(other && other->commit(page, other->block().size - page));
    const detail::ImageHeader& own = detail::observe_image()->header;
    std::memcpy(other->block().data + page, &own, sizeof own);
    const Report fullest = make_report(load_process(os::process_id()));
    EXPECT_EQ(fullest.record_sets, 2U);
    EXPECT_TRUE(fullest.has_charges);
    EXPECT_TRUE(
        has(report_text(fullest, {}), "These are records " + std::to_string(fullest.record_set) + " of 2"));
    const Report empty = make_report(load_process(os::process_id(), 3 - fullest.record_set));
    EXPECT_EQ(empty.record_set, 3 - fullest.record_set);
    EXPECT_FALSE(empty.has_charges);
    EXPECT_EQ(report_json(empty)["records"]["count"], 2);
    EXPECT_THROW(static_cast<void>(load_process(os::process_id(), 3)), ReportError);
    memory.deallocate(*block);
}

class Giver final : public PressureHandler {
public:
    Giver(MemoryResource& memory, MemoryBlock block) : memory_(memory), block_(block) {}
    std::size_t relieve(PressureLevel, std::size_t) noexcept override {
        memory_.deallocate(block_, 16);
        return std::exchange(block_, {}).size;
    }

private:
    MemoryResource& memory_;
    MemoryBlock block_;
};

TEST(ReportParts, PressureAndWhatWasDone) {
    SystemAllocator system = *SystemAllocator::create({});
    const auto tag = register_tag("parts-pressure");
    ASSERT_TRUE(tag && set_budget(*tag, {.hard_bytes = 100'000}));
    ChargedAllocator memory(system, *tag);
    const auto block = memory.allocate(97'000);
    ASSERT_TRUE(block);
    Giver giver(memory, *block);
    PressureMonitor monitor;
    ASSERT_TRUE(monitor.configure({.tag = *tag, .watches_machine = false}) && monitor.add(giver, 1, "giver"));
    monitor.poll();
    const Report report = make_report(load_process(os::process_id()));
    ASSERT_EQ(report.monitors.size(), 1U);
    EXPECT_EQ(report.monitors[0].tag, "parts-pressure");
    EXPECT_EQ(report.monitors[0].freed_bytes, 97'000U);
    ASSERT_EQ(report.handler_calls.size(), 1U);
    EXPECT_EQ(report.handler_calls[0].handler, "giver");
    EXPECT_EQ(report.handler_calls[0].level, "critical");
    EXPECT_EQ(report.handler_calls[0].reported_bytes, 97'000U);
    EXPECT_TRUE(has(report_text(report, {}), "giver    critical by budget")) << report_text(report, {});
    EXPECT_EQ(report_json(report)["pressure"]["handler_calls"][0]["freed_bytes"], 97'000);
}

}  // namespace
}  // namespace ouro
