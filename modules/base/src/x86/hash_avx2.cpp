// Compiled with -mavx2, which makes XXH3 choose its AVX2 kernel. Nothing else may live here: an inline
// function of a shared header, compiled with AVX2 and kept by the linker, would crash older processors.
#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouro {

std::uint64_t hash_avx2(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace ouro
