#pragma once

#include "harness/measure.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ouro::bench {

// xxHash's XXH3 as a header, inlined into the loop; the bytes are hashed with the seeds 0, 1, ...
[[nodiscard]] Work inlined_xxh3(const void* data, std::size_t size);
[[nodiscard]] std::string xxhash_header_version();

// 803 becomes "0.8.3".
[[nodiscard]] std::string xxhash_version_text(unsigned number);

}  // namespace ouro::bench
