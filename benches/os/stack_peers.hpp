#pragma once

#include <cstddef>
#include <span>
#include <string>

// libunwind as a peer; the file behind this is chosen by CMake from what the machine has.
namespace ouro::bench {

// Empty when this program was built without it.
[[nodiscard]] std::string libunwind_version();
[[nodiscard]] std::size_t libunwind_backtrace(std::span<void*> frames);

}  // namespace ouro::bench
