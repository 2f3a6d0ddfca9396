#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/streams/live_image.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace ouro {

// A live image of another process, read while that simulates: an inspector, a recorder, a second screen. The
// memory is mapped read-only, so that nothing done here can reach the simulation, which does not notice that
// it is read.
//
//     auto image = ImageMapping::attach_process(process_id, descriptor);   // LiveImage::descriptor() there
//     auto world = image->segment("world");
//
// It is the state of now, in the middle of a tick more often than not. Who needs values that belong together
// reads a tick number of the image before and after them, and again when that has changed; who needs the past
// asks the process itself, whose history is its own memory.
class ImageMapping {
public:
    // By a descriptor that came from the other process, as over a socket; it stays the caller's. Fails as
    // os::MemoryObject::open and map do, with wrong_format (no image, or of another version), corrupt_data
    // (the first page is damaged) and out_of_range (the object ends before its segments do).
    [[nodiscard]] static Expected<ImageMapping> attach(int descriptor) noexcept;
    // By its number there. Fails as os::MemoryObject::open_of does, too.
    [[nodiscard]] static Expected<ImageMapping> attach_process(std::uint32_t process,
                                                               int descriptor) noexcept;
    // An image that is in memory already and stays there: what a worker of a page gets, or a copy. Fails with
    // wrong_format, corrupt_data and out_of_range.
    [[nodiscard]] static Expected<ImageMapping> look_at(std::span<const std::byte> bytes) noexcept;

    ImageMapping(ImageMapping&& other) noexcept
        : mapping_(std::move(other.mapping_)),
          bytes_(std::exchange(other.bytes_, {})),
          header_(std::exchange(other.header_, {})) {}
    ImageMapping& operator=(ImageMapping&& other) noexcept {
        mapping_ = std::move(other.mapping_);
        bytes_ = std::exchange(other.bytes_, {});
        header_ = std::exchange(other.header_, {});
        return *this;
    }
    ~ImageMapping() = default;

    // What offsets of the image are resolved through. Without bytes once it was moved from.
    [[nodiscard]] ConstOffsetBase base() const noexcept { return {bytes_.data(), bytes_.size()}; }
    // The first page as it was when this was made, and sound.
    [[nodiscard]] const ImageHeader& header() const noexcept { return header_; }
    // The portable segments in the order of their places; others are for their own process.
    [[nodiscard]] std::span<const ImageHeader::Part> segments() const noexcept {
        return header_.used_parts();
    }
    // The bytes of a portable segment; not_found when there is none of that name.
    [[nodiscard]] Expected<std::span<const std::byte>> segment(std::string_view name) const noexcept;

private:
    explicit ImageMapping(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] static Expected<ImageMapping> map(const Expected<os::MemoryObject>& object) noexcept;
    Status read_header() noexcept;

    os::Mapping mapping_;
    std::span<const std::byte> bytes_;
    ImageHeader header_{};
};

}  // namespace ouro
