#pragma once

#include <cstdint>
#include <functional>

namespace ouro::bench {

// The process's memory that is in the machine's, counted page by page and not from the kernel's estimate.
[[nodiscard]] std::uint64_t resident_bytes();

// Calls the function in a child process and returns what it returned: what it does to an allocator is undone
// with the child. Requires: the process has one thread. Throws std::runtime_error when the child ends early.
[[nodiscard]] double in_child_process(const std::function<double()>& figure);

}  // namespace ouro::bench
