#include "image_format.hpp"
#include "image_pages.hpp"
#include "page_copy.hpp"
#include "ring_core.hpp"
#include "saved_pages.hpp"

#include <ouro/os/file_input.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {
namespace {

using detail::ImagePage;

// The image that is loaded into.
class LoadTarget {
public:
    LoadTarget(StateRing& ring, MemoryBlock alias) noexcept
        : ring_(ring), alias_(alias), header_(reinterpret_cast<const ImageHeader*>(ring.image().data)) {}

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

    // What was not saved becomes zero. Requires: each page of it was accepted.
    void put(std::span<const std::byte> saved) noexcept {
        write(0, saved.data());
        for (const ImageHeader::Part& part : header_->used_parts())
            for (std::uint32_t page = first_of(part); page < end_of(part); ++page)
                write(page, saved.data() + (std::size_t{page} << kStatePageShift));
    }

private:
    static std::uint32_t first_of(const ImageHeader::Part& part) noexcept {
        return static_cast<std::uint32_t>(part.offset >> kStatePageShift);
    }
    static std::uint32_t end_of(const ImageHeader::Part& part) noexcept {
        return static_cast<std::uint32_t>((part.offset + part.bytes) >> kStatePageShift);
    }

    // Only what differs, so that the tick keeps no more than that. Through the second mapping, where no
    // tracker has to let anybody write.
    void write(std::uint32_t page, const std::byte* bytes) noexcept {
        std::byte* const target = alias_.data + (std::size_t{page} << kStatePageShift);
        if (detail::is_same_page(target, bytes)) return;
        ring_.marks().mark_page(page);
        std::memcpy(target, bytes, kStatePageBytes);
    }

    StateRing& ring_;
    MemoryBlock alias_;
    const ImageHeader* header_;
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
    return detail::for_each_page(source, [](ImagePage) noexcept { return Status::ok; });
}

Expected<ImageInfo> check_image_file(const char* path) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    return check_image(detail::file_source(*file));
}

// Read once, into memory beside the image: nothing is written before all of it was found to be sound. What is
// left then cannot fail, as both ticks are there to be had.
Expected<Tick> read_image(StateRing& ring, ImageSource source) noexcept {
    LoadTarget target(ring, ring.core().image().alias());
    if (!target.is_ready()) return Status::corrupt_data;
    if (ring.newest() + 2 > detail::RingCore::kLastTick) return Status::capacity_exhausted;
    const auto saved = detail::SavedPages::read(
        source,
        [](void* context, ImagePage page) noexcept {
            return static_cast<const LoadTarget*>(context)->accepts(page) ? Status::ok : Status::wrong_layout;
        },
        &target);
    if (!saved) return saved.status();
    if (saved->info().layout_hash != target.layout_hash()) return Status::wrong_layout;
    if (const auto before = ring.commit(); !before) return before.status();
    target.put(saved->bytes());
    return ring.commit();
}

Expected<Tick> load_image(StateRing& ring, const char* path) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    return read_image(ring, detail::file_source(*file));
}

}  // namespace ouro
