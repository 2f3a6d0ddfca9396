#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/image_file.hpp>

#include <cstddef>
#include <span>

namespace ouro {

namespace detail {
struct SavedPages;
}

// A saved image in memory, as the bytes that the image had: to be read by tools, or before it is loaded. It
// belongs to no ring, and process-bound segments are zero in it.
//
//     const auto saved = SavedImage::open("level.image");
//     const auto world = WorldReader::open(saved->bytes());       // ouro/ecs/world_reader.hpp
class SavedImage {
public:
    // Reads all of it and believes nothing. Fails as check_image does, with corrupt_data too when its first
    // page does not name the segments that the others are in, and as os::reserve does.
    [[nodiscard]] static Expected<SavedImage> read(ImageSource source) noexcept;
    [[nodiscard]] static Expected<SavedImage> open(const char* path) noexcept;

    [[nodiscard]] const ImageInfo& info() const noexcept { return info_; }
    // From the header's page to the end of the last portable segment. Starts on a page.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {memory_.block().data, memory_.block().size};
    }

private:
    friend struct detail::SavedPages;

    os::Reservation memory_;
    ImageInfo info_;
};

}  // namespace ouro
