#pragma once

#include <cstdint>

namespace ouro {

// How full a world is.
struct WorldStats {
    std::uint32_t entities = 0;
    std::uint32_t free_slots = 0;
    std::uint32_t retired_slots = 0;
    std::uint32_t components = 0;
    std::uint32_t archetypes = 0;
};

}  // namespace ouro
