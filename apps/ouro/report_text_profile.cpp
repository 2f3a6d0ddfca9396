#include "report_text_parts.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ouro {
namespace {

using Side = TextColumns::Side;

constexpr std::size_t kFramesShown = 5;

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// Where the parameters begin, which are the last thing in round brackets; the end where there are none.
// Behind them only qualifiers and notes of the compiler may follow: a name goes on after those of its own
// brackets.
std::size_t parameters_at(std::string_view function) {
    const std::size_t last = function.rfind(')');
    if (last == std::string_view::npos || function.find("::", last) != std::string_view::npos)
        return function.size();
    std::size_t depth = 0;
    for (std::size_t at = last + 1; at-- != 0;) {
        if (function[at] == ')') ++depth;
        if (function[at] == '(' && --depth == 0) return at;
    }
    return function.size();
}

std::string frame_text(const FrameReport& frame, const ReportStyle& style) {
    std::array<char, 32> number{};
    if (frame.function.empty() && frame.module.empty()) {
        std::snprintf(number.data(), number.size(), "%#llx", static_cast<unsigned long long>(frame.address));
        return number.data();
    }
    std::string text = style.is_full ? frame.function : short_function_name(frame.function);
    if (text.empty()) {
        std::snprintf(number.data(), number.size(), "+%#llx",
                      static_cast<unsigned long long>(frame.module_offset));
        return last_part(frame.module).append(number.data());
    }
    if (!frame.file.empty())
        text.append("  ").append(last_part(frame.file)).append(":").append(std::to_string(frame.line));
    return text;
}

// The library's own functions say nothing about who allocates, unless there is nobody else.
std::size_t first_foreign(const std::vector<FrameReport>& frames) {
    const auto is_own = [](const FrameReport& frame) { return frame.function.starts_with("ouro::"); };
    const auto found = std::find_if_not(frames.begin(), frames.end(), is_own);
    return found == frames.end() ? 0 : static_cast<std::size_t>(found - frames.begin());
}

std::string stack_text(const SiteReport& site, const ReportStyle& style) {
    if (site.number == 0) return "      sites that found no room in the table\n";
    std::string text;
    const std::size_t all = site.frames.size();
    const std::size_t first = style.is_full ? 0 : first_foreign(site.frames);
    const std::size_t end = style.is_full ? all : std::min(all, first + kFramesShown);
    for (std::size_t index = first; index < end; ++index)
        text.append("      ").append(frame_text(site.frames[index], style)).append("\n");
    if (end != all) text.append("      ... ").append(count_text(all - end)).append(" more, with --full\n");
    return text.empty() ? "      no stack\n" : text;
}

std::string growth_text(std::int64_t bytes) {
    if (bytes == 0) return "";
    return std::string(bytes < 0 ? "-" : "+")
        .append(size_text(static_cast<std::uint64_t>(std::llabs(bytes))));
}

std::string profile_head(const ProfileReport& profile) {
    std::string text = std::string("Top sites by ") + site_sorting_name(profile.sorting) +
                       " bytes: " + count_text(profile.samples) + " samples, one in " +
                       size_text(profile.mean_bytes) + ", in " + duration_text(profile.seconds) +
                       (profile.is_running ? "" : ", stopped");
    if (profile.dropped_sites != 0 || profile.dropped_blocks != 0)
        text.append("; no room for ")
            .append(count_text(profile.dropped_sites))
            .append(" sites and ")
            .append(count_text(profile.dropped_blocks))
            .append(" blocks");
    return text.append("\n");
}

// One that was made ready and has not begun.
std::string awaited_text(const Report& report) {
    if (report.awaited_signal.empty()) return "";
    if (!report.is_live)
        return "There is no profile: it waited for the signal " + report.awaited_signal +
               " when this was recorded.\n";
    return "There is no profile yet: it begins with the signal " + report.awaited_signal + ", as by `kill -" +
           report.awaited_signal + " " + std::to_string(report.process_id) + "`.\n";
}

}  // namespace

