#include "linear_memory.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>

namespace ouro::os {

// What is not named here is missing, as the report's defaults say.
Capabilities query_capabilities() noexcept {
    constexpr std::string_view kSystem = "wasm32, shared memory, workers";
    Capabilities report;
    std::copy(kSystem.begin(), kSystem.end(), report.system.begin());
    report.page_bytes = page_size();
    report.address_bits = 32;
    report.max_mappings = wasm::kMaxRanges;
    report.numa_nodes = numa_node_count();
    report.cores = core_count();
    report.cpu = cpu_features();
    report.memory = system_memory();
    return report;
}

}  // namespace ouro::os
