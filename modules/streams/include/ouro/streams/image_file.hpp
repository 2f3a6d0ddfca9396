#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/state_ring.hpp>
#include <ouro/streams/tick_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// A tick's portable segments as bytes that mean the same on every platform: a file, a message, a test's
// golden value. What is process-bound stays where it is.
//
//     auto saved = save_image(*ring.view(ring.newest()), "level.image");
//     auto tick = load_image(ring, "level.image");   // the state is as it was saved, and committed
namespace ouro {

enum class ImageCodec : std::uint32_t {
    // Pages as they are: the fastest, and the largest.
    raw = 0,
    // Each page packed by itself (pack_values, words of eight bytes): for files that travel.
    words = 1,
};

// What a saved image says of itself.
struct ImageInfo {
    std::uint32_t version = 0;
    ImageCodec codec = ImageCodec::raw;
    // Of the segments' names, places and sizes: ImageHeader::layout_hash.
    std::uint64_t layout_hash = 0;
    // The tick it was saved at.
    Tick tick = 0;
    // Pages that are not all zeros, and the sum of their hashes: StateRing::hash of that tick, where no
    // hashes are masked.
    std::uint32_t pages = 0;
    std::uint64_t state_hash = 0;
    std::uint64_t bytes = 0;
};

// Where the bytes of an image go, some thousands at a time: ok, or why it cannot go on.
struct ImageSink {
    Status (*write)(void* context, std::span<const std::byte> bytes) noexcept = nullptr;
    void* context = nullptr;
};

// Where they come from: fills `out` from the offset on and returns how many bytes that were, fewer only at
// the end.
struct ImageSource {
    Expected<std::size_t> (*read_at)(void* context, std::uint64_t offset,
                                     std::span<std::byte> out) noexcept = nullptr;
    void* context = nullptr;
};

// Bytes in memory. The span itself is referred to, and lives as long as the source does.
[[nodiscard]] ImageSource image_source(const std::span<const std::byte>& bytes) noexcept;

// Saves the tick that is viewed, from any thread, while the simulation goes on. Fails with bad_argument (an
// unknown codec), corrupt_data (the image's first page was written over) and as the sink does.
Expected<ImageInfo> write_image(const TickView& tick, ImageSink sink,
                                ImageCodec codec = ImageCodec::words) noexcept;
// The same as a file that others see only whole: what had the name before stays until all is on the disk, so
// that a machine that stops meanwhile has one of the two. Waits for the disk. Fails as os::FileOutput does.
Expected<ImageInfo> save_image(const TickView& tick, const char* path,
                               ImageCodec codec = ImageCodec::words) noexcept;

// Reads all of it and believes nothing. Fails with wrong_format (not an image, or of a version or codec that
// is not known here), corrupt_data (a hash differs, or what cannot be; cut off, or with something behind the
// end) and as the source does.
[[nodiscard]] Expected<ImageInfo> check_image(ImageSource source) noexcept;
[[nodiscard]] Expected<ImageInfo> check_image_file(const char* path) noexcept;

// The portable segments become what was saved, the others stay. What the image is now is committed first, so
// that it can be gone back to, and what was loaded is committed as the next tick, which is returned. Reads
// all of it before, once, into memory of its own, which goes again. Fails as check_image does, with
// wrong_layout (the segments are not those of this image), corrupt_data (this image's first page was written
// over, or the saved one is missing), out_of_memory, out_of_address_space, too_many_mappings or size_overflow
// (for what is read) and capacity_exhausted as commit() does: then nothing has changed, and nothing was
// committed. As for commit(), nobody writes meanwhile.
Expected<Tick> read_image(StateRing& ring, ImageSource source) noexcept;
Expected<Tick> load_image(StateRing& ring, const char* path) noexcept;

}  // namespace ouro
