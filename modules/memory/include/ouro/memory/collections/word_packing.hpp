#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <span>

// A small, fast packing for arrays of plain values, such as positions, counters or ids. Each value is XORed
// with the one before, which leaves zeros where neighbours agree; the bytes are then taken plane by plane
// (the first byte of every value, then the second, ...), which brings those zeros together; words
// of eight such bytes are written as a mask of the bytes that are not zero and those bytes, runs of zero
// words as a count. The same values give the same bytes on every platform.
namespace ouro {

// The most that pack_values writes for so many bytes of values.
[[nodiscard]] constexpr std::size_t packed_bound(std::size_t value_bytes) noexcept {
    return value_bytes + 1;
}

// Packs values of `stride` bytes each; returns the bytes written. Where packing would not help, they are
// stored as they are. Requires: stride is not zero, value bytes are a multiple of it, and `packed` has room
// for packed_bound of them (asserts).
[[nodiscard]] std::size_t pack_values(std::span<const std::byte> values, std::size_t stride,
                                      std::span<std::byte> packed) noexcept;

// The values again; how many there are is for the caller to know. Any bytes may be given: corrupt_data when
// they cannot be a packing of values that fill the room; the room's contents are unspecified then. Requires:
// as above.
[[nodiscard]] Status unpack_values(std::span<const std::byte> packed, std::size_t stride,
                                   std::span<std::byte> values) noexcept;

}  // namespace ouro
