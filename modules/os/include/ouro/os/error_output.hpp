#pragma once

#include <string_view>

namespace ouro::os {

// Writes the text to standard error: unbuffered, without a lock or an allocation, safe in a signal handler.
// What the system does not take is lost.
void write_error_text(std::string_view text) noexcept;

}  // namespace ouro::os
