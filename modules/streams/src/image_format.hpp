#pragma once

#include <ouro/base/hash.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_page.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// How an image lies in a file: a header; a record for each page that is not all zeros, in ascending order,
// each followed by its bytes; a last record. Numbers are little-endian.
namespace ouro::detail {

static_assert(std::endian::native == std::endian::little, "files are written as numbers lie in memory");

struct ImageFileHeader {
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 's', 'a', 'v', 'e'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t page_bytes;
    std::uint32_t codec;
    std::uint32_t unused;
    std::uint64_t layout_hash;
    std::uint64_t tick;
    // Of all before it.
    std::uint64_t checksum;
};
static_assert(sizeof(ImageFileHeader) == 48 && std::has_unique_object_representations_v<ImageFileHeader>);

[[nodiscard]] inline std::uint64_t checksum_of(const ImageFileHeader& header) noexcept {
    return hash_bytes(&header, offsetof(ImageFileHeader, checksum), ImageFileHeader::kVersion);
}

struct ImagePageRecord {
    static constexpr std::uint32_t kLast = UINT32_MAX;

    // kLast behind the last one.
    std::uint32_t page;
    // How many follow: as many as a page has when it is not packed. In the last record, the number of pages.
    std::uint32_t bytes;
    // hash_page() of the page; in the last record, the sum of all.
    std::uint64_t hash;
};
static_assert(sizeof(ImagePageRecord) == 16 && std::has_unique_object_representations_v<ImagePageRecord>);

// Whether the parts that an image's first page names are those it was made with: it can be written over as
// all of the image can, and what is saved and loaded goes by it.
[[nodiscard]] inline bool has_sound_parts(const ImageHeader& header, std::uint64_t image_bytes) noexcept {
    if (header.magic != ImageHeader::kMagic || header.version != ImageHeader::kVersion ||
        header.part_count > header.parts.size() || header.layout_hash != header.hash_of_parts())
        return false;
    return std::ranges::all_of(header.used_parts(), [&](const ImageHeader::Part& part) {
        return part.offset % kStatePageBytes == 0 && part.bytes % kStatePageBytes == 0 &&
               part.offset <= image_bytes && part.bytes <= image_bytes - part.offset;
    });
}

// The stride with which ImageCodec::words packs a page.
inline constexpr std::size_t kPackedWordBytes = 8;

}  // namespace ouro::detail
