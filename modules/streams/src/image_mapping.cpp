#include <ouro/streams/image_mapping.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ouro {
namespace {

bool is_name(const std::array<char, kSegmentNameBytes>& name) noexcept {
    return name.front() != '\0' && name.back() == '\0';
}

// Places that an image could have: each behind the one before, and within 32 bits.
bool are_parts_sound(std::span<const ImageHeader::Part> parts) noexcept {
    std::uint64_t end = kSegmentAlignment;
    for (const ImageHeader::Part& part : parts) {
        const bool is_placed =
            part.offset >= end && part.offset % kSegmentAlignment == 0 && part.offset < LiveImage::kMaxBytes;
        const bool is_sized = part.bytes != 0 && part.bytes % kSegmentAlignment == 0 &&
                              part.bytes <= LiveImage::kMaxBytes - part.offset;
        if (!is_placed || !is_sized || !is_name(part.name)) return false;
        end = part.offset + part.bytes;
    }
    return true;
}

}  // namespace

Expected<ImageMapping> ImageMapping::attach(int descriptor) noexcept {
    return map(os::MemoryObject::open(descriptor));
}

Expected<ImageMapping> ImageMapping::attach_process(std::uint32_t process, int descriptor) noexcept {
    return map(os::MemoryObject::open_of(process, descriptor));
}

Expected<ImageMapping> ImageMapping::look_at(std::span<const std::byte> bytes) noexcept {
    if (std::uint64_t{bytes.size()} > LiveImage::kMaxBytes) return Status::wrong_format;
    ImageMapping image(bytes);
    if (const Status status = image.read_header(); status != Status::ok) return status;
    return image;
}

Expected<ImageMapping> ImageMapping::map(const Expected<os::MemoryObject>& object) noexcept {
    if (!object) return object.status();
    if (std::uint64_t{object->size()} > LiveImage::kMaxBytes) return Status::wrong_format;
    auto mapping = object->map({.bytes = object->size(), .protection = os::Protection::read});
    if (!mapping) return mapping.status();
    ImageMapping image(mapping->block().bytes());
    image.mapping_ = *std::move(mapping);
    if (const Status status = image.read_header(); status != Status::ok) return status;
    return image;
}

Expected<std::span<const std::byte>> ImageMapping::segment(std::string_view name) const noexcept {
    for (const ImageHeader::Part& part : segments())
        if (name == part.name.data())
            return bytes_.subspan(static_cast<std::size_t>(part.offset),
                                  static_cast<std::size_t>(part.bytes));
    return Status::not_found;
}

// Believes a copy, which nobody can change any more.
Status ImageMapping::read_header() noexcept {
    if (bytes_.size() < kStatePageBytes) return Status::wrong_format;
    std::memcpy(&header_, bytes_.data(), sizeof(header_));
    const bool is_known = header_.magic == ImageHeader::kMagic && header_.version == ImageHeader::kVersion &&
                          header_.page_bytes == kStatePageBytes;
    if (!is_known) return Status::wrong_format;
    if (header_.part_count > kMaxSegments || header_.layout_hash != header_.hash_of_parts())
        return Status::corrupt_data;
    const auto parts = header_.used_parts();
    if (!are_parts_sound(parts)) return Status::corrupt_data;
    const bool is_whole = parts.empty() || parts.back().offset + parts.back().bytes <= bytes_.size();
    return is_whole ? Status::ok : Status::out_of_range;
}

}  // namespace ouro
