#include "report_text_parts.hpp"
#include "text_table.hpp"

#include <algorithm>

namespace ouro {
namespace {

using Side = TextColumns::Side;

std::string level_words(const MonitorReport& monitor) {
    if (monitor.source == "none") return monitor.level;
    return monitor.level + " by " + monitor.source + ": " + size_text(monitor.used_bytes) + " of " +
           size_text(monitor.limit_bytes) + ", " +
           percent_text(share_of(monitor.used_bytes, monitor.limit_bytes));
}

std::string work_words(const MonitorReport& monitor) {
    if (monitor.handler_calls == 0) return "no handler was called";
    return count_text(monitor.handler_calls) + " handler calls freed " + size_text(monitor.freed_bytes) +
           " (said " + size_text(monitor.reported_bytes) + ") in " + duration_text(monitor.handler_seconds);
}

std::string latency_words(const MonitorReport& monitor) {
    if (monitor.crossings == 0) return "";
    return "started " + duration_text(monitor.median_latency_seconds) + " after the crossing (median of " +
           count_text(monitor.crossings) + ", at most " + duration_text(monitor.most_latency_seconds) + ")";
}

std::string calls_text(const Report& report, const ReportStyle& style) {
    TextColumns columns(
        {Side::right, Side::left, Side::left, Side::right, Side::right, Side::right, Side::right});
    columns.head({"when", "handler", "level", "wanted", "freed", "said", "took"});
    const std::size_t shown = std::min(style.top, report.handler_calls.size());
    for (std::size_t index = 0; index < shown; ++index) {
        const HandlerCallReport& call = report.handler_calls[index];
        columns.row({duration_text(call.seconds_ago) + " before", call.handler,
                     call.level + " by " + call.source, size_text(call.wanted_bytes),
                     size_text(call.freed_bytes), size_text(call.reported_bytes),
                     duration_text(call.duration_seconds)});
    }
    const std::string text = titled("Handler calls", columns);
    return text.empty() ? text : text + latest_text(shown, report.handler_call_count);
}

// Handlers and budgets reach what is charged; where the limit is the machine's, these count as well.
std::string blocks_words(const Report& report) {
    constexpr std::size_t kShown = 3;
    std::size_t shown = 0;
    std::string text;
    for (const BlockReport& block : report.blocks.list) {
        if (shown == kShown || block.kind == block_kind_name(BlockKind::borrowed)) continue;
        text += (shown++ == 0 ? "'" : ", '") + block.name + "' (" + block.tag + ") with " +
                size_text(block.committed_bytes);
    }
    if (text.empty()) return "";
    return "  Beside what is charged, " + size_text(report.blocks.committed_bytes) +
           " in listed blocks count for the limits of the group and the machine: " + text + "\n";
}

}  // namespace

std::string pressure_text(const Report& report, const ReportStyle& style) {
    TextColumns columns({Side::left, Side::left, Side::left, Side::left});
    for (const MonitorReport& monitor : report.monitors) {
        columns.row({monitor.tag, level_words(monitor), work_words(monitor), latency_words(monitor)});
    }
    std::string text = titled("Pressure", columns);
    if (!text.empty()) text += blocks_words(report);
    const std::string calls = calls_text(report, style);
    if (!text.empty() && !calls.empty()) text += '\n';
    return text.append(calls);
}

}  // namespace ouro
