#pragma once

#include <ouro/base/status.hpp>

#include <cstdint>
#include <string>

namespace ouro {

// "process 1234".
[[nodiscard]] std::string process_text(std::uint32_t process_id);

// Throws a ReportError, ProcessEnded where that is the reason, which says why the process cannot be looked
// into, and what to do.
[[noreturn]] void complain_about_process(std::uint32_t process_id, Status status);

}  // namespace ouro
