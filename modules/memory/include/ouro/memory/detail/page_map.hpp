#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Which pages of the whole address space belong to one owner: a bit a page, in reserved addresses of which
// only the parts that were ever needed are committed. Any thread may ask, without a lock; one at a time may
// change.
class PageMap {
public:
    // Reserves a bit for every page that a program can have. Fails as os::reserve and os::commit do.
    [[nodiscard]] static Expected<PageMap> create() noexcept;

    constexpr PageMap() noexcept = default;

    // Requires: whole pages. Fails with out_of_memory, and has changed nothing then. Pages that were in the
    // map once are added again without fail.
    Expected<void> add(MemoryBlock pages) noexcept;
    void remove(MemoryBlock pages) noexcept;

    [[nodiscard]] bool contains(const void* address) const noexcept;
    // True when all pages of the block are in the map.
    [[nodiscard]] bool contains_all(MemoryBlock pages) const noexcept;

    // Walks everything: not for hot paths.
    [[nodiscard]] std::size_t page_count() const noexcept;

private:
    explicit PageMap(os::Reservation memory, std::size_t leaf_offset) noexcept;

    // Words of 64 bits: of a leaf a bit is a page of the program, of the directory a committed page of the
    // leaf.
    [[nodiscard]] std::uint64_t* directory() const noexcept;
    [[nodiscard]] std::uint64_t* leaf() const noexcept;
    [[nodiscard]] bool is_committed(std::size_t leaf_page) const noexcept;
    Expected<void> commit_leaf(std::size_t first_word, std::size_t last_word) noexcept;
    void write(MemoryBlock pages, bool value) noexcept;

    os::Reservation memory_;
    std::size_t leaf_offset_ = 0;
};

}  // namespace ouro::detail
