#pragma once

#include <ouro/base/hash.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/state_page.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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

// The stride with which ImageCodec::words packs a page.
inline constexpr std::size_t kPackedWordBytes = 8;

}  // namespace ouro::detail
