#pragma once

#include <ouro/ecs/detail/world_core.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

// A component of one entity. What follows from its slot is little and guesses nothing: entities that lie
// anywhere then wait for memory several at a time.
namespace ouro::detail {

// Where the component is known to be; false when the entity is gone, has no such component, or its place is
// not known in this epoch yet. look_up_cell() sorts these out, and remembers for the next: the column, null
// when the entity is gone or has no such component.
template <class T>
bool WorldCore::find_known_cell(Entity entity, KnownCell& found) const noexcept {
    const auto index = static_cast<std::uint32_t>(entity.index());
    if (index >= header_->used_slots) [[unlikely]]
        return false;
    const auto bits = std::bit_cast<std::uint64_t>(slots_[index]);
    const std::uint64_t archetype = (bits >> 32) - (std::uint64_t{entity.generation()} << 16);
    const std::uint64_t name = CellPlace::known_name_of<T>(archetype);
    const CellPlace& place = cell_places_[cell_place_of(name)];
    if (!place.knows(name, marks_.epoch())) [[unlikely]]
        return false;
    const auto row = static_cast<std::uint32_t>(bits);
    const std::uint32_t first = place.first_cell(row);
    if (first == 0) [[unlikely]]
        return false;
    const auto bytes = static_cast<std::uint32_t>(sizeof(T));
    found = {at(first + row * bytes), &place, row};
    return true;
}

template <class T>
[[nodiscard]] BlockColumn* look_up_cell(const WorldCore& core, Entity entity, RowPlace& place) noexcept {
    const std::uint32_t type = type_number<T>();
    CellPlace::note_type<T>(type);
    return core.look_up_cell(type, entity, sizeof(T), place);
}

// Its row is about to be written, by the only thread that writes.
inline void WorldCore::declare_known(const KnownCell& cell, std::size_t bytes) noexcept {
    // Another thread may have noted the block just before: its column was stored first.
    std::atomic_thread_fence(std::memory_order_acquire);
    const RowPlace at = place_of_row(cell.row);
    BlockColumn& column = *columns_at(cell.place->column(at.block));
    planes(column, rows_of_block(at.block)).mark_alone(at.index, marks_);
    marks_.mark_alone(cell.data, bytes);
}

}  // namespace ouro::detail
