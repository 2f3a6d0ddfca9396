#pragma once

#include "harness/measure.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ouro::bench {

// The process's memory that is in the machine's, counted page by page and not from the kernel's estimate.
[[nodiscard]] std::uint64_t resident_bytes();

// Calls the function in a child process and returns what it returned: what it does to an allocator is undone
// with the child. Requires: the process has one thread. Throws std::runtime_error when the child ends early.
[[nodiscard]] double in_child_process(const std::function<double()>& figure);

// How much memory the work holds when it says weigh_here(), beyond what the process held when it said
// weigh_from_here(): of one operation in a child process, as in_child_process() requires. Nothing when it
// says neither.
[[nodiscard]] std::uint64_t weigh(const Work& work);
// Outside weigh() both do nothing, and this is false.
[[nodiscard]] bool is_weighing() noexcept;
void weigh_from_here();
void weigh_here(Round& round);

// What heaps hold in each case. A process that has used a heap before cannot tell it, since heaps keep memory
// for the next time: all are weighed before the first one is timed.
struct MemoryBook {
    // True while the cases are gone through for the first time, when nothing is timed.
    bool is_open = false;
    std::map<std::string, std::uint64_t> bytes;

    // Writes down what the work holds, or makes the work tell what was written down.
    [[nodiscard]] Work enter(const std::string& name, Work work);
};

}  // namespace ouro::bench
