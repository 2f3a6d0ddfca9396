#include "linear_memory.hpp"
#include "page_range.hpp"

#include <ouro/os/numa.hpp>

namespace ouro::os {

unsigned numa_node_count() noexcept {
    return 1;
}

unsigned current_numa_node() noexcept {
    return 0;
}

Expected<NumaOutcome> bind_to_numa_node(MemoryBlock block, unsigned node) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    if (node != 0) return Status::no_such_node;
    return NumaOutcome::single_node;
}

Expected<unsigned> numa_node_of(const void* address) noexcept {
    const auto page = reinterpret_cast<std::uintptr_t>(address) / wasm::kPageBytes;
    if (page >= wasm::grown_pages()) return Status::not_mapped;
    return 0U;
}

}  // namespace ouro::os
