#pragma once

#include <cstddef>
#include <cstdint>

// One XXH3 per instruction set. src/x86 and src/portable each provide select_hash_kernel().
namespace ouro {

using HashKernel = std::uint64_t (*)(const void* data, std::size_t size, std::uint64_t seed) noexcept;

[[nodiscard]] std::uint64_t hash_baseline(const void* data, std::size_t size, std::uint64_t seed) noexcept;

// The fastest kernel that this processor runs.
[[nodiscard]] HashKernel select_hash_kernel() noexcept;

}  // namespace ouro
