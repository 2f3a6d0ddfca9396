#pragma once

#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// How the table of tags lies in memory, for those who read another process or write a recording.
namespace ouro::detail {

inline constexpr std::array<char, 8> kTagTableMagic{'o', 'u', 'r', 'o', 't', 'a', 'g', 0};

struct TagTableHead {
    // All zero until the first tag is registered.
    std::array<char, 8> magic;
    std::uint32_t entry_bytes;
    // Tags beside the untagged one, whose entry is the first.
    std::atomic<std::uint32_t> registered;
};

struct TagTableEntry {
    // With the zero at the end.
    std::array<char, kMaxTagNameBytes + 1> name;
    std::uint8_t name_bytes;
    std::uint16_t parent;
};
static_assert(sizeof(TagTableHead) == 16 && sizeof(TagTableEntry) == 52);
static_assert(std::is_trivially_copyable_v<TagTableEntry>);

// The head and the entries behind it, as far as they are in use: nothing of that changes any more but the
// count.
[[nodiscard]] std::span<const std::byte> tag_table_bytes() noexcept;

}  // namespace ouro::detail
