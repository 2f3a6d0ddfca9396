#pragma once

#include "block_table_reader.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace ouro {

struct StreamsRequest {
    // A process's number or a recording's path; empty when none was given.
    std::string target;
    bool as_json = false;
};

// The blocks of a program: its tables, their streams, and what stands on its own.
struct StreamsReport {
    std::uint32_t process_id = 0;
    // Of a running process, not of a recording.
    bool is_live = false;
    std::vector<BlockTableCopy> tables;
};

// For people: a line a block, parts below what they are a part of.
[[nodiscard]] std::string streams_text(const StreamsReport& report);
// The same for programs, as write_blocks_json of the module streams names things.
[[nodiscard]] nlohmann::ordered_json streams_json(const StreamsReport& report);

// Writes the report, or why there is none to `errors`. Returns the program's exit code.
int run_streams(const StreamsRequest& request, std::ostream& out, std::ostream& errors);

}  // namespace ouro
