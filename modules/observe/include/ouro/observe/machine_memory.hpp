#pragma once

#include <ouro/os/memory_pressure.hpp>

#include <cstdint>

namespace ouro {

struct MemoryUse {
    std::uint64_t used_bytes = 0;
    // os::kNoLimit where there is none, or none is known.
    std::uint64_t limit_bytes = os::kNoLimit;
};

// How full the machine is, from the two limits that a program can meet there.
struct MachineMemory {
    // Of the control group with the least room. File contents that can be dropped at once are not counted as
    // used: they would fill any group after a while.
    MemoryUse group{};
    // Of the whole machine: what is not available to programs.
    MemoryUse system{};
    // The share of the last ten seconds in which some tasks, or all of them, waited for memory: those of the
    // control group where it tells, else the machine's.
    double some_stalls_percent = 0;
    double full_stalls_percent = 0;
};

// Asks the system, which takes some hundred microseconds; what it does not tell stays without a limit. The
// argument is for those who replace this function by one of their own.
[[nodiscard]] MachineMemory read_machine_memory(void* context = nullptr) noexcept;

}  // namespace ouro
