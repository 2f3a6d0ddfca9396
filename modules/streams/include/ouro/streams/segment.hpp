#pragma once

#include <ouro/streams/state_page.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

enum class SegmentKind : std::uint8_t {
    // Offsets and fixed-width numbers only: the same bytes mean the same everywhere. Makes the portable hash
    // and the files.
    portable = 1,
    // Pointers and tables of this process (foreign heaps): rolled back and hashed apart, never saved.
    process_bound = 2,
};

// How writes to a segment are found.
enum class Tracking : std::uint8_t {
    // The writers say so (StateRing::mark). The fastest, and right where all writers are known.
    declared,
    // The best way that this machine offers for writers that declare nothing: one of those below.
    automatic,
    // The kernel notes written pages.
    kernel,
    // Page protection and a signal handler.
    protect,
    // Each commit compares the whole segment with the last tick. Works everywhere.
    compare,
};

[[nodiscard]] std::string_view tracking_name(Tracking tracking) noexcept;
[[nodiscard]] std::string_view segment_kind_name(SegmentKind kind) noexcept;

inline constexpr std::size_t kMaxSegments = 32;
// With the zero at the end.
inline constexpr std::size_t kSegmentNameBytes = 32;
// Segments start on multiples of this, which every platform's pages and every tracker's granules divide.
inline constexpr std::size_t kSegmentAlignment = std::size_t{64} << 10;

struct SegmentOptions {
    // Unlike any other of the image, and not empty; at most kSegmentNameBytes - 1 characters.
    std::string_view name;
    // Rounded up to whole kSegmentAlignment.
    std::uint64_t bytes = 0;
    SegmentKind kind = SegmentKind::portable;
    Tracking tracking = Tracking::declared;
    // Keeps lines of kStateLineBytes instead of pages where few lines of a page are declared in a tick: less
    // to copy, and far less to keep, where writes are few and scattered. Only with declared tracking; see
    // docs/state-ring.md for when it pays.
    bool fine = false;
    // Where in the image, a multiple of kSegmentAlignment; zero: behind the segments before it, of which the
    // portable ones come first, and of each kind those with a place. So the places of portable segments are
    // the same in a program that has no process-bound ones. A process-bound segment whose place is in their
    // way is refused with address_in_use.
    std::uint64_t offset = 0;
};

// A part of the image as it was made.
struct Segment {
    std::array<char, kSegmentNameBytes> name_text{};
    SegmentKind kind = SegmentKind::portable;
    // Never automatic.
    Tracking tracking = Tracking::declared;
    bool fine = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    // Why this tracking, in one sentence.
    std::string_view reason;

    [[nodiscard]] std::string_view name() const noexcept { return name_text.data(); }
    [[nodiscard]] std::uint32_t first_page() const noexcept {
        return static_cast<std::uint32_t>(offset >> kStatePageShift);
    }
    [[nodiscard]] std::uint32_t page_count() const noexcept {
        return static_cast<std::uint32_t>(bytes >> kStatePageShift);
    }
};

}  // namespace ouro
