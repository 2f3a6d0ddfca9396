#include "linear_memory.hpp"
#include "page_states.hpp"

#include <ouro/os/memory_pressure.hpp>

namespace ouro::os {

// What is reserved without being committed counts as available, as it does elsewhere.
Expected<SystemMemory> system_memory() noexcept {
    const std::uint64_t used =
        std::uint64_t{wasm::first_page()} + wasm::pages_of(wasm::PageOwner::test_heap) + committed_pages();
    const std::uint64_t total = wasm::maximum_pages();
    return SystemMemory{total * wasm::kPageBytes, (total - used) * wasm::kPageBytes};
}

Expected<CgroupMemory> cgroup_memory() noexcept {
    return Status::not_supported;
}

Expected<MemoryStalls> memory_stalls() noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
