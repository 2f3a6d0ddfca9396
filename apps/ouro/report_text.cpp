#include "report_text.hpp"

#include "report_text_parts.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace ouro {

std::string percent_text(double share) {
    std::array<char, 32> text{};
    const double percent = share * 100;
    std::snprintf(text.data(), text.size(), percent < 10 && percent > 0 ? "%.1f %%" : "%.0f %%", percent);
    return text.data();
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string titled(const char* title, const TextColumns& columns) {
    return columns.empty() ? "" : std::string(title).append("\n").append(columns.text());
}

std::string latest_text(std::size_t shown, std::uint64_t count) {
    if (count <= shown) return "";
    return std::string("  (the latest of ").append(count_text(count)).append(" since the start)\n");
}

namespace {

using Side = TextColumns::Side;

std::string bound_text(const std::optional<std::uint64_t>& bound) {
    return bound ? size_text(*bound) : "";
}

std::string peak_text(const TagReport& tag) {
    return (tag.is_peak_exact ? "" : "<= ") + size_text(tag.peak_bytes);
}

std::string rate_limit_text(const RateReport& limit) {
    std::string most = limit.bytes ? size_text(*limit.bytes) : "";
    if (limit.requests) most += (most.empty() ? "" : " and ") + count_text(*limit.requests) + " requests";
    if (most.empty()) return "";
    return ", rate limited to " + most + " in " + duration_text(limit.seconds);
}

// The share that counts: of the tag's own budget where it has one, otherwise of what is live altogether.
std::string share_text(const TagReport& tag, std::uint64_t all_bytes, const ReportStyle& style) {
    constexpr std::size_t kBarWidth = 16;
    const double share = share_of(tag.live_bytes, tag.hard_bytes.value_or(all_bytes));
    std::string text = bar(share, kBarWidth, style) + " " + percent_text(share) +
                       (tag.hard_bytes ? " of its budget" : " of all");
    if (tag.soft_bytes && tag.live_bytes > *tag.soft_bytes) text += ", over soft";
    if (tag.rate_limit) text += rate_limit_text(*tag.rate_limit);
    return text;
}

std::string rate_text(const std::optional<double>& rate) {
    return rate ? count_text(static_cast<unsigned long long>(std::llround(*rate))) : "";
}

std::string byte_rate_text(const std::optional<double>& rate) {
    return rate ? size_text(static_cast<std::uint64_t>(std::llround(*rate))) : "";
}

std::string tags_text(const Report& report, const ReportStyle& style) {
    // Of a tag that only blocks have.
    if (report.has_charges && report.tags.empty()) return "";
    if (!report.has_records)
        return "There are no tags to show: the program keeps no records of what is charged, which begin with "
               "its first ChargedAllocator.\n";
    if (!report.has_charges && (report.profile || !report.awaited_signal.empty()))
        return "There are no tags to show: a profile alone, such as that of a preloaded malloc library, "
               "samples "
               "what is allocated, and only a ChargedAllocator charges to tags.\n";
    if (!report.has_charges) return "Nothing was charged to a tag: that is what a ChargedAllocator does.\n";
    TextColumns columns({Side::left, Side::right, Side::right, Side::right, Side::right, Side::right,
                         Side::right, Side::right, Side::right, Side::left});
    columns.head({"Tag", "live", "peak", "soft", "hard", "blocks", "allocations", "new/s", "bytes/s", ""});
    for (const TagReport& tag : report.tags) {
        columns.row({std::string(std::size_t{2} * tag.depth, ' ') + tag.name, size_text(tag.live_bytes),
                     peak_text(tag), bound_text(tag.soft_bytes), bound_text(tag.hard_bytes),
                     count_text(tag.live_blocks), count_text(tag.allocations),
                     rate_text(tag.allocations_per_second), byte_rate_text(tag.allocated_bytes_per_second),
                     share_text(tag, report.live_bytes, style)});
    }
    return columns.text();
}

std::string failures_text(const Report& report) {
    TextColumns columns({Side::left, Side::left});
    for (const TagReport& tag : report.tags) {
        std::string reasons;
        for (const FailureCount& failure : tag.failures)
            reasons += (reasons.empty() ? "" : ", ") + count_text(failure.count) + " " + failure.reason;
        if (reasons.empty()) continue;
        columns.row({tag.id == 0 ? "untagged" : tag.name, reasons});
    }
    return titled("Failed requests", columns);
}

std::string event_words(const EventReport& event) {
    const std::string bytes = size_text(event.bytes);
    const std::string limit = size_text(event.limit_bytes);
    if (event.kind == "soft_budget_passed") return bytes + " in use, over the soft budget of " + limit;
    if (event.kind == "request_refused") {
        std::string refused = bytes + " refused: " + event.status;
        if (event.status == "budget_exceeded") refused += ", the budget is " + limit;
        if (event.count > 1) refused += " (number " + count_text(event.count) + " in a row)";
        return refused;
    }
    if (event.kind == "pressure_changed")
        return bytes + " of " + limit + " in use: pressure is " + event.level;
    if (event.kind == "pressure_handled")
        return "a handler, asked as for " + event.level + ", freed " + bytes + " of " + limit + " wanted";
    if (event.kind == "new_peak") return "new peak of " + bytes;
    if (event.kind == "spike") {
        const std::uint64_t rise = event.bytes > event.limit_bytes ? event.bytes - event.limit_bytes : 0;
        return "rose by " + size_text(rise) + ", from " + limit + " to " + bytes;
    }
    return event.kind;
}

std::string events_text(const Report& report, const ReportStyle& style) {
    if (report.events.empty()) return "";
    TextColumns columns({Side::right, Side::left, Side::left});
    const std::size_t shown = std::min(style.top, report.events.size());
    for (std::size_t index = 0; index < shown; ++index) {
        const EventReport& event = report.events[index];
        // A single request can be untagged; what is told of the untagged one otherwise is told of all.
        const bool is_of_all = event.tag == "untagged" && event.kind != "request_refused";
        columns.row({duration_text(event.seconds_ago) + " before", is_of_all ? "everything" : event.tag,
                     event_words(event)});
    }
    return titled("Events", columns) + latest_text(shown, report.event_count);
}

std::string records_text(const Report& report) {
    if (report.record_sets < 2) return "";
    return "These are records " + std::to_string(report.record_set) + " of " +
           std::to_string(report.record_sets) +
           ": the program keeps its own, a preloaded malloc library others; --records shows either.\n";
}

// Who only samples counts in no thread.
std::string threads_text(const Report& report) {
    if (report.threads == 0 && !report.has_charges) return "";
    return std::to_string(report.threads) + (report.threads == 1 ? " thread" : " threads") + " counting; ";
}

std::string head_text(const Report& report) {
    if (!report.has_records) return report.program + ", process " + std::to_string(report.process_id) + "\n";
    return report.program + ", process " + std::to_string(report.process_id) + ", " +
           (report.is_live ? "observed for " : "recorded after ") + duration_text(report.running_seconds) +
           "; " + threads_text(report) + "the records take " + size_text(report.record_bytes) + "\n" +
           records_text(report);
}

}  // namespace

std::string bar(double share, std::size_t width, const ReportStyle& style) {
    const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    const auto count = static_cast<std::size_t>(std::lround(filled));
    std::string text;
    for (std::size_t at = 0; at < width; ++at)
        text += at < count ? (style.has_unicode ? "█" : "#") : (style.has_unicode ? "░" : ".");
    return text;
}

std::string sparkline(std::span<const std::uint64_t> values, std::size_t width, const ReportStyle& style) {
    constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<std::string_view, 8> kLetters{"_", ".", ":", "-", "=", "+", "*", "#"};
    const std::size_t count = std::min(width, values.size());
    if (count == 0) return "";
    const std::uint64_t most = std::max<std::uint64_t>(*std::max_element(values.begin(), values.end()), 1);
    std::string text;
    for (std::size_t at = 0; at < count; ++at) {
        const std::size_t first = at * values.size() / count;
        const std::size_t behind = (at + 1) * values.size() / count;
        const std::uint64_t value = *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                                      values.begin() + static_cast<std::ptrdiff_t>(behind));
        const auto step = static_cast<std::size_t>(share_of(value, most) * (kBlocks.size() - 1) + 0.5);
        text += (style.has_unicode ? kBlocks : kLetters)[step];
    }
    return text;
}

std::string report_text(const Report& report, const ReportStyle& style) {
    std::string text = head_text(report);
    for (const std::string& part :
         {tags_text(report, style), failures_text(report), blocks_text(report, style),
          timeline_text(report, style), profile_text(report, style), pressure_text(report, style),
          events_text(report, style)}) {
        if (!part.empty()) text.append("\n").append(part);
    }
    return text;
}

}  // namespace ouro
