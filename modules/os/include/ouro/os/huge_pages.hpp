#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>

// Memory on huge pages, and the truth about whether it is. A system may refuse: the memory then comes on
// smaller pages, and the report says what was given and why not more.
namespace ouro::os {

enum class PageKind : unsigned char {
    normal,
    // Normal memory that the system was asked to back with huge pages and did, in whole or in part.
    transparent,
    // From the system's reserved pool of huge pages (vm.nr_hugepages): all of it, never split, never swapped.
    reserved,
};

struct HugePageReport {
    PageKind asked = PageKind::normal;
    PageKind given = PageKind::normal;
    // The size of a huge page of the kind given, or the normal page size.
    std::size_t page_bytes = 0;
    // How much of the block is on huge pages now. The system may change this later for transparent ones.
    std::size_t huge_bytes = 0;
    // ok when all that was asked was given; else why not: no_huge_pages (none free), not_supported or
    // permission_denied (switched off by the system).
    Status reason = Status::ok;
};

struct HugeBlock {
    MemoryBlock block;
    HugePageReport report;
};

// Committed and prefaulted memory on the best pages that can be had: asking for `reserved` falls back to
// transparent, and that to normal. The size is rounded up to whole huge pages. Fails with zero_size,
// size_overflow, out_of_memory or out_of_address_space, never for lack of huge pages.
[[nodiscard]] Expected<HugeBlock> allocate_huge(std::size_t bytes, PageKind asked) noexcept;

// Requires: what allocate_huge returned.
Expected<void> release_huge(const HugeBlock& block) noexcept;

// Asks the system to back committed pages with huge ones, or not to (tracked regions must not be). Advice
// only.
Expected<void> advise_huge(MemoryBlock block, bool wanted) noexcept;

// How many bytes of the range are on huge pages at this moment. Reads the system's tables: not for hot paths.
[[nodiscard]] Expected<std::size_t> huge_bytes_in(MemoryBlock block) noexcept;

// The usual huge page (2 MiB on x86-64), or zero where there is none.
[[nodiscard]] std::size_t huge_page_size() noexcept;

}  // namespace ouro::os
