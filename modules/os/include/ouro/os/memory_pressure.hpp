#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>

// How much memory there is for this process, and whether the system is short of it. Each call reads the
// system's files: poll it, do not call it on an allocation path.
namespace ouro::os {

struct SystemMemory {
    std::uint64_t total_bytes = 0;
    std::uint64_t available_bytes = 0;
};

// In wasm32: the linear memory's maximum, and what is left of it. Fails with io_error or corrupt_data.
[[nodiscard]] Expected<SystemMemory> system_memory() noexcept;

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

struct CgroupMemory {
    // 2 or 1.
    unsigned version = 0;
    // All of one group: of the process's own and those around it, the one with the least room left, where
    // what can be reclaimed counts as room. Its limit is where programs are stopped or, if lower, where they
    // are throttled (version 2's memory.high). Without any limit, kNoLimit and what its own group uses.
    std::uint64_t limit_bytes = kNoLimit;
    std::uint64_t usage_bytes = 0;
    // The part of the usage that is contents of files nobody has asked for lately: the kernel drops them
    // before anything else. Zero where it does not tell.
    std::uint64_t reclaimable_bytes = 0;
};

// What the process's control group allows and uses; version 2 where it governs memory, else version 1. Fails
// with not_supported where neither does, with io_error or corrupt_data.
[[nodiscard]] Expected<CgroupMemory> cgroup_memory() noexcept;

// Pressure-stall information: the share of time, in percent over the last 10, 60 and 300 seconds, in which
// some or all tasks waited for memory, and the total time since start.
struct StallShares {
    double percent_10s = 0;
    double percent_60s = 0;
    double percent_300s = 0;
    std::uint64_t total_us = 0;
};

struct MemoryStalls {
    StallShares some;
    StallShares full;
};

// Of the process's control group where it tells (version 2), else of the whole system. Fails with
// not_supported, io_error or corrupt_data.
[[nodiscard]] Expected<MemoryStalls> memory_stalls() noexcept;

}  // namespace ouro::os
