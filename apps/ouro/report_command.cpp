#include "report_command.hpp"

#include "image_reader.hpp"
#include "report_json.hpp"
#include "report_names.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>

namespace ouro {
namespace {

constexpr int kFailed = 1;

// Moves to the corner of the terminal and clears it.
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

std::string dump(const nlohmann::ordered_json& json, int indent) {
    // Names come from elsewhere and may not be UTF-8.
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string write_report(const Report& whole, const std::string& mappings, const ReportRequest& request) {
    Report report = whole;
    if (!request.tag.empty()) keep_tag(report, request.tag);
    sort_sites(report, request.sorting);
    if (!request.as_json) leave_out_empty_sites(report);
    constexpr std::size_t kAll = ~std::size_t{0};
    name_sites(report, mappings, request.as_json ? kAll : request.style.top);
    if (!request.as_json) return report_text(report, request.style);
    constexpr int kOneLine = -1;
    return dump(report_json(report), request.is_watching ? kOneLine : 2);
}

// Between two reports.
std::string_view separator(const ReportRequest& request, bool is_first) {
    if (request.as_json) return "";
    if (request.clears_screen) return kClearScreen;
    return is_first ? "" : "\n";
}

struct ReportSource {
    Report report;
    std::string mappings;
};

ReportSource read_source(const ReportRequest& request) {
    try {
        LoadedImage loaded = load_target(request.target, request.record_set);
        ReportSource source{make_report(loaded), loaded.mappings};
        add_blocks(source.report, block_tables_of(loaded));
        return source;
    } catch (const NoRecords& process) {
        // Rings, worlds and arenas list their memory also where nothing is charged.
        const std::vector<BlockTableCopy> tables = find_block_tables(process.process_id());
        if (tables.empty()) throw;
        ReportSource source{make_report(process), process.mappings()};
        add_blocks(source.report, tables);
        return source;
    }
}

// Nothing once a process that was there has ended.
std::optional<ReportSource> read_again(const ReportRequest& request, bool is_first) {
    try {
        return read_source(request);
    } catch (const ProcessEnded&) {
        if (is_first) throw;
        return std::nullopt;
    }
}

void watch(const ReportRequest& request, std::ostream& out, std::ostream& errors) {
    std::optional<Report> before;
    for (unsigned count = 1;; ++count) {
        auto found = read_again(request, !before);
        if (!found) {
            errors << "ouro report: process " << request.target << " has ended\n";
            return;
        }
        Report& report = found->report;
        if (!report.is_live)
            throw ReportError("'" + request.target +
                              "' is a recording and does not change; --watch wants a process's number");
        if (before) add_rates(report, *before);
        const std::string text = write_report(report, found->mappings, request);
        out << separator(request, !before) << text << std::flush;
        if (!out || count == request.most_reports) return;
        before = std::move(report);
        std::this_thread::sleep_for(std::chrono::duration<double>(request.interval_seconds));
    }
}

}  // namespace

int run_report(const ReportRequest& request, std::ostream& out, std::ostream& errors) {
    try {
        if (request.is_watching) {
            watch(request, out, errors);
        } else {
            const ReportSource source = read_source(request);
            out << write_report(source.report, source.mappings, request);
        }
        return 0;
    } catch (const ReportError& error) {
        errors << "ouro report: " << error.what() << '\n';
        return kFailed;
    }
}

bool terminal_has_unicode() {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string_view text(value);
        return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
    }
    return false;
}

}  // namespace ouro
