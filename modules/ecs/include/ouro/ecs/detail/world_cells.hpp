#pragma once

#include <ouro/ecs/detail/world_core.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

// A component of one entity. What follows from its slot is little and guesses nothing: entities that lie
// anywhere then wait for memory several at a time.
namespace ouro::detail {

// Where the component is known to be. look_up_cell() sorts out the others, and remembers for the next: the
// column, null when the entity is gone or has no such component.
template <class T>
KnownCell WorldCore::known_cell(Entity entity) const noexcept {
    const auto index = static_cast<std::uint32_t>(entity.index());
    if (index >= header_->used_slots) [[unlikely]]
        return {};
    const std::uint32_t type = TypeNumbers<ComponentFamily>::known<T>();
    const auto bits = std::bit_cast<std::uint64_t>(slots_[index]);
    const std::uint64_t archetype = (bits >> 32) - (std::uint64_t{entity.generation()} << 16);
    const auto row = static_cast<std::uint32_t>(bits);
    const CellPlace& place = cell_places_[cell_place_of(type, static_cast<std::uint32_t>(archetype))];
    if (!place.knows(CellPlace::name_of(type, archetype), marks_.epoch(), row)) [[unlikely]]
        return {};
    const std::uint32_t block = place_of_row(row).block;
    const auto bytes = static_cast<std::uint32_t>(sizeof(T));
    return {at(place.first_cell(block) + row * bytes), &place, row, block};
}

// Its row is about to be written, by the only thread that writes.
inline void WorldCore::declare_known(const KnownCell& cell, std::size_t bytes) noexcept {
    BlockColumn& column = *columns_at(cell.place->column(cell.block));
    const std::uint32_t index = cell.row - first_row_of_block(cell.block);
    planes(column, rows_of_block(cell.block)).mark_alone(index, marks_);
    marks_.mark_alone(cell.data, bytes);
}

}  // namespace ouro::detail
