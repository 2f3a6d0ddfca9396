// Commits each bug and reads the report: it names the functions that allocated the block, freed it, and did
// what was wrong.
#include "injected_bugs.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/symbolized_reports.hpp>

#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::HardeningTier;
using ouro::testing_support::Annotate;
using ouro::testing_support::InjectedBug;
using ouro::testing_support::kBugs;
using ouro::testing_support::output_of;

// Whom the report of a bug names. An empty name: this part is not in the report, for there is nothing to
// tell.
struct Names {
    std::string_view noticed;
    std::string_view allocated = "load_texture";
    std::string_view freed;
};

struct Expectation {
    InjectedBug bug;
    std::string_view error;
    Names checked;
    Names hardened;
    // The tier `checked` sees nothing of it.
    bool hardened_only = false;
};
void PrintTo(const Expectation& expected, std::ostream* stream) {
    *stream << expected.error;
}

// With AddressSanitizer, a process that looks up names in the handler of a fault dies of that.
// What there is then are addresses.
bool has_names(const Names& names) {
    const bool is_fault = names.noticed == "write_to" || names.noticed == "read_from";
    return !(ouro::annotate::kAddressSanitizer && is_fault);
}

constexpr Names kAtTheFree{.noticed = "free_at_last", .freed = ""};
constexpr Names kAtTheWrite{.noticed = "write_to", .freed = ""};

constexpr std::array<Expectation, kBugs.size()> kExpected{{
    {InjectedBug::overflow_by_one, "overflow", kAtTheFree, kAtTheWrite},
    {InjectedBug::underflow_by_one, "underflow", kAtTheFree, kAtTheFree},
    {InjectedBug::far_overflow, "overflow", {}, kAtTheWrite, true},
    {InjectedBug::read_after_free,
     "use after free",
     {},
     {.noticed = "read_from", .freed = "unload_texture"},
     true},
    {InjectedBug::write_after_free,
     "use after free",
     // When the block leaves the quarantine.
     {.noticed = "~GuardCore", .freed = "unload_texture"},
     {.noticed = "write_to", .freed = "unload_texture"}},
    {InjectedBug::double_free,
     "double free",
     {.noticed = "free_at_last", .freed = "unload_texture"},
     {.noticed = "free_at_last", .freed = "unload_texture"}},
    {InjectedBug::wrong_size, "wrong size", kAtTheFree, kAtTheFree},
    {InjectedBug::wrong_alignment, "wrong alignment", kAtTheFree, kAtTheFree},
    {InjectedBug::wrong_resource, "wrong resource", kAtTheFree, kAtTheFree},
    // No block is known there.
    {InjectedBug::foreign_pointer,
     "foreign pointer",
     {.noticed = "free_at_last", .allocated = "", .freed = ""},
     {.noticed = "free_at_last", .allocated = "", .freed = ""}},
    {InjectedBug::leak, "leak", {.noticed = "", .freed = ""}, {.noticed = "", .freed = ""}},
}};

// The lines below a title, up to the next; empty when the report has no such title.
std::string part_of(const std::string& report, std::string_view title) {
    const std::string head = "\n  " + std::string(title) + ":\n";
    const std::size_t found = report.find(head);
    if (found == std::string::npos) return "";
    const std::size_t begin = found + head.size();
    std::size_t end = begin;
    while (report.compare(end, 4, "    ") == 0)
        end = report.find('\n', end) + 1;
    return report.substr(begin, end - begin);
}

void expect_part(const std::string& report, std::string_view title, std::string_view function,
                 bool has_names) {
    SCOPED_TRACE(std::string(title));
    const std::string part = part_of(report, title);
    EXPECT_EQ(part.empty(), function.empty()) << part;
    if (function.empty() || !has_names) return;
    EXPECT_NE(part.find(function), std::string::npos) << part;
    for (const std::string_view other :
         {"load_texture", "unload_texture", "free_at_last", "write_to", "read_from"}) {
        // The one contains the other.
        if (function.find(other) != std::string_view::npos) continue;
        EXPECT_EQ(part.find(std::string("::") + std::string(other)), std::string::npos) << part;
    }
}

void expect_report(const Expectation& expected, const Names& names, HardeningTier tier) {
    if (!has_names(names)) ouro::set_call_site_describer(ouro::locate_call_site);
    // A sanitizer would stop at some of the bugs, with a report of its own.
    const std::string output = output_of(expected.bug, tier, Annotate::no);
    SCOPED_TRACE(output);
    const std::size_t begin = output.find("ouroboros: " + std::string(expected.error) + " in 'guarded'");
    ASSERT_NE(begin, std::string::npos);
    const std::string report = output.substr(begin);
    EXPECT_EQ(report.find("ouroboros: ", 1), std::string::npos) << "more than one report";
    expect_part(report, "noticed at", names.noticed, has_names(names));
    expect_part(report, "allocated at", names.allocated, has_names(names));
    expect_part(report, "freed at", names.freed, has_names(names));
}

class ReportNames : public testing::TestWithParam<Expectation> {
protected:
    // Children inherit it.
    void SetUp() override { ouro::name_call_sites_in_reports(); }
};

TEST_P(ReportNames, InTheTierChecked) {
    if (!GetParam().hardened_only)
        return expect_report(GetParam(), GetParam().checked, HardeningTier::checked);
    const std::string output = output_of(GetParam().bug, HardeningTier::checked, Annotate::no);
    EXPECT_EQ(output.find("ouroboros: "), std::string::npos) << output;
}

TEST_P(ReportNames, InTheTierHardened) {
    expect_report(GetParam(), GetParam().hardened, HardeningTier::hardened);
}

INSTANTIATE_TEST_SUITE_P(Bugs, ReportNames, testing::ValuesIn(kExpected),
                         [](const testing::TestParamInfo<Expectation>& test) {
                             std::string name(kBugs[static_cast<std::size_t>(test.param.bug)].text);
                             std::erase(name, ',');
                             for (char& letter : name)
                                 if (letter == ' ') letter = '_';
                             return name;
                         });

}  // namespace
