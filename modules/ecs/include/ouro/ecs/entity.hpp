#pragma once

#include <ouro/base/handle.hpp>

#include <cstdint>

namespace ouro {

struct EntityTag {};

// Names an entity: a slot of the world's table, and which of its occupants. All bits zero names none. A stale
// one is always noticed: a slot whose generations are used up is never used again.
using Entity = Handle<EntityTag>;
static_assert(sizeof(Entity) == 8);

// Where an entity's components are.
struct EntitySlot {
    // Of its archetype; of a free slot the next free one, plus one.
    std::uint32_t row;
    // kNoArchetype: free.
    std::uint16_t archetype;
    // Of the occupant, or of the last one; zero: there was none.
    std::uint16_t generation;
};
static_assert(sizeof(EntitySlot) == 8);

inline constexpr std::uint16_t kNoArchetype = UINT16_MAX;

}  // namespace ouro
