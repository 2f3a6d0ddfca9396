#include "image_format.hpp"
#include "image_pages.hpp"
#include "page_copy.hpp"

#include <ouro/os/file_input.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace ouro {
namespace {

using detail::for_each_page;
using detail::ImagePage;

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

Expected<std::size_t> read_from_memory(void* bytes, std::uint64_t offset, std::span<std::byte> out) noexcept {
    const auto& all = *static_cast<const std::span<const std::byte>*>(bytes);
    if (offset >= all.size()) return std::size_t{0};
    const auto rest = all.subspan(static_cast<std::size_t>(offset));
    const std::size_t count = std::min(rest.size(), out.size());
    std::memcpy(out.data(), rest.data(), count);
    return count;
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
    return check_image(detail::file_source(*file));
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
    return read_image(ring, detail::file_source(*file));
}

}  // namespace ouro
