#include "base/xxhash_peer.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouro::bench {

Work inlined_xxh3(const void* data, std::size_t size) {
    return repeat([=](std::uint64_t i) { return std::uint64_t{XXH3_64bits_withSeed(data, size, i)}; });
}

std::string xxhash_header_version() {
    return xxhash_version_text(XXH_VERSION_NUMBER);
}

std::string xxhash_version_text(unsigned number) {
    return std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

}  // namespace ouro::bench
