#include <ouro/base/cpu.hpp>

namespace ouro {

CpuFeatures cpu_features() noexcept {
    __builtin_cpu_init();
    return {
        .sse42 = __builtin_cpu_supports("sse4.2") != 0,
        .avx = __builtin_cpu_supports("avx") != 0,
        .avx2 = __builtin_cpu_supports("avx2") != 0,
        .bmi2 = __builtin_cpu_supports("bmi2") != 0,
        .fma = __builtin_cpu_supports("fma") != 0,
        .avx512f = __builtin_cpu_supports("avx512f") != 0,
        .avx512bw = __builtin_cpu_supports("avx512bw") != 0,
    };
}

const char* cpu_baseline() noexcept {
    return "SSE2";
}

}  // namespace ouro
