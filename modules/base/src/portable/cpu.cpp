#include <ouro/base/cpu.hpp>

namespace ouro {

CpuFeatures cpu_features() noexcept {
    return {};
}

const char* cpu_baseline() noexcept {
#if defined(__wasm_simd128__)
    return "SIMD128";
#else
    return "portable";
#endif
}

}  // namespace ouro
