#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/base/status.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstddef>

// Raw mappings, shared by the files of this backend.
namespace ouro::os {

[[nodiscard]] int native_protection(Protection protection) noexcept;

// True when every page of the range is mapped, in whatever way.
[[nodiscard]] bool is_mapped(MemoryBlock block) noexcept;

// What ENOMEM meant for an operation on existing mappings: not_mapped, too_many_mappings or out_of_memory.
[[nodiscard]] Status explain_no_memory(MemoryBlock block) noexcept;

// What ENOMEM meant for a new mapping: too_many_mappings or out_of_address_space.
[[nodiscard]] Status explain_no_addresses() noexcept;

// Replaces the pages by reserved ones without memory.
[[nodiscard]] Status make_reserved(MemoryBlock block) noexcept;

[[nodiscard]] Status unmap(MemoryBlock block) noexcept;

}  // namespace ouro::os
