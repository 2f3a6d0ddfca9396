#include "hash_kernels.hpp"

namespace ouro {

HashKernel select_hash_kernel() noexcept {
    return hash_baseline;
}

}  // namespace ouro
