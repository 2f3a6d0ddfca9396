#pragma once

#include <ouro/observe/detail/observe_image.hpp>

#include <cstdint>

namespace ouro::detail {

// What a slot's sequence is once it holds the moment of this number; odd while it is written.
[[nodiscard]] constexpr std::uint64_t timeline_sequence(std::uint64_t number) noexcept {
    return 2 * number + 2;
}

}  // namespace ouro::detail
