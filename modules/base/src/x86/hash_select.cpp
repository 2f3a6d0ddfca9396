#include "hash_kernels.hpp"

#include <ouro/base/cpu.hpp>

namespace ouro {

std::uint64_t hash_avx2(const void* data, std::size_t size, std::uint64_t seed) noexcept;

HashKernel select_hash_kernel() noexcept {
    return cpu_features().avx2 ? hash_avx2 : hash_baseline;
}

}  // namespace ouro
