#pragma once

#include "harness/machine.hpp"
#include "harness/row.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace ouro::bench {

inline constexpr std::size_t kTableColumns = 120;

// Three digits that count, and never an exponent.
[[nodiscard]] std::string short_number(double value);

// The lines of the table, each at most kTableColumns wide and ended by a newline.
[[nodiscard]] std::string table_machine(const Machine& machine);
[[nodiscard]] std::string table_heading(const std::string& suite, const std::string& about);
// The row, and below it, where there is something to say, its note and memory.
[[nodiscard]] std::string table_row(const Row& row);
[[nodiscard]] std::string table_summary(const std::vector<Row>& rows);

// An array: the machine, then the rows in the order of measuring. A figure that is not known is null; met is
// true, false or "unknown".
[[nodiscard]] std::string json_report(const Machine& machine, const std::vector<Row>& rows);

}  // namespace ouro::bench
