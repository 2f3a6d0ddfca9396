#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Hashes of bytes. The values are the same on every platform and in every build; files and golden tests rely
// on that.
namespace ouro {

// XXH3, 64 bits. Uses AVX2 when the processor has it, with the same result.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0) noexcept;

[[nodiscard]] inline std::uint64_t hash_bytes(std::span<const std::byte> bytes,
                                              std::uint64_t seed = 0) noexcept {
    return hash_bytes(bytes.data(), bytes.size(), seed);
}

// A bijection of 64 bits in which every input bit changes about half of the output bits.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

// Folds one more value into a running hash; the order matters.
[[nodiscard]] constexpr std::uint64_t combine_hash(std::uint64_t hash, std::uint64_t value) noexcept {
    return mix_bits(hash * 0x9e3779b97f4a7c15U + value + 1);
}

// FNV-1a of a name, at compile time: for identifiers of types and layouts. Not for large or hostile data.
[[nodiscard]] constexpr std::uint64_t hash_name(std::string_view name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char character : name) {
        hash ^= static_cast<unsigned char>(character);
        hash *= 0x100000001b3U;
    }
    return hash;
}

}  // namespace ouro
