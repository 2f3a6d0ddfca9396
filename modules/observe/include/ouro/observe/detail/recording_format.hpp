#pragma once

#include <ouro/base/hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// A recording: a header, then parts, each with its kind and length, the last of which says that it is whole
// and holds the checksum of everything before. Numbers are as the recording machine writes them.
namespace ouro::detail {

inline constexpr std::array<char, 8> kRecordingMagic{'o', 'u', 'r', 'o', 'r', 'e', 'c', 0};
inline constexpr std::uint32_t kRecordingVersion = 2;

struct RecordingHeader {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t process_id;
    // os::monotonic_ns of the moment.
    std::uint64_t saved_ns;
};
static_assert(sizeof(RecordingHeader) == 24);

enum class RecordingPart : std::uint32_t {
    // Bytes of the image, from `offset`. What no part brings is zero.
    image = 1,
    // Some of the text that lists the process's mappings; all parts together are the text.
    mappings = 2,
    // The checksum, which is of this header too. Nothing follows.
    end = 3,
    // The table of blocks (ouro/memory/block_registry.hpp), as far as it is in use.
    blocks = 4,
    // The table of tags (ouro/memory/detail/tag_table.hpp), as far as it is in use.
    tags = 5,
};

struct RecordingPartHeader {
    RecordingPart kind;
    std::uint32_t unused;
    std::uint64_t offset;
    std::uint64_t bytes;
};
static_assert(sizeof(RecordingPartHeader) == 24);

// Goes on with what was written next: the header, the header of a part, or its bytes. Begins with zero.
[[nodiscard]] inline std::uint64_t add_to_checksum(std::uint64_t checksum,
                                                   std::span<const std::byte> bytes) noexcept {
    return hash_bytes(bytes, checksum);
}

}  // namespace ouro::detail
