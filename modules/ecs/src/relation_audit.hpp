#pragma once

#include <ouro/base/status.hpp>
#include <ouro/ecs/world_reader.hpp>

namespace ouro::detail {

// Whether the tables of sparse components are all listed, have the sizes that their roles need, and whether
// the two sides of each relation lead to each other: ok, or corrupt_data. Requires: WorldReader::check is ok.
[[nodiscard]] Status audit_relations(const WorldReader& reader) noexcept;

}  // namespace ouro::detail
