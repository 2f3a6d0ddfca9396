#include <ouro/observe/machine_memory.hpp>

namespace ouro {

MachineMemory read_machine_memory(void*) noexcept {
    MachineMemory machine;
    if (const auto group = os::cgroup_memory()) {
        const std::uint64_t droppable =
            group->reclaimable_bytes < group->usage_bytes ? group->reclaimable_bytes : group->usage_bytes;
        machine.group = {.used_bytes = group->usage_bytes - droppable, .limit_bytes = group->limit_bytes};
    }
    if (const auto system = os::system_memory(); system && system->total_bytes >= system->available_bytes) {
        machine.system = {.used_bytes = system->total_bytes - system->available_bytes,
                          .limit_bytes = system->total_bytes};
    }
    if (const auto stalls = os::memory_stalls()) {
        machine.some_stalls_percent = stalls->some.percent_10s;
        machine.full_stalls_percent = stalls->full.percent_10s;
    }
    return machine;
}

}  // namespace ouro
