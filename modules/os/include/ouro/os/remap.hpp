#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>

// Growing a range by changing the page tables, without copying bytes. For committed memory of reserve and
// commit that was committed as a whole (or in parts that the system has joined since); the new pages are
// committed, read zero and have the advice of the old ones.
//
// The new size is rounded up to whole pages and must be larger than the block, else bad_argument. What fails
// has changed nothing. In wasm32: not_supported.
namespace ouro::os {

// Grows in place; the addresses behind the block must be free (reserved ones are not). Returns the larger
// block. Fails with zero_size, bad_address, size_overflow, address_in_use, not_mapped, out_of_memory,
// out_of_address_space or too_many_mappings.
[[nodiscard]] Expected<MemoryBlock> extend(MemoryBlock block, std::size_t new_bytes) noexcept;

// Grows in place or takes the pages to other addresses, which start on a page boundary and no more; the old
// ones are then free and nothing may point there. Fails as extend, but never with address_in_use.
[[nodiscard]] Expected<MemoryBlock> move_and_extend(MemoryBlock block, std::size_t new_bytes) noexcept;

// Takes the pages of a block to the front of a room, which is reserved and no smaller: all of it is committed
// afterwards and can grow as one. The first leaves the block's addresses free; the second leaves them
// committed, and they read zero then (Linux 5.7 and later; also fails where the block is locked or in several
// mappings). Returns the room. What fails leaves the block as it was, and the room is not the caller's any
// more.
[[nodiscard]] Expected<MemoryBlock> move_into(MemoryBlock block, MemoryBlock room) noexcept;
[[nodiscard]] Expected<MemoryBlock> move_pages_into(MemoryBlock block, MemoryBlock room) noexcept;

}  // namespace ouro::os
