#include "image_format.hpp"
#include "page_copy.hpp"

#include <ouro/memory/collections/word_packing.hpp>
#include <ouro/os/file_output.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace ouro {
namespace {

using detail::ImageFileHeader;
using detail::ImagePageRecord;

// Collects small pieces, for a sink may be a system call.
class BufferedSink {
public:
    explicit BufferedSink(ImageSink sink) noexcept : sink_(sink) {}

    void write(const void* bytes, std::size_t count) noexcept {
        const auto* next = static_cast<const std::byte*>(bytes);
        written_ += count;
        while (count != 0) {
            if (used_ == buffer_.size()) flush();
            const std::size_t piece = std::min(count, buffer_.size() - used_);
            std::memcpy(buffer_.data() + used_, next, piece);
            used_ += piece;
            next += piece;
            count -= piece;
        }
    }
    Status flush() noexcept {
        if (status_ == Status::ok && used_ != 0)
            status_ = sink_.write(sink_.context, std::span(buffer_).first(used_));
        used_ = 0;
        return status_;
    }
    [[nodiscard]] Status status() const noexcept { return status_; }
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

private:
    ImageSink sink_;
    std::array<std::byte, std::size_t{16} << 10> buffer_;
    std::size_t used_ = 0;
    std::uint64_t written_ = 0;
    Status status_ = Status::ok;
};

class ImageWriter {
public:
    ImageWriter(ImageSink sink, ImageCodec codec) noexcept : out_(sink) { info_.codec = codec; }

    Expected<ImageInfo> write(const TickView& tick) noexcept {
        ImageHeader image;
        if (const Status status = tick.read(0, std::as_writable_bytes(std::span(&image, 1)));
            status != Status::ok)
            return status;
        if (!detail::has_sound_parts(image, LiveImage::kMaxBytes)) return Status::corrupt_data;
        write_header(image, tick.tick());
        write_page(0, tick.page(0));
        for (const ImageHeader::Part& part : image.used_parts()) {
            if (const Status status = write_part(tick, part); status != Status::ok) return status;
        }
        return finish();
    }

private:
    void write_header(const ImageHeader& image, Tick tick) noexcept {
        ImageFileHeader header{.magic = ImageFileHeader::kMagic,
                               .version = ImageFileHeader::kVersion,
                               .page_bytes = kStatePageBytes,
                               .codec = static_cast<std::uint32_t>(info_.codec),
                               .unused = 0,
                               .layout_hash = image.layout_hash,
                               .tick = tick,
                               .checksum = 0};
        header.checksum = detail::checksum_of(header);
        out_.write(&header, sizeof(header));
        info_.version = header.version;
        info_.layout_hash = header.layout_hash;
        info_.tick = tick;
    }

    Status write_part(const TickView& tick, const ImageHeader::Part& part) noexcept {
        auto page = static_cast<std::uint32_t>(part.offset >> kStatePageShift);
        const Status status =
            tick.visit(part.offset, part.bytes, [&](std::span<const std::byte> bytes) noexcept {
                // A part begins and ends with a page.
                if (out_.status() == Status::ok) write_page(page, bytes.data());
                ++page;
            });
        return status == Status::ok ? out_.status() : status;
    }

    void write_page(std::uint32_t page, const std::byte* bytes) noexcept {
        if (detail::is_zero_page(bytes)) return;
        const std::span<const std::byte> plain(bytes, kStatePageBytes);
        std::span<const std::byte> stored = plain;
        if (info_.codec == ImageCodec::words) {
            const std::size_t size = pack_values(plain, detail::kPackedWordBytes, packed_);
            if (size < plain.size()) stored = std::span<const std::byte>(packed_).first(size);
        }
        const ImagePageRecord record{.page = page,
                                     .bytes = static_cast<std::uint32_t>(stored.size()),
                                     .hash = detail::hash_page(bytes, page)};
        out_.write(&record, sizeof(record));
        out_.write(stored.data(), stored.size());
        ++info_.pages;
        info_.state_hash += record.hash;
    }

    Expected<ImageInfo> finish() noexcept {
        const ImagePageRecord last{
            .page = ImagePageRecord::kLast, .bytes = info_.pages, .hash = info_.state_hash};
        out_.write(&last, sizeof(last));
        info_.bytes = out_.written();
        if (const Status status = out_.flush(); status != Status::ok) return status;
        return info_;
    }

    BufferedSink out_;
    ImageInfo info_;
    std::array<std::byte, packed_bound(kStatePageBytes)> packed_;
};

Status write_to_file(void* file, std::span<const std::byte> bytes) noexcept {
    return static_cast<os::FileOutput*>(file)->write(bytes).status();
}

}  // namespace

Expected<ImageInfo> write_image(const TickView& tick, ImageSink sink, ImageCodec codec) noexcept {
    if (codec != ImageCodec::raw && codec != ImageCodec::words) return Status::bad_argument;
    return ImageWriter(sink, codec).write(tick);
}

Expected<ImageInfo> save_image(const TickView& tick, const char* path, ImageCodec codec) noexcept {
    auto file = os::FileOutput::create(path);
    if (!file) return file.status();
    const auto info = write_image(tick, {.write = write_to_file, .context = &*file}, codec);
    if (!info) return info;
    // Before it takes the name of a file that may be the only other one.
    if (const auto flushed = file->flush(); !flushed) return flushed.status();
    if (const auto finished = file->finish(); !finished) return finished.status();
    return info;
}

}  // namespace ouro
