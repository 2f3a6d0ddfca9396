#pragma once

#include "report_model.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ouro {

struct ReportStyle {
    // Of sites, events and whatever else could be long.
    std::size_t top = 10;
    // Whether stacks and names are shown to their end.
    bool is_full = false;
    // Whether the terminal shows more letters than ASCII's.
    bool has_unicode = true;
};

// For people.
[[nodiscard]] std::string report_text(const Report& report, const ReportStyle& style);

// Without the parameters, which would fill the line, and cut where it is long all the same.
[[nodiscard]] std::string short_function_name(const std::string& function);
[[nodiscard]] const char* site_sorting_name(SiteSorting sorting);

// As many letters as `width`, filled up to the share (0 to 1).
[[nodiscard]] std::string bar(double share, std::size_t width, const ReportStyle& style);

// One letter a value, at most `width`; neighbours share one, as the largest of them.
[[nodiscard]] std::string sparkline(std::span<const std::uint64_t> values, std::size_t width,
                                    const ReportStyle& style);

}  // namespace ouro
