#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/base/status.hpp>

#include <string_view>

// The parts of NUMA support that a machine with one node does not reach by itself; apart so that tests can.
namespace ouro::os {

// The number of nodes in the kernel's list of those online, e.g. "0-1".
[[nodiscard]] unsigned count_nodes(std::string_view online) noexcept;

// Binds the pages to the node, whatever the number of nodes.
[[nodiscard]] Status set_memory_policy(MemoryBlock block, unsigned node) noexcept;

}  // namespace ouro::os
