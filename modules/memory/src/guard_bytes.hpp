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

// A canary depends on where it stands, so that a copied one is noticed, and is never zero, the byte that
// overflows write most often.
[[nodiscard]] inline std::uint8_t canary_at(const std::byte* address) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return static_cast<std::uint8_t>(0x80U | ((place * 37 + (place >> 7)) & 0x7FU));
}

inline void write_canary(MemoryBlock range) noexcept {
    for (std::size_t i = 0; i < range.size; ++i)
        range.data[i] = static_cast<std::byte>(canary_at(range.data + i));
}

// The damaged byte with the lowest or the highest address, or null.
OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] inline const std::byte* first_damage(MemoryBlock range) noexcept {
    for (std::size_t i = 0; i < range.size; ++i) {
        if (static_cast<std::uint8_t>(range.data[i]) != canary_at(range.data + i)) return range.data + i;
    }
    return nullptr;
}
OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] inline const std::byte* last_damage(MemoryBlock range) noexcept {
    for (std::size_t i = range.size; i-- > 0;) {
        if (static_cast<std::uint8_t>(range.data[i]) != canary_at(range.data + i)) return range.data + i;
    }
    return nullptr;
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
