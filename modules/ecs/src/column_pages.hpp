#pragma once

#include <ouro/streams/state_page.hpp>

#include <cstddef>
#include <cstdint>

// How much of the image a column of a block takes.
namespace ouro::detail {

inline constexpr std::size_t kColumnLine = 64;

// Columns of a page and more have pages of their own; their beginnings are staggered, so that loops over
// several of them do not meet in the same lines of a cache.
struct OwnPages {
    std::size_t stagger;
    std::size_t bytes;
};

// Sizes are counted in 64 bits everywhere: what does not fit is refused with the same numbers.
[[nodiscard]] constexpr std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

[[nodiscard]] constexpr bool has_own_pages(std::uint64_t bytes) noexcept {
    return whole(bytes, kColumnLine) >= kStatePageBytes;
}

[[nodiscard]] constexpr OwnPages own_pages(std::uint64_t bytes, unsigned column) noexcept {
    const std::size_t stagger = bytes >= 4 * kStatePageBytes ? column % 16 * 4 * kColumnLine : 0;
    return {stagger, static_cast<std::size_t>(whole(bytes + stagger, kStatePageBytes))};
}

}  // namespace ouro::detail
