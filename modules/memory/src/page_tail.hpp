#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>

// Changing a range of committed pages at its end. not_supported where the platform only takes ranges back as
// they were reserved; the caller then moves the bytes.
namespace ouro::detail {

// Gives the last pages of a range back to the system.
Expected<void> release_tail(MemoryBlock tail) noexcept;

// Adds committed pages right behind the block. Fails with address_in_use when something else is there, or as
// os::reserve and os::commit do, and has changed nothing then.
Expected<void> extend_in_place(MemoryBlock block, std::size_t more_bytes) noexcept;

}  // namespace ouro::detail
