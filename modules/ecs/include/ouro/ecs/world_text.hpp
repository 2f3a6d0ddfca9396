#pragma once

#include <ouro/ecs/layout.hpp>
#include <ouro/ecs/world_diff.hpp>

#include <cstddef>
#include <span>
#include <string_view>

// Values of components and what became of them, in words. As much as fits, with a zero at the end; texts that
// came from a file or another process are made printable.
namespace ouro {

// "7:2": the slot and the generation. "none" for null.
[[nodiscard]] std::string_view describe_entity(Entity entity, std::span<char> text) noexcept;

// 12, -3, 0.25, true, "bob", [1, 2, 3], 7:2 for an entity, 0x.. for what nobody knows. Requires: all bytes
// of the field.
[[nodiscard]] std::string_view describe_value(const FieldRecord& field, std::span<const std::byte> value,
                                              std::span<char> text) noexcept;

// "7:2 Health.points 5 -> 6", "7:2 spawned", "7:2 Frozen added".
[[nodiscard]] std::string_view describe_change(const WorldChange& change, std::span<char> text) noexcept;

}  // namespace ouro
