#pragma once

#include "frame_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::os {

// The tables that exceptions use, of one program or library: an index over functions (.eh_frame_hdr), sorted
// by address, and what is said of each (.eh_frame). Both lie in one part of memory, of which nothing else is
// read, whatever they say.
struct UnwindTables {
    // That part of memory, and the address that its content was made for.
    std::span<const std::byte> bytes;
    std::uint64_t address = 0;
    // Where the index begins, as an address in it.
    std::uint64_t index = 0;
};

// What holds at an address in the code. Outermost when the tables are silent about it, for nobody else could
// go on either; unsupported when they cannot be read, or say what no rule can.
[[nodiscard]] FrameRule find_frame_rule(const UnwindTables& tables, std::uint64_t address) noexcept;

}  // namespace ouro::os
