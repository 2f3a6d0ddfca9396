#pragma once

#include <ouro/base/cpu.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/os/memory_pressure.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro::os {

enum class TransparentHugePages : unsigned char { unavailable, never, madvise, always };

// The kernel's own word for the mode.
[[nodiscard]] std::string_view mode_name(TransparentHugePages mode) noexcept;

// What this machine and kernel offer, found out by trying: policy is chosen from this report and from nothing
// else.
struct Capabilities {
    std::array<char, 96> system{};  // e.g. "Linux 6.12.3 x86_64"

    std::size_t page_bytes = 0;
    unsigned address_bits = 0;
    bool memory_aliases = false;   // one memory object at several addresses
    bool page_protection = false;  // protect() and faults that can be handled

    std::size_t huge_page_bytes = 0;
    std::uint64_t huge_pages_total = 0;
    std::uint64_t huge_pages_free = 0;
    TransparentHugePages transparent_huge_pages = TransparentHugePages::unavailable;

    // ok, or why the kernel cannot track writes: not_supported or permission_denied.
    Status userfaultfd = Status::not_supported;
    Status userfaultfd_wp_async = Status::not_supported;
    Status pagemap_scan = Status::not_supported;
    std::uint64_t max_mappings = 0;

    bool process_barrier = false;  // one thread can make all of them pass a full fence

    unsigned numa_nodes = 1;
    unsigned cores = 1;
    CpuFeatures cpu;

    Expected<SystemMemory> memory = Status::not_supported;
    Expected<CgroupMemory> cgroup = Status::not_supported;
    bool pressure_stall_information = false;
    bool stack_capture = false;

    [[nodiscard]] bool kernel_tracking() const noexcept {
        return userfaultfd_wp_async == Status::ok && pagemap_scan == Status::ok && memory_aliases;
    }
};

// Asks the system; takes a millisecond or less, leaves nothing open.
[[nodiscard]] Capabilities query_capabilities() noexcept;

struct Feature {
    std::string_view name;
    bool present = false;
};

inline constexpr std::size_t kFeatureCount = 12;

// The yes-or-no part of the report under stable names: what `ouro doctor --json` prints and tests name when
// they skip.
[[nodiscard]] std::array<Feature, kFeatureCount> list_features(const Capabilities& capabilities) noexcept;

}  // namespace ouro::os
