#pragma once

#include "linear_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro::os {

// Which pages of linear memory are committed, and which hold bytes of an earlier use. Such pages are zeroed
// when they are committed again and not when they are given up: whoever never comes back for them never pays,
// and what is written to them in between, which nothing can stop, is gone as well. Not safe for several
// threads.
class PageStates {
public:
    // Makes the pages committed; those that were not read zero. Requires: they lie within the grown memory.
    void commit(wasm::PageRange pages) noexcept;
    void decommit(wasm::PageRange pages) noexcept;

    [[nodiscard]] bool are_committed(wasm::PageRange pages) const noexcept;
    [[nodiscard]] std::uint32_t committed_count() const noexcept { return committed_count_; }

private:
    using Bits = std::array<std::uint32_t, wasm::kAddressablePages / 32 + 1>;

    static bool test(const Bits& bits, std::uint32_t page) noexcept {
        return (bits[page / 32] >> page % 32 & 1U) != 0;
    }

    Bits committed_{};
    Bits used_{};
    std::uint32_t committed_count_ = 0;
};

// How many pages os::commit has made usable and nobody has given up since.
[[nodiscard]] std::uint32_t committed_pages() noexcept;

}  // namespace ouro::os
