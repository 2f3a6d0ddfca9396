#pragma once

#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>

// Blocks with a mapping of their own: those too large for units, and all others when the heap has no room. A
// small header in front says where the mapping begins. They grow by remapping, without copying.
namespace ouro::process_heap {

// Null when there is no memory. `alignment` is a power of two. The bytes are zero.
[[nodiscard]] void* map_block(std::size_t size, std::size_t alignment) noexcept;
// Requires (assert): a block of map_block.
void unmap_block(void* block) noexcept;
// In place or at other addresses; null when neither is possible, and then the block is as it was.
[[nodiscard]] void* remap_block(void* block, std::size_t new_size) noexcept;
// A block with the pages of some memory that is committed, and reads zero then; null when that cannot be, and
// nothing has happened. Requires: whole pages, and no more than `size`.
[[nodiscard]] void* map_pages(MemoryBlock memory, std::size_t size) noexcept;
[[nodiscard]] std::size_t mapped_size(const void* block) noexcept;

struct MappedTotals {
    std::size_t blocks = 0;
    // With the mappings' headers and unused ends.
    std::size_t bytes = 0;
    std::size_t peak_bytes = 0;
    std::uint64_t allocations = 0;
};
[[nodiscard]] MappedTotals mapped_totals() noexcept;

}  // namespace ouro::process_heap
