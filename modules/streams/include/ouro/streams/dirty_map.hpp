#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/status.hpp>
#include <ouro/streams/state_page.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

// Which pages of an image were written since the last commit, as their writers declare it: one byte a page,
// and one for each group of pages, so that whoever collects skips what nobody touched. Any number of threads
// mark at once, also in one page, and no mark is lost. Those that collect do so while nobody marks. A map may
// have a byte for each line too; then it knows what of a page was declared.
//
// Owns nothing: the bytes are the ring's.
class DirtyMap {
public:
    using Byte = std::atomic<std::uint8_t>;
    static constexpr unsigned kGroupShift = 6;
    static constexpr std::uint32_t kGroupPages = 1U << kGroupShift;

    [[nodiscard]] static constexpr std::uint32_t group_count(std::uint32_t pages) noexcept {
        return (pages + kGroupPages - 1) >> kGroupShift;
    }

    constexpr DirtyMap() noexcept = default;
    // Requires: bytes of zero, aligned to 8: one a page, up to whole groups, and one a group, up to eight.
    // With lines: one a line of the image, aligned to kStateLineBytes.
    // Requires of `drains`, where there is one: it outlives the map.
    DirtyMap(std::byte* image, std::size_t image_bytes, std::span<Byte> pages, std::span<Byte> groups,
             std::span<Byte> lines = {}, std::uint64_t* drains = nullptr) noexcept
        : image_(image),
          image_bytes_(image_bytes),
          pages_(pages),
          groups_(groups),
          lines_(lines.empty() ? nullptr : lines.data()),
          drains_(drains) {}

    // Declares that the bytes were or will be written before the next commit. out_of_range when they are not
    // all in the image, and then nothing is marked.
    Status mark(const void* address, std::size_t bytes) noexcept {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - image_);
        if (offset >= image_bytes_ || bytes > image_bytes_ - offset) [[unlikely]]
            return Status::out_of_range;
        if (bytes == 0) return Status::ok;
        if (lines_ != nullptr) mark_lines(offset, bytes);
        const std::size_t last = (offset + bytes - 1) >> kStatePageShift;
        for (std::size_t page = offset >> kStatePageShift; page <= last; ++page)
            list_page(static_cast<std::uint32_t>(page));
        return Status::ok;
    }

    // The same of a small object, for one who marks here and there while nobody else does: looks at nothing
    // first, so that no guess can be wrong. Requires: it is in the image, and not empty.
    void mark_alone(const void* object, std::size_t bytes) noexcept {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(object) - image_);
        OURO_DEBUG_ASSERT(bytes != 0 && offset + bytes <= image_bytes_, "what is marked lies in the image");
        if (bytes > kStatePageBytes) [[unlikely]]
            return static_cast<void>(mark(object, bytes));
        if (lines_ != nullptr) mark_lines(offset, bytes);
        // Two at the most, and mostly the same.
        for (const std::size_t at : {offset, offset + bytes - 1}) {
            pages_[at >> kStatePageShift].store(1, std::memory_order_relaxed);
            groups_[at >> (kStatePageShift + kGroupShift)].store(1, std::memory_order_relaxed);
        }
    }

    // Objects themselves, to be written. Requires: they are in the image (assert).
    template <class T>
    [[nodiscard]] T& writable(T& object) noexcept {
        return *writable(std::span<T>(&object, 1)).data();
    }
    template <class T>
    [[nodiscard]] std::span<T> writable(std::span<T> objects) noexcept {
        const Status status = mark(objects.data(), objects.size_bytes());
        OURO_ASSERT(status == Status::ok, "only what is in the image is declared");
        return objects;
    }

    // What is told apart: a line or a page.
    [[nodiscard]] std::size_t unit_bytes() const noexcept {
        return lines_ != nullptr ? kStateLineBytes : kStatePageBytes;
    }
    // The start of the unit around an address. Requires: it is in the image.
    [[nodiscard]] const std::byte* unit_of(const std::byte* address) const noexcept {
        return address - (static_cast<std::size_t>(address - image_) & (unit_bytes() - 1));
    }

    // The page as a whole: all its lines, where the map has them. Requires: page is in the image.
    void mark_page(std::uint32_t page) noexcept {
        if (lines_ != nullptr) mark_lines(std::size_t{page} << kStatePageShift, kStatePageBytes);
        list_page(page);
    }
    // So that drain() has the page, of which no line is marked by this. Requires: page is in the image.
    void list_page(std::uint32_t page) noexcept {
        OURO_DEBUG_ASSERT(page < pages_.size(), "the page is not in the image");
        // Looked at first: threads that mark pages side by side then share the lines of the map.
        Byte& own = pages_[page];
        if (own.load(std::memory_order_relaxed) != 0) return;
        own.store(1, std::memory_order_relaxed);
        groups_[page >> kGroupShift].store(1, std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_marked(std::uint32_t page) const noexcept {
        return pages_[page].load(std::memory_order_relaxed) != 0;
    }

    // The marked pages in ascending order; all marks are gone afterwards. Requires: `out` has room for every
    // page of the image.
    std::uint32_t drain(std::uint32_t* out) noexcept;

    [[nodiscard]] std::uint32_t count() const noexcept;

    // Another number after each commit and rollback, never one that was before: whoever remembers what it has
    // marked remembers this beside it. Requires: a ring's map.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return *drains_; }

    // The lines of a page that were marked, one bit each; they are not any more. Requires: the map has lines.
    [[nodiscard]] std::uint64_t take_lines(std::uint32_t page) noexcept;
    void prefetch_lines(std::uint32_t page) const noexcept {
        __builtin_prefetch(lines_ + (std::size_t{page} << kLinesShift), 1);
    }

private:
    static constexpr unsigned kLinesShift = kStatePageShift - kStateLineShift;

    void mark_lines(std::size_t offset, std::size_t bytes) noexcept {
        const std::size_t last = (offset + bytes - 1) >> kStateLineShift;
        for (std::size_t line = offset >> kStateLineShift; line <= last; ++line)
            if (lines_[line].load(std::memory_order_relaxed) == 0)
                lines_[line].store(1, std::memory_order_relaxed);
    }
    std::uint32_t drain_group(std::uint32_t group, std::uint32_t* out) noexcept;

    std::byte* image_ = nullptr;
    std::size_t image_bytes_ = 0;
    std::span<Byte> pages_;
    std::span<Byte> groups_;
    Byte* lines_ = nullptr;
    std::uint64_t* drains_ = nullptr;
};

}  // namespace ouro