std::string short_function_name(const std::string& function) {
    constexpr std::size_t kMost = 90;
    std::string name = function.substr(0, parameters_at(function));
    // What is left is no name where the brackets were part of it.
    if (name.empty() || name.ends_with("operator")) name = function;
    if (name.size() > kMost) name.replace(kMost, std::string::npos, "...");
    return name;
}

const char* site_sorting_name(SiteSorting sorting) {
    switch (sorting) {
        case SiteSorting::allocated:
            return "allocated";
        case SiteSorting::temporary:
            return "temporary";
        case SiteSorting::growth:
            return "growth";
        case SiteSorting::peak:
            return "peak";
        case SiteSorting::live:
            break;
    }
    return "live";
}

std::string profile_text(const Report& report, const ReportStyle& style) {
    if (!report.profile) return awaited_text(report);
    const ProfileReport& profile = *report.profile;
    const std::size_t shown = std::min(style.top, profile.sites.size());
    TextColumns columns(
        {Side::right, Side::right, Side::right, Side::right, Side::right, Side::right, Side::left});
    columns.head({"live", "blocks", "allocated", "temporary", "peak", "growth", "tag"});
    for (std::size_t index = 0; index < shown; ++index) {
        const SiteReport& site = profile.sites[index];
        columns.row({size_text(site.live.bytes), count_text(site.live.blocks),
                     size_text(site.allocated.bytes),
                     percent_text(share_of(site.temporary.bytes, site.allocated.bytes)),
                     size_text(site.peak_bytes), growth_text(site.growth_bytes), site.tag});
    }
    // Each row, then its stack.
    std::string text = profile_head(profile);
    const std::string rows = shown != 0 ? columns.text() : std::string();
    std::size_t at = 0;
    for (std::size_t line = 0; at < rows.size(); ++line) {
        const std::size_t end = rows.find('\n', at) + 1;
        text.append(rows, at, end - at);
        if (line != 0) text.append(stack_text(profile.sites[line - 1], style));
        at = end;
    }
    const std::size_t all = profile.sites.size() + profile.empty_sites;
    if (shown < all) text.append("  (of ").append(count_text(all)).append(" sites");
    if (profile.empty_sites != 0)
        text.append("; ").append(count_text(profile.empty_sites)).append(" have none of these bytes");
    if (shown < all) text.append(")\n");
    if (shown == 0 && all != 0 && profile.sorting != SiteSorting::allocated)
        text.append("  --by allocated shows them by all that they ever allocated\n");
    return text;
}

std::string timeline_text(const Report& report, const ReportStyle& style) {
    if (report.timeline.size() < 2) return "";
    constexpr std::size_t kWidth = 60;
    TextColumns columns({Side::left, Side::left, Side::right, Side::left});
    const auto add = [&](const char* name, auto value_of) {
        std::vector<std::uint64_t> values;
        for (const MomentReport& moment : report.timeline)
            values.push_back(value_of(moment));
        const std::uint64_t most = *std::max_element(values.begin(), values.end());
        columns.row(
            {name, sparkline(values, kWidth, style), size_text(values.back()), "at most " + size_text(most)});
    };
    add("live", [](const MomentReport& moment) { return moment.live_bytes; });
    const auto listed_of = [](const MomentReport& moment) { return moment.listed_bytes; };
    if (std::any_of(report.timeline.begin(), report.timeline.end(), listed_of)) add("blocks", listed_of);
    add("resident", [](const MomentReport& moment) { return moment.resident_bytes; });
    const auto is_told = [](const MomentReport& moment) { return moment.untracked_bytes.has_value(); };
    if (std::any_of(report.timeline.begin(), report.timeline.end(), is_told))
        add("untracked", [](const MomentReport& moment) { return moment.untracked_bytes.value_or(0); });
    const double seconds = report.timeline.front().seconds_ago - report.timeline.back().seconds_ago;
    return "Timeline: the last " + duration_text(std::max(seconds, 0.0)) +
           (report.is_of_one_tag ? ", of the whole program\n" : "\n") + columns.text();
}

}  // namespace ouro
