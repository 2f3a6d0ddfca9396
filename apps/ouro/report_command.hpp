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
    bool as_json = false;
    // Again and again until the process ends; how often at the most, zero for no end.
    bool is_watching = false;
    unsigned most_reports = 0;
    double interval_seconds = 1;
    ReportStyle style;
};

// Writes the report, or why there is none to `errors`. Returns the program's exit code.
int run_report(const ReportRequest& request, std::ostream& out, std::ostream& errors);

// Whether the environment says that the terminal knows Unicode.
[[nodiscard]] bool terminal_has_unicode();

}  // namespace ouro
