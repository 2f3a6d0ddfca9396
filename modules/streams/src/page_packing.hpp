#pragma once

#include <ouro/streams/state_page.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// Packing what two versions of a page differ in. Words of eight bytes that are equal cost next to nothing; of
// the others only the bytes that differ are written. The same pages give the same bytes on every platform.
namespace ouro::detail {

// The most that is ever written. Exactly so much: the difference as it is.
inline constexpr std::size_t kMaxPackedBytes = kStatePageBytes;

// All lines of a page, one bit each.
inline constexpr std::uint64_t kAllLines = ~std::uint64_t{0};

// Writes the difference between two pages and returns how many bytes it took; none when they are equal. A
// null `other` is a page of zeros. Only the given lines are looked at; the others are taken for equal.
// Requires: `packed` has room for kMaxPackedBytes.
[[nodiscard]] std::size_t pack_difference(const std::byte* page, const std::byte* other, std::byte* packed,
                                          std::uint64_t lines = kAllLines) noexcept;

// Applies a difference to one of its two pages, which makes it the other. Any bytes may be given: false when
// they cannot be a packed difference; the page is unspecified then.
[[nodiscard]] bool apply_difference(std::span<const std::byte> packed, std::byte* page) noexcept;

// A second step for what the first left large, where the library that does it is there: how many bytes were
// written, or zero when there would be no gain. Requires: `squeezed` has room for as many bytes as are given.
[[nodiscard]] std::size_t squeeze(std::span<const std::byte> packed, std::byte* squeezed) noexcept;
// False when these bytes are not exactly `packed` squeezed.
[[nodiscard]] bool unsqueeze(std::span<const std::byte> squeezed, std::span<std::byte> packed) noexcept;

}  // namespace ouro::detail
