#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

// The bytes around and inside blocks that tell whether somebody wrote where nothing may be written.
namespace ouro::guard_bytes {

// Neither zero, nor a likely number, nor an address: what shows up when fresh or freed memory is used.
inline constexpr std::uint8_t kFresh = 0xC9;
inline constexpr std::uint8_t kFreed = 0xF5;

// Eight canaries at a multiple of eight. They depend on where they stand, so that a copied one is noticed,
// and are never zero, the byte that overflows write most often.
[[nodiscard]] inline std::uint64_t canary_word(std::uintptr_t place) noexcept {
    return (std::uint64_t{place >> 3} * 0x9E3779B97F4A7C15U) | 0x8080808080808080U;
}

[[nodiscard]] inline std::byte canary_at(const std::byte* address) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return static_cast<std::byte>((canary_word(place) >> (8 * (place & 7))) & 0xFFU);
}

// How many bytes, from the front, do not fill a whole word.
[[nodiscard]] inline std::size_t bytes_before_word(MemoryBlock range) noexcept {
    const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(range.data)) & 7;
    return head < range.size ? head : range.size;
}

inline void write_canary(MemoryBlock range) noexcept {
    std::size_t i = 0;
    for (const std::size_t head = bytes_before_word(range); i < head; ++i)
        range.data[i] = canary_at(range.data + i);
    for (; i + 8 <= range.size; i += 8) {
        const std::uint64_t word = canary_word(reinterpret_cast<std::uintptr_t>(range.data + i));
        std::memcpy(range.data + i, &word, 8);
    }
    for (; i < range.size; ++i)
        range.data[i] = canary_at(range.data + i);
}

// The damaged byte with the lowest or the highest address, or null.
OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] inline const std::byte* first_damage(MemoryBlock range) noexcept {
    const std::size_t head = bytes_before_word(range);
    for (std::size_t i = 0; i < range.size;) {
        if (i >= head && i + 8 <= range.size) {
            std::uint64_t word = 0;
            std::memcpy(&word, range.data + i, 8);
            if (word == canary_word(reinterpret_cast<std::uintptr_t>(range.data + i))) {
                i += 8;
                continue;
            }
        }
        if (range.data[i] != canary_at(range.data + i)) return range.data + i;
        ++i;
    }
    return nullptr;
}
OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] inline const std::byte* last_damage(MemoryBlock range) noexcept {
    if (first_damage(range) == nullptr) return nullptr;
    std::size_t i = range.size;
    while (range.data[i - 1] == canary_at(range.data + i - 1))
        --i;
    return range.data + i - 1;
}

// The first byte that is not `value`, or null.
OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] inline const std::byte* first_other(MemoryBlock range,
                                                                              std::uint8_t value) noexcept {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const std::uint64_t expected = 0x0101010101010101U * value;
    std::size_t i = 0;
    for (; i + kWord <= range.size; i += kWord) {
        std::uint64_t word = 0;
        std::memcpy(&word, range.data + i, kWord);
        if (word != expected) break;
    }
    for (; i < range.size; ++i) {
        if (static_cast<std::uint8_t>(range.data[i]) != value) return range.data + i;
    }
    return nullptr;
}

}  // namespace ouro::guard_bytes
