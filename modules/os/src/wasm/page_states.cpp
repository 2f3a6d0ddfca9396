#include "page_states.hpp"

#include <cstring>

namespace ouro::os {

void PageStates::commit(wasm::PageRange pages) noexcept {
    for (std::uint32_t page = pages.first; page < pages.end(); ++page) {
        if (test(committed_, page)) continue;
        if (test(used_, page))
            std::memset(reinterpret_cast<void*>(page * wasm::kPageBytes), 0, wasm::kPageBytes);
        committed_[page / 32] |= 1U << page % 32;
        used_[page / 32] |= 1U << page % 32;
        ++committed_count_;
    }
}

void PageStates::decommit(wasm::PageRange pages) noexcept {
    for (std::uint32_t page = pages.first; page < pages.end(); ++page) {
        if (!test(committed_, page)) continue;
        committed_[page / 32] &= ~(1U << page % 32);
        --committed_count_;
    }
}

bool PageStates::are_committed(wasm::PageRange pages) const noexcept {
    for (std::uint32_t page = pages.first; page < pages.end(); ++page) {
        if (!test(committed_, page)) return false;
    }
    return true;
}

}  // namespace ouro::os
