#pragma once

namespace ouro {

// Vector extensions that code may choose at run time. The baseline (SSE2, or SIMD128 in wasm) is not listed.
struct CpuFeatures {
    bool sse42 = false;
    bool avx = false;
    bool avx2 = false;
    bool bmi2 = false;
    bool fma = false;
    bool avx512f = false;
    bool avx512bw = false;
};

// What the processor and the system together allow.
[[nodiscard]] CpuFeatures cpu_features() noexcept;

// The vector instructions that every build for this platform uses, e.g. "SSE2".
[[nodiscard]] const char* cpu_baseline() noexcept;

}  // namespace ouro
