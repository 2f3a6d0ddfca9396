#pragma once

#include "carver.hpp"
#include "lease_table.hpp"

#include <ouro/streams/state_page.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Pages that were unpacked for readers, by the cell of the reader's lease and the number of the page; they
// stay until the lease ends. Any thread at any time, and none ever waits for another: each cell has lists of
// its own, to which is only added as long as the cell is held.
class UnpackedPages {
public:
    void carve(Carver& carver, std::uint32_t places) noexcept;

    // Null when it was not unpacked.
    [[nodiscard]] const std::byte* find(std::uint32_t cell, std::uint32_t page) const noexcept;
    [[nodiscard]] bool has_any(std::uint32_t cell) const noexcept {
        return has_any_[cell].load(std::memory_order_acquire);
    }

    // A place to unpack into, to be added or given back; zero when there is none.
    [[nodiscard]] std::uint32_t take() noexcept;
    // Takes a place back that was not added.
    void give(std::uint32_t place) noexcept;
    [[nodiscard]] std::byte* bytes(std::uint32_t place) const noexcept {
        return pages_ + (std::size_t{place} - 1) * kStatePageBytes;
    }
    // The page, or the one that another thread was quicker to add.
    const std::byte* add(std::uint32_t cell, std::uint32_t page, std::uint32_t place) noexcept;
    // Forgets what was unpacked for the cell. Requires: nobody reads or adds for it.
    void end(std::uint32_t cell) noexcept;

    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>(nodes_.empty() ? 0 : nodes_.size() - 1);
    }

private:
    using Word = std::atomic<std::uint32_t>;
    // Where one cell has all pages, its lists are about so long.
    static constexpr std::uint32_t kListLength = 8;

    // The first is never used: zero is no place.
    struct Node {
        std::uint32_t page;
        // In the list of the cell's pages with the same hash.
        std::uint32_t next;
        // Among the free ones, or those of the same cell.
        Word next_own;
    };

    [[nodiscard]] Word& list_of(std::uint32_t cell, std::uint32_t page) const noexcept;
    // From one place of a list up to another.
    [[nodiscard]] std::uint32_t find_in(std::uint32_t first, std::uint32_t end,
                                        std::uint32_t page) const noexcept;

    std::byte* pages_ = nullptr;
    std::span<Node> nodes_;
    // So many for each cell.
    std::span<Word> lists_;
    std::uint32_t cell_lists_ = 0;
    std::array<Word, LeaseTable::kReaderCells> first_{};
    // True before anything is in the cell's lists.
    std::array<std::atomic<bool>, LeaseTable::kReaderCells> has_any_{};
    // The first free one, and in the upper half a count that tells apart two times when it was the same.
    std::atomic<std::uint64_t> free_ = 0;
};

}  // namespace ouro::detail
