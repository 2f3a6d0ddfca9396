#pragma once

#include <ouro/base/status.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <cstddef>
#include <span>

namespace ouro::detail {

// Whether bytes from elsewhere can become a world that is changed: WorldReader::check, and what a reader need
// not ask. The heap they lie in is sound; whatever the world has of it is in use, and no two things share a
// byte, so that what is given back later is nobody else's; names, relations and the tables of sparse
// components lead where they must. Nothing is written. corrupt_data, and as os::reserve does.
//
// Not asked: what lies in the values of the program's own components, a SimVec for example.
//
// Requires: the reader reads the image, which is aligned as a page is.
[[nodiscard]] Status audit_world(const WorldReader& reader, std::span<const std::byte> image) noexcept;

}  // namespace ouro::detail
