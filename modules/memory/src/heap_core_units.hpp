#pragma once

#include <ouro/memory/detail/unit_map.hpp>

#include <cstddef>

namespace ouro::detail {

[[nodiscard]] constexpr std::size_t units_for(std::size_t bytes) noexcept {
    return bytes / UnitMap::kUnitBytes + (bytes % UnitMap::kUnitBytes != 0 ? 1U : 0U);
}

}  // namespace ouro::detail
