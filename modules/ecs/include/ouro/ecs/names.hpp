#pragma once

#include <ouro/base/fixed_string.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/sim_map.hpp>

#include <string_view>

// Names of entities for people, programs and files: each is one entity's alone. Names and the map to their
// entities lie in the image.
//
//     set_name(world, door, "north gate");
//     const Entity gate = find_named(world, "north gate");
namespace ouro {

// A sparse component: queries can read it, set_name() writes it.
struct Name {
    FixedString<31> text;
};
template <>
inline constexpr ComponentOptions kComponentOptions<Name> = {
    .heat = Heat::cold, .sparse = true, .role = SparseRole::name};

using NameMap = SimMap<FixedString<31>, Entity>;

// Names an entity, or names it anew. Fails with stale_handle; bad_argument when the name is empty or longer
// than 31 bytes; address_in_use when another entity has it; capacity_exhausted. Then nothing has changed.
Status set_name(World& world, Entity entity, std::string_view name) noexcept;
// stale_handle; not_found when it has none.
Status clear_name(World& world, Entity entity) noexcept;
// Null when nobody has it.
[[nodiscard]] Entity find_named(World& world, std::string_view name) noexcept;
// Empty when it has none, or is gone. Good until the next name is set.
[[nodiscard]] std::string_view name_of(World& world, Entity entity) noexcept;

}  // namespace ouro
