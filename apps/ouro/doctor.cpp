#include "doctor.hpp"

#include "text_table.hpp"

#include <ouro/base/cpu.hpp>
#include <ouro/os/tracker_choice.hpp>

#include <string_view>
#include <utility>

namespace ouro {
namespace {

using nlohmann::ordered_json;

std::string yes_or_why(Status status) {
    if (status == Status::ok) return "yes";
    if (status == Status::not_supported) return "no: this kernel does not offer it";
    return "no: " + std::string(status_text(status));
}

std::string huge_pages_text(const os::Capabilities& report) {
    if (report.huge_page_bytes == 0) return "none";
    std::string text = size_text(report.huge_page_bytes) +
                       "; reserved: " + std::to_string(report.huge_pages_free) + " free of " +
                       std::to_string(report.huge_pages_total) + "; transparent: ";
    switch (report.transparent_huge_pages) {
        case os::TransparentHugePages::always:
            return text + "always";
        case os::TransparentHugePages::madvise:
            return text + "where asked for (madvise)";
        case os::TransparentHugePages::never:
        case os::TransparentHugePages::unavailable:
            break;
    }
    return text + "no";
}

std::string numa_text(const os::Capabilities& report) {
    if (report.numa_nodes == 1) return "1 (binding is not needed and does nothing)";
    return std::to_string(report.numa_nodes);
}

std::string cgroup_text(const os::Capabilities& report) {
    if (!report.cgroup) return "unknown: " + std::string(status_text(report.cgroup.status()));
    const os::CgroupMemory& group = *report.cgroup;
    const std::string limit = group.limit_bytes == os::kNoLimit ? "no limit" : size_text(group.limit_bytes);
    return limit + ", " + size_text(group.usage_bytes) + " used (cgroup v" + std::to_string(group.version) +
           ")";
}

std::string memory_text(const os::Capabilities& report) {
    if (!report.memory) return "unknown: " + std::string(status_text(report.memory.status()));
    return size_text(report.memory->total_bytes) + ", " + size_text(report.memory->available_bytes) +
           " available";
}

std::string vector_text(const CpuFeatures& cpu) {
    std::string text = cpu_baseline();
    text += " (baseline)";
    const std::pair<bool, const char*> optional[] = {
        {cpu.sse42, "SSE4.2"}, {cpu.avx, "AVX"},          {cpu.avx2, "AVX2"},         {cpu.fma, "FMA"},
        {cpu.bmi2, "BMI2"},    {cpu.avx512f, "AVX-512F"}, {cpu.avx512bw, "AVX-512BW"}};
    for (const auto& [present, name] : optional) {
        if (present) text.append(", ").append(name);
    }
    return text;
}

ordered_json memory_json(const os::Capabilities& report) {
    ordered_json memory;
    if (report.memory) {
        memory["total_bytes"] = report.memory->total_bytes;
        memory["available_bytes"] = report.memory->available_bytes;
    }
    memory["cgroup"] = nullptr;
    if (report.cgroup) {
        const os::CgroupMemory& group = *report.cgroup;
        memory["cgroup"] = {
            {"version", group.version}, {"usage_bytes", group.usage_bytes}, {"limit_bytes", nullptr}};
        if (group.limit_bytes != os::kNoLimit) memory["cgroup"]["limit_bytes"] = group.limit_bytes;
    }
    return memory;
}

ordered_json tracking_json(const os::Capabilities& report) {
    const os::TrackerChoice choice = os::choose_tracker(report);
    return {{"userfaultfd", status_name(report.userfaultfd)},
            {"userfaultfd_wp_async", status_name(report.userfaultfd_wp_async)},
            {"pagemap_scan", status_name(report.pagemap_scan)},
            {"max_mappings", report.max_mappings},
            {"chosen", os::tracker_name(choice.kind)},
            {"reason", choice.reason}};
}

}  // namespace

std::string doctor_text(const os::Capabilities& report) {
    const os::TrackerChoice choice = os::choose_tracker(report);
    TextTable table;
    table.group(std::string("Machine: ") + report.system.data())
        .line("cores", std::to_string(report.cores))
        .line("vector extensions", vector_text(report.cpu))
        .line("memory", memory_text(report))
        .line("control group", cgroup_text(report))
        .line("stall information", report.pressure_stall_information ? "yes" : "no")
        .line("barrier for all threads", report.process_barrier ? "yes" : "no")
        .line("NUMA nodes", numa_text(report));
    table.group("Virtual memory")
        .line("page", size_text(report.page_bytes))
        .line("addresses", std::to_string(report.address_bits) + " bits for programs")
        .line("huge pages", huge_pages_text(report))
        .line("aliased mappings", report.memory_aliases ? "yes" : "no")
        .line("mappings at most", report.max_mappings == 0 ? "unknown" : std::to_string(report.max_mappings));
    table.group("Finding writes that nobody declared")
        .line("userfaultfd", yes_or_why(report.userfaultfd))
        .line("  asynchronous", yes_or_why(report.userfaultfd_wp_async))
        .line("PAGEMAP_SCAN", yes_or_why(report.pagemap_scan))
        .line("page protection", report.page_protection ? "yes" : "no")
        .line("state-ring tracker",
              std::string(os::tracker_name(choice.kind)) + ": " + std::string(choice.reason));
    return table.text();
}

nlohmann::ordered_json doctor_json(const os::Capabilities& report) {
    ordered_json features;
    for (const os::Feature& feature : os::list_features(report))
        features[std::string(feature.name)] = feature.present;
    return {{"system", report.system.data()},
            {"cores", report.cores},
            {"numa_nodes", report.numa_nodes},
            {"page_bytes", report.page_bytes},
            {"address_bits", report.address_bits},
            {"huge_pages",
             {{"page_bytes", report.huge_page_bytes},
              {"reserved_total", report.huge_pages_total},
              {"reserved_free", report.huge_pages_free},
              {"transparent", os::mode_name(report.transparent_huge_pages)}}},
            {"memory", memory_json(report)},
            {"tracking", tracking_json(report)},
            {"features", features}};
}

}  // namespace ouro
