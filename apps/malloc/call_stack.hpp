#pragma once

#include <cstddef>
#include <span>

namespace ouro::process_heap {

// What one call can tell of.
inline constexpr std::size_t kMostCallers = 16;

// The return addresses of those who called into the library, innermost first, and how many there are. Reads
// the tables that exceptions use, for most programs keep no frame pointers; see os::capture_callers. No
// memory, and no lock that others hold for long. Not for signal handlers.
[[nodiscard]] std::size_t capture_callers(std::span<void*> frames) noexcept;

}  // namespace ouro::process_heap
