#pragma once

#include <cstdint>

namespace ouro::detail {

// A version of a page that only readers still need: that of the ticks from one up to another.
struct PinnedVersion {
    std::uint32_t page;
    std::uint32_t slot;
    std::uint32_t from;
    std::uint32_t until;
};

}  // namespace ouro::detail
