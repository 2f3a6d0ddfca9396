#include <ouro/os/capabilities.hpp>

namespace ouro::os {

std::string_view mode_name(TransparentHugePages mode) noexcept {
    switch (mode) {
        case TransparentHugePages::unavailable:
            return "unavailable";
        case TransparentHugePages::never:
            return "never";
        case TransparentHugePages::madvise:
            return "madvise";
        case TransparentHugePages::always:
            return "always";
    }
    return "unknown";
}

std::array<Feature, kFeatureCount> list_features(const Capabilities& capabilities) noexcept {
    const auto ok = [](Status status) { return status == Status::ok; };
    return {{
        {"memory_aliases", capabilities.memory_aliases},
        {"page_protection", capabilities.page_protection},
        {"userfaultfd", ok(capabilities.userfaultfd)},
        {"userfaultfd_wp_async", ok(capabilities.userfaultfd_wp_async)},
        {"pagemap_scan", ok(capabilities.pagemap_scan)},
        {"reserved_huge_pages", capabilities.huge_pages_free != 0},
        {"transparent_huge_pages", capabilities.transparent_huge_pages >= TransparentHugePages::madvise},
        {"several_numa_nodes", capabilities.numa_nodes > 1},
        {"avx2", capabilities.cpu.avx2},
        {"pressure_stall_information", capabilities.pressure_stall_information},
        {"stack_capture", capabilities.stack_capture},
        {"process_barrier", capabilities.process_barrier},
    }};
}

}  // namespace ouro::os
