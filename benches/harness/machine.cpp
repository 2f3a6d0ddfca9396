#include "harness/machine.hpp"

#include <ouro/os/capabilities.hpp>

#include <chrono>
#include <ctime>
#include <fstream>

namespace ouro::bench {
namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

std::string compiler_name() {
#if defined(__clang__)
    return std::string("clang ") + __clang_version__;
#else
    return std::string("g++ ") + __VERSION__;
#endif
}

std::string vector_extensions(const CpuFeatures& cpu) {
    std::string text = cpu_baseline();
    if (cpu.avx2) text += " AVX2";
    if (cpu.avx512f && cpu.avx512bw) text += " AVX-512";
    return text;
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32] = {};
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace

Machine describe_machine(bool quick) {
    const os::Capabilities capabilities = os::query_capabilities();
    Machine machine;
    machine.cpu = cpu_model();
    machine.cores = capabilities.cores;
    machine.memory_bytes = capabilities.memory ? capabilities.memory->total_bytes : 0;
    machine.kernel = capabilities.system.data();
    machine.compiler = compiler_name();
    machine.build_type = OURO_BENCH_BUILD_TYPE;
    machine.vector_extensions = vector_extensions(capabilities.cpu);
    machine.page_bytes = capabilities.page_bytes;
    machine.transparent_huge_pages = os::mode_name(capabilities.transparent_huge_pages);
    machine.date = utc_now();
    machine.quick = quick;
    return machine;
}

}  // namespace ouro::bench
