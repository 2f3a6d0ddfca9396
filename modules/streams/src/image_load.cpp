#include "image_format.hpp"
#include "page_copy.hpp"

#include <ouro/memory/collections/word_packing.hpp>
#include <ouro/os/file_input.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace ouro {
namespace {

using detail::ImageFileHeader;
using detail::ImagePageRecord;

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
        if (header.checksum != detail::checksum_of(header)) return Status::corrupt_data;
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
        if (detail::hash_page(page_.data(), record.page) != record.hash || record.hash == 0)
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
        return unpack_values(std::span<const std::byte>(packed_).first(bytes), detail::kPackedWordBytes,
                             page_);
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

// Puts saved pages into an image, where what was not saved becomes zero.
class ImageRestorer {
public:
    explicit ImageRestorer(StateRing& ring) noexcept
        : ring_(ring), header_(reinterpret_cast<const ImageHeader*>(ring.image().data)) {}

    // Without it nothing else is asked.
    [[nodiscard]] bool is_ready() const noexcept {
        return detail::has_sound_parts(*header_, ring_.image().size);
    }
    [[nodiscard]] std::uint64_t layout_hash() const noexcept { return header_->layout_hash; }

    // Whether the image has such a page, and the first one is its header.
    [[nodiscard]] bool accepts(ImagePage page) const noexcept {
        if (page.number == 0) return std::memcmp(page.bytes, header_, sizeof(ImageHeader)) == 0;
        return std::ranges::any_of(header_->used_parts(), [&](const ImageHeader::Part& part) {
            return page.number >= first_of(part) && page.number < end_of(part);
        });
    }

    // Requires: accepts(page), in ascending order.
    void put(ImagePage page) noexcept {
        clear_until(page.number);
        next_ = page.number + 1;
        write(page.number, page.bytes);
    }
    void finish() noexcept { clear_until(UINT32_MAX); }

private:
    static std::uint32_t first_of(const ImageHeader::Part& part) noexcept {
        return static_cast<std::uint32_t>(part.offset >> kStatePageShift);
    }
    static std::uint32_t end_of(const ImageHeader::Part& part) noexcept {
        return static_cast<std::uint32_t>((part.offset + part.bytes) >> kStatePageShift);
    }

    // The header's own page stays.
    void clear_until(std::uint32_t end) noexcept {
        for (const ImageHeader::Part& part : header_->used_parts()) {
            for (std::uint32_t page = std::max(next_, first_of(part)); page < std::min(end, end_of(part));
                 ++page)
                write(page, kZeros.data());
        }
    }

    // Only what differs, so that the tick keeps no more than that.
    void write(std::uint32_t page, const std::byte* bytes) noexcept {
        std::byte* const target = ring_.image().data + (std::size_t{page} << kStatePageShift);
        if (detail::is_same_page(target, bytes)) return;
        ring_.marks().mark_page(page);
        std::memcpy(target, bytes, kStatePageBytes);
    }

    alignas(64) static constexpr std::array<std::byte, kStatePageBytes> kZeros{};

    StateRing& ring_;
    const ImageHeader* header_;
    std::uint32_t next_ = 1;
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

Expected<std::size_t> read_from_file(void* file, std::uint64_t offset, std::span<std::byte> out) noexcept {
    return static_cast<const os::FileInput*>(file)->read_at(offset, out);
}

Expected<std::size_t> read_from_memory(void* bytes, std::uint64_t offset, std::span<std::byte> out) noexcept {
    const auto& all = *static_cast<const std::span<const std::byte>*>(bytes);
    if (offset >= all.size()) return std::size_t{0};
    const auto rest = all.subspan(static_cast<std::size_t>(offset));
    const std::size_t count = std::min(rest.size(), out.size());
    std::memcpy(out.data(), rest.data(), count);
    return count;
}

ImageSource source_of(os::FileInput& file) noexcept {
    return {.read_at = read_from_file, .context = &file};
}

}  // namespace

ImageSource image_source(const std::span<const std::byte>& bytes) noexcept {
    return {.read_at = read_from_memory, .context = const_cast<std::span<const std::byte>*>(&bytes)};
}

Expected<ImageInfo> check_image(ImageSource source) noexcept {
    return for_each_page(source, [](ImagePage) noexcept { return Status::ok; });
}

Expected<ImageInfo> check_image_file(const char* path) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    return check_image(source_of(*file));
}

// Read twice: nothing is written before all of it was found to be sound. It may change in between; then the
// tick that was committed before is gone back to.
Expected<Tick> read_image(StateRing& ring, ImageSource source) noexcept {
    ImageRestorer restorer(ring);
    if (!restorer.is_ready()) return Status::corrupt_data;
    const auto checked = for_each_page(source, [&](ImagePage page) noexcept {
        return restorer.accepts(page) ? Status::ok : Status::wrong_layout;
    });
    if (!checked) return checked.status();
    if (checked->layout_hash != restorer.layout_hash()) return Status::wrong_layout;
    const auto before = ring.commit();
    if (!before) return before.status();
    const auto put = for_each_page(source, [&](ImagePage page) noexcept {
        if (!restorer.accepts(page)) return Status::corrupt_data;
        restorer.put(page);
        return Status::ok;
    });
    if (put) restorer.finish();
    const Status status = !put                                     ? put.status()
                          : put->state_hash != checked->state_hash ? Status::corrupt_data
                                                                   : Status::ok;
    const Expected<Tick> after = status == Status::ok ? ring.commit() : Expected<Tick>(status);
    if (after) return after;
    const auto undone = ring.rollback(*before);
    return undone ? after.status() : undone.status();
}

Expected<Tick> load_image(StateRing& ring, const char* path) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    return read_image(ring, source_of(*file));
}

}  // namespace ouro
