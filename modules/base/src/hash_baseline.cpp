#include "hash_kernels.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouro {

std::uint64_t hash_baseline(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace ouro
