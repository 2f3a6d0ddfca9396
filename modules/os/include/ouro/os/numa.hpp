#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

// Which memory node a thread runs near and where memory comes from. On a machine with one node all memory is
// near: binding then does nothing and says so.
namespace ouro::os {

enum class NumaOutcome : unsigned char {
    bound,
    // There is only one node; nothing was done and nothing is lost.
    single_node,
};

// At least one.
[[nodiscard]] unsigned numa_node_count() noexcept;

// The node of the core that this thread runs on now.
[[nodiscard]] unsigned current_numa_node() noexcept;

// Lets pages of the range that are touched from now on come from the node only. Fails with no_such_node,
// not_mapped, bad_address or permission_denied.
Expected<NumaOutcome> bind_to_numa_node(MemoryBlock block, unsigned node) noexcept;

// The node that holds the page at the address; not_mapped when no page is there yet.
[[nodiscard]] Expected<unsigned> numa_node_of(const void* address) noexcept;

}  // namespace ouro::os
