#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>

// Address space and the memory behind it. Reserving takes addresses only; committing makes them usable. A
// committed byte that was never written reads zero, also after decommit and commit again.
//
// Ranges given to these functions start and end on page boundaries, else bad_address; a size of zero is
// zero_size. A function that fails has changed nothing, except where it says otherwise.
//
// In wasm32 a page is 64 KiB, memory comes from the one linear memory and never goes back to the host, and
// protect answers not_supported for anything but read_write. Touching pages that are not committed, guard
// pages among them, is an error there that nothing notices: at most it traps, where the memory has not grown
// that far.
namespace ouro::os {

enum class Protection : unsigned char { none, read, read_write };

// The unit of commit and protect.
[[nodiscard]] std::size_t page_size() noexcept;

struct ReserveRequest {
    // Rounded up to whole pages.
    std::size_t bytes = 0;
    // A power of two; zero means a page.
    std::size_t alignment = 0;
    // The exact address wanted, or null for any. Never replaces what is there: address_in_use.
    void* address = nullptr;
};

// Takes a range of addresses without memory; touching it is a fault. Fails with zero_size, size_overflow,
// bad_alignment, bad_address, address_in_use, out_of_address_space or too_many_mappings.
[[nodiscard]] Expected<MemoryBlock> reserve(const ReserveRequest& request) noexcept;

// Gives the addresses back, with whatever was committed there. The block is what reserve returned, or whole
// pages of it. Fails with bad_address, or with too_many_mappings when a part leaves two.
Expected<void> release(MemoryBlock block) noexcept;

// Makes reserved pages readable and writable; already committed ones keep their bytes. Fails with
// out_of_memory when the process's limit is reached, not_mapped when part of the range was never reserved,
// too_many_mappings.
Expected<void> commit(MemoryBlock block) noexcept;

// Returns the memory of the pages to the system and keeps their addresses; touching them is a fault again.
// Transparent-huge-page and NUMA advice for them is forgotten.
Expected<void> decommit(MemoryBlock block) noexcept;

// Returns the memory of committed pages to the system and keeps them committed: they read zero, and take
// memory again when they are written. Cheaper than decommit and commit, and makes no mapping of its own. For
// memory of reserve and commit; a MemoryObject has its own discard. Fails with not_mapped.
Expected<void> discard(MemoryBlock block) noexcept;

// Changes what may be done with committed pages. Fails with not_mapped, too_many_mappings or not_supported.
Expected<void> protect(MemoryBlock block, Protection protection) noexcept;

// Brings committed pages into memory now, so that the first write later causes no fault; their bytes stay.
// Fails with out_of_memory or not_mapped (also for pages that are not committed); pages before the failure
// stay in memory.
Expected<void> prefault(MemoryBlock block) noexcept;

}  // namespace ouro::os
