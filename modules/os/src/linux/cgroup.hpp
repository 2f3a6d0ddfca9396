#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/os/memory_pressure.hpp>

#include <string_view>

// Control groups and stall information, with the files named by the caller so that tests can lay out their
// own.
namespace ouro::os {

// `membership` is the process's list of groups (/proc/self/cgroup), `root` where the hierarchies are mounted.
[[nodiscard]] Expected<CgroupMemory> read_cgroup_memory(const char* membership, const char* root) noexcept;

// Of the process's own group, or the nearest around it that tells; not_supported where none does.
[[nodiscard]] Expected<MemoryStalls> read_cgroup_stalls(const char* membership, const char* root) noexcept;

// A file such as /proc/pressure/memory, and its text; not_supported where there is none.
[[nodiscard]] Expected<MemoryStalls> read_stalls(const char* path) noexcept;
[[nodiscard]] Expected<MemoryStalls> parse_stalls(std::string_view text) noexcept;

}  // namespace ouro::os
