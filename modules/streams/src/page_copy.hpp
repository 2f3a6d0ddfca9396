#pragma once

#include <cstddef>
#include <cstdint>

// Moving, comparing and hashing whole state pages.
namespace ouro::detail {

// Copies a page past the caches, which have no use for a version that nobody may read for long. Readers on
// other threads may see it after finish_stores(). Requires: both are aligned to 64.
void store_page(std::byte* version, const std::byte* page) noexcept;
void finish_stores() noexcept;

// Fetches the first lines of a page that comes next; then the processor sees by itself where it goes.
inline void prefetch_begin(const std::byte* page) noexcept {
    constexpr std::size_t kLine = 64;
    for (std::size_t line = 0; line < 8; ++line)
        __builtin_prefetch(page + line * kLine);
}

// Copies a page into the image, where it will be used next.
void restore_page(std::byte* page, const std::byte* version) noexcept;
void clear_page(std::byte* page) noexcept;

[[nodiscard]] bool is_same_page(const std::byte* one, const std::byte* other) noexcept;
[[nodiscard]] bool is_zero_page(const std::byte* page) noexcept;

// What a page adds to the hash of the state: nothing when it is all zeros.
[[nodiscard]] std::uint64_t hash_page(const std::byte* page, std::uint32_t number) noexcept;

}  // namespace ouro::detail
