#pragma once

#include "report_model.hpp"
#include "report_text.hpp"
#include "text_columns.hpp"

#include <string>

// The parts of the text; empty where there is nothing to tell.
namespace ouro {

[[nodiscard]] std::string profile_text(const Report& report, const ReportStyle& style);
[[nodiscard]] std::string timeline_text(const Report& report, const ReportStyle& style);
[[nodiscard]] std::string blocks_text(const Report& report, const ReportStyle& style);
[[nodiscard]] std::string pressure_text(const Report& report, const ReportStyle& style);

// A dash for what nobody has told.
[[nodiscard]] std::string use_text(const std::optional<std::uint64_t>& bytes);

// Nothing without rows.
[[nodiscard]] std::string titled(const char* title, const TextColumns& columns);
// "(the latest of 12)" when fewer are shown.
[[nodiscard]] std::string latest_text(std::size_t shown, std::uint64_t count);

[[nodiscard]] std::string percent_text(double share);
[[nodiscard]] double share_of(std::uint64_t part, std::uint64_t whole);

}  // namespace ouro
