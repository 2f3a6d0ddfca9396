#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>

namespace ouro::os {

// What this process takes, as the system counts it: exact to some dozens of pages, because the kernel adds up
// its cores' counts lazily. In wasm32 all three are the size of the linear memory, which never shrinks.
struct ProcessMemory {
    // Pages that are in memory now, shared ones included, and the most there ever were.
    std::uint64_t resident_bytes = 0;
    std::uint64_t peak_resident_bytes = 0;
    // Addresses taken, with memory behind them or not.
    std::uint64_t virtual_bytes = 0;
};

// Reads the system's files without allocating: not for hot paths. Fails with not_found, permission_denied,
// too_many_files, io_error or corrupt_data.
[[nodiscard]] Expected<ProcessMemory> process_memory() noexcept;

// The number that the system knows this process by. 1 in wasm32.
[[nodiscard]] std::uint32_t process_id() noexcept;

// Lets other programs of the same user read this process's memory where the system allows that to its parents
// only. Fails with not_supported where there are no such programs, or no such rule.
Expected<void> let_same_user_read() noexcept;

}  // namespace ouro::os
