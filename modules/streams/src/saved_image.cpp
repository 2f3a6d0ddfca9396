#include "image_format.hpp"
#include "saved_pages.hpp"

#include <ouro/os/file_input.hpp>
#include <ouro/streams/saved_image.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ouro {
namespace {

// How much the segments reach over; zero when the first page is none.
std::uint64_t image_bytes(detail::ImagePage page) noexcept {
    ImageHeader header;
    std::memcpy(&header, page.bytes, sizeof(header));
    if (page.number != 0 || !detail::has_sound_parts(header, LiveImage::kMaxBytes)) return 0;
    std::uint64_t end = kStatePageBytes;
    for (const ImageHeader::Part& part : header.used_parts())
        end = std::max(end, part.offset + part.bytes);
    return end;
}

}  // namespace

Status detail::SavedPages::take(SavedImage& image, ImagePage page) noexcept {
    if (image.memory_.block().data == nullptr) {
        const std::uint64_t bytes = image_bytes(page);
        if (bytes == 0) return Status::corrupt_data;
        if (static_cast<std::size_t>(bytes) != bytes) return Status::size_overflow;
        auto memory = os::Reservation::create({.bytes = static_cast<std::size_t>(bytes)});
        if (!memory) return memory.status();
        // Pages that are never written take no memory.
        if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
        image.memory_ = *std::move(memory);
    }
    const std::uint64_t offset = std::uint64_t{page.number} << kStatePageShift;
    const MemoryBlock block = image.memory_.block();
    if (offset + kStatePageBytes > block.size) return Status::corrupt_data;
    std::memcpy(block.data + static_cast<std::size_t>(offset), page.bytes, kStatePageBytes);
    return Status::ok;
}

Expected<SavedImage> detail::SavedPages::read(ImageSource source, Accept accept, void* context) noexcept {
    SavedImage made;
    const auto info = for_each_page(source, [&](ImagePage page) noexcept {
        const Status status = accept(context, page);
        return status == Status::ok ? take(made, page) : status;
    });
    if (!info) return info.status();
    if (made.memory_.block().data == nullptr) return Status::corrupt_data;
    made.info_ = *info;
    return made;
}

Expected<SavedImage> SavedImage::read(ImageSource source) noexcept {
    return detail::SavedPages::read(
        source, [](void*, detail::ImagePage) noexcept { return Status::ok; }, nullptr);
}

Expected<SavedImage> SavedImage::open(const char* path) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    return read(detail::file_source(*file));
}

}  // namespace ouro
