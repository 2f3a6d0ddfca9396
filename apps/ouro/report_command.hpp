#pragma once

#include "report_text.hpp"

#include <iosfwd>
#include <string>

namespace ouro {

struct ReportRequest {
    // A process's number or a recording's path.
    std::string target;
    // Empty: all of them.
    std::string tag;
    SiteSorting sorting = SiteSorting::live;
    // Of a process that keeps several.
    std::size_t record_set = kFullestRecords;
    bool as_json = false;
    // Again and again until the process ends; how often at the most, zero for no end.
    bool is_watching = false;
    unsigned most_reports = 0;
    double interval_seconds = 1;
    // Whether each report takes the place of the one before, as on a terminal.
    bool clears_screen = false;
    ReportStyle style;
};

// Writes the report, or why there is none to `errors`. Returns the program's exit code. That a watched
// process ends is no failure.
int run_report(const ReportRequest& request, std::ostream& out, std::ostream& errors);

// Whether the environment says that the terminal knows Unicode.
[[nodiscard]] bool terminal_has_unicode();

}  // namespace ouro
