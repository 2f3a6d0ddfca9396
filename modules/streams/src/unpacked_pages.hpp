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
// stay until the lease ends. Any thread at any time; a lock of a few instructions guards each of many lists.
class UnpackedPages {
public:
    void carve(Carver& carver, std::uint32_t places) noexcept;

    // Null when it was not unpacked.
    [[nodiscard]] const std::byte* find(std::uint32_t cell, std::uint32_t page) noexcept;
    [[nodiscard]] bool has_any(std::uint32_t cell) const noexcept {
        return first_[cell].load(std::memory_order_acquire) != 0;
    }

    // A place to unpack into; then add it. Zero when others have all that are free, of which they give back
    // those with pages that another thread was quicker to add.
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
    static constexpr std::uint32_t kLocked = std::uint32_t{1} << 31;

    // The first is never used: zero is no place.
    struct Node {
        std::uint32_t page;
        std::uint32_t cell;
        // In the list of those with the same hash.
        std::uint32_t next;
        // Among the free ones, or those of the same cell.
        Word next_own;
    };

    [[nodiscard]] Word& list_of(std::uint32_t cell, std::uint32_t page) noexcept;
    [[nodiscard]] static std::uint32_t lock(Word& list) noexcept;
    static void unlock(Word& list, std::uint32_t first) noexcept {
        list.store(first, std::memory_order_release);
    }
    [[nodiscard]] std::uint32_t find_in(std::uint32_t first, std::uint32_t cell,
                                        std::uint32_t page) const noexcept;
    void remove(std::uint32_t place) noexcept;

    std::byte* pages_ = nullptr;
    std::span<Node> nodes_;
    std::span<Word> lists_;
    std::array<Word, LeaseTable::kReaderCells> first_{};
    // The first free one, and in the upper half a count that tells apart two times when it was the same.
    std::atomic<std::uint64_t> free_ = 0;
};

}  // namespace ouro::detail
