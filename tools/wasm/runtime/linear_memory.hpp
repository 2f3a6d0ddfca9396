#pragma once

#include <cstddef>
#include <cstdint>

// The one owner of the linear memory above the program's data and main stack. Whoever needs memory takes a
// range of pages here, and nobody else executes memory.grow: two parties that did would be given each other's
// pages. Taking a range costs addresses only; grow_to puts memory behind them. Pages that were never written
// read zero, pages that were given back keep their bytes. Every function may be called from any thread.
namespace ouro::wasm {

inline constexpr std::size_t kPageBytes = 65536;

// The pages that 32 bits address, without the last: the end of a range never wraps to zero.
inline constexpr std::uint32_t kAddressablePages = 65535;

// How many ranges can be taken at the same time.
inline constexpr std::size_t kMaxRanges = 1024;

// A range can be found and given back by its owner alone.
enum class PageOwner : std::uint32_t {
    test_heap,
    os,
};

struct PageRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] constexpr std::uint32_t end() const noexcept { return first + count; }
};

struct PageRequest {
    std::uint32_t count = 0;
    // The first page's number is a multiple of this; a power of two.
    std::uint32_t alignment = 1;
    // The exact page wanted, or 0 for any: page 0 belongs to the program.
    std::uint32_t first = 0;
};

enum class TakeOutcome : std::uint32_t { taken, in_use, no_room, table_full };

// Takes the lowest free range that serves, because linear memory never shrinks: low ranges make it grow less.
// Requires: a count that is not zero. `taken` is written only when the outcome says so.
[[nodiscard]] TakeOutcome take_pages(PageOwner owner, const PageRequest& request, PageRange& taken) noexcept;

enum class GiveOutcome : std::uint32_t { given, not_taken, table_full };

// Gives back a range that the owner has taken, or a part of one. A part from the middle leaves two ranges,
// for which the table may have no room.
[[nodiscard]] GiveOutcome give_back_pages(PageOwner owner, PageRange range) noexcept;

// True when one range of the owner contains all of the pages.
[[nodiscard]] bool owns_pages(PageOwner owner, PageRange pages) noexcept;

// How many pages the owner has taken.
[[nodiscard]] std::uint32_t pages_of(PageOwner owner) noexcept;

// Grows the memory until it ends at this page or behind it; false when the host refuses, and nothing changed.
[[nodiscard]] bool grow_to(std::uint32_t end_page) noexcept;

// Where the memory ends now, and where it ends at most.
[[nodiscard]] std::uint32_t grown_pages() noexcept;
[[nodiscard]] std::uint32_t maximum_pages() noexcept;

// The first page above the program's data and main stack.
[[nodiscard]] std::uint32_t first_page() noexcept;

}  // namespace ouro::wasm
