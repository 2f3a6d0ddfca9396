#pragma once

#include "image_format.hpp"
#include "page_copy.hpp"

#include <ouro/memory/collections/word_packing.hpp>
#include <ouro/os/file_input.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// The pages of a saved image, one behind the other.
namespace ouro::detail {

// Reads ahead, for a source may be a system call.
class BufferedSource {
public:
    explicit BufferedSource(ImageSource source) noexcept : source_(source) {}

    // corrupt_data when it ends before.
    Status read(void* out, std::size_t count) noexcept {
        auto* next = static_cast<std::byte*>(out);
        while (count != 0) {
            if (used_ == filled_) {
                if (const Status status = fill(); status != Status::ok) return status;
                if (filled_ == 0) return Status::corrupt_data;
            }
            const std::size_t piece = std::min(count, filled_ - used_);
            std::memcpy(next, buffer_.data() + used_, piece);
            used_ += piece;
            next += piece;
            count -= piece;
        }
        return Status::ok;
    }
    // corrupt_data when there is more.
    Status expect_end() noexcept {
        if (used_ != filled_) return Status::corrupt_data;
        if (const Status status = fill(); status != Status::ok) return status;
        return filled_ == 0 ? Status::ok : Status::corrupt_data;
    }
    [[nodiscard]] std::uint64_t position() const noexcept { return offset_ - (filled_ - used_); }

private:
    Status fill() noexcept {
        const auto count = source_.read_at(source_.context, offset_, buffer_);
        if (!count) return count.status();
        offset_ += *count;
        used_ = 0;
        filled_ = *count;
        return Status::ok;
    }

    ImageSource source_;
    std::array<std::byte, std::size_t{16} << 10> buffer_;
    std::size_t used_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t offset_ = 0;
};

struct ImagePage {
    std::uint32_t number;
    const std::byte* bytes;
};

// Pages in ascending order, each only when its bytes are what was saved.
class ImageReader {
public:
    explicit ImageReader(ImageSource source) noexcept : in_(source) {}

    [[nodiscard]] const ImageInfo& info() const noexcept { return info_; }
    // True behind the last page: then all of info() is known.
    [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }

    Status begin() noexcept {
        ImageFileHeader header;
        const Status status = in_.read(&header, sizeof(header));
        if (status != Status::ok) return status == Status::corrupt_data ? Status::wrong_format : status;
        const bool is_known = header.magic == ImageFileHeader::kMagic &&
                              header.version == ImageFileHeader::kVersion &&
                              header.page_bytes == kStatePageBytes;
        if (!is_known) return Status::wrong_format;
        if (header.checksum != checksum_of(header)) return Status::corrupt_data;
        if (header.codec > static_cast<std::uint32_t>(ImageCodec::words)) return Status::wrong_format;
        info_ = {.version = header.version,
                 .codec = static_cast<ImageCodec>(header.codec),
                 .layout_hash = header.layout_hash,
                 .tick = header.tick};
        return Status::ok;
    }

    // The page is good until the next call. Behind the last one, is_at_end() and no bytes.
    Expected<ImagePage> next() noexcept {
        ImagePageRecord record;
        if (const Status status = in_.read(&record, sizeof(record)); status != Status::ok) return status;
        if (record.page == ImagePageRecord::kLast) return finish(record);
        if (record.page < least_page_ || record.bytes > kStatePageBytes) return Status::corrupt_data;
        if (const Status status = read_page(record.bytes); status != Status::ok) return status;
        if (hash_page(page_.data(), record.page) != record.hash || record.hash == 0)
            return Status::corrupt_data;
        least_page_ = record.page + 1;
        ++info_.pages;
        info_.state_hash += record.hash;
        return ImagePage{record.page, page_.data()};
    }

private:
    Status read_page(std::size_t bytes) noexcept {
        if (bytes == kStatePageBytes) return in_.read(page_.data(), bytes);
        if (info_.codec != ImageCodec::words) return Status::corrupt_data;
        if (const Status status = in_.read(packed_.data(), bytes); status != Status::ok) return status;
        return unpack_values(std::span<const std::byte>(packed_).first(bytes), kPackedWordBytes, page_);
    }

    Expected<ImagePage> finish(const ImagePageRecord& last) noexcept {
        if (last.bytes != info_.pages || last.hash != info_.state_hash) return Status::corrupt_data;
        info_.bytes = in_.position();
        if (const Status status = in_.expect_end(); status != Status::ok) return status;
        is_at_end_ = true;
        return ImagePage{ImagePageRecord::kLast, nullptr};
    }

    BufferedSource in_;
    ImageInfo info_;
    std::uint32_t least_page_ = 0;
    bool is_at_end_ = false;
    alignas(64) std::array<std::byte, kStatePageBytes> page_;
    std::array<std::byte, kStatePageBytes> packed_;
};

// Calls with each page: all are sound, or the first trouble.
template <class Visit>
Expected<ImageInfo> for_each_page(ImageSource source, Visit&& visit) noexcept {
    ImageReader reader(source);
    if (const Status status = reader.begin(); status != Status::ok) return status;
    for (;;) {
        const auto page = reader.next();
        if (!page) return page.status();
        if (reader.is_at_end()) return reader.info();
        if (const Status status = visit(*page); status != Status::ok) return status;
    }
}

[[nodiscard]] inline ImageSource file_source(os::FileInput& file) noexcept {
    return {.read_at =
                [](void* context, std::uint64_t offset, std::span<std::byte> out) noexcept {
                    return static_cast<const os::FileInput*>(context)->read_at(offset, out);
                },
            .context = &file};
}

}  // namespace ouro::detail
