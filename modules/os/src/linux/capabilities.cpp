#include "kernel_abi.hpp"
#include "system_calls.hpp"
#include "text_file.hpp"
#include "userfaultfd.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdio>

#include <sys/utsname.h>

namespace ouro::os {
namespace {

void query_system(Capabilities& report) noexcept {
    utsname names{};
    if (attempt(OsCall::query_system, [&] { return ::uname(&names); }) != 0) return;
    // Cut where it is longer than the field.
    (void)std::snprintf(report.system.data(), report.system.size(), "%.20s %.40s %.30s", names.sysname,
                        names.release, names.machine);
}

TransparentHugePages query_transparent() noexcept {
    std::array<char, 128> buffer;
    const auto text = read_text_file("/sys/kernel/mm/transparent_hugepage/enabled", buffer);
    if (!text) return TransparentHugePages::unavailable;
    if (text->find("[always]") != std::string_view::npos) return TransparentHugePages::always;
    if (text->find("[madvise]") != std::string_view::npos) return TransparentHugePages::madvise;
    return TransparentHugePages::never;
}

void query_huge_pages(Capabilities& report) noexcept {
    report.huge_page_bytes = huge_page_size();
    report.transparent_huge_pages = query_transparent();
    std::array<char, 8192> buffer;
    const auto text = read_text_file("/proc/meminfo", buffer);
    if (!text) return;
    const auto number = [&](std::string_view key) {
        const auto field = find_field(*text, key);
        return field ? parse_number(*field).value_or(std::uint64_t{0}) : 0;
    };
    report.huge_pages_total = number("HugePages_Total:");
    report.huge_pages_free = number("HugePages_Free:");
}

// The width of user addresses, from what the processor says of itself ("48 bits virtual"); half belongs to
// the kernel.
unsigned query_address_bits() noexcept {
    unsigned bits = sizeof(void*) * 8;
    (void)for_each_line(
        "/proc/cpuinfo",
        [](std::string_view line, void* context) {
            if (!line.starts_with("address sizes")) return true;
            const std::size_t comma = line.find(',');
            const auto number =
                parse_number(comma == std::string_view::npos ? "" : text_from(line, comma + 1));
            if (number && *number > 1) *static_cast<unsigned*>(context) = static_cast<unsigned>(*number) - 1;
            return false;
        },
        &bits);
    return bits;
}

bool can_alias() noexcept {
    const auto object = MemoryObject::create(page_size(), "ouro-probe");
    if (!object) return false;
    const auto first = object->map({.bytes = page_size()});
    const auto second = object->map({.bytes = page_size()});
    if (!first || !second) return false;
    *first->block().data = std::byte{1};
    return *second->block().data == std::byte{1};
}

void query_tracking(Capabilities& report) noexcept {
    report.userfaultfd = open_userfaultfd(0).status();
    report.userfaultfd_wp_async = open_userfaultfd(abi::kTrackingFeatures).status();
    report.pagemap_scan = open_pagemap().status();
    report.max_mappings = read_number("/proc/sys/vm/max_map_count").value_or(std::uint64_t{0});
}

}  // namespace

Capabilities query_capabilities() noexcept {
    Capabilities report;
    query_system(report);
    report.page_bytes = page_size();
    report.address_bits = query_address_bits();
    report.memory_aliases = can_alias();
    report.page_protection = true;
    query_huge_pages(report);
    query_tracking(report);
    report.process_barrier = process_barrier_available();
    report.numa_nodes = numa_node_count();
    report.cores = core_count();
    report.cpu = cpu_features();
    report.memory = system_memory();
    report.cgroup = cgroup_memory();
    report.pressure_stall_information = memory_stalls().has_value();
    report.stack_capture = true;
    return report;
}

}  // namespace ouro::os
