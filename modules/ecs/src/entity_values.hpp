#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::detail {

// The longest field that is shown whole.
inline constexpr std::size_t kShownBytes = 1024;

// Calls visit(FieldRecord, bytes) with each field of a value. Of long fields only the first elements.
template <class Visit>
Status visit_fields(const WorldReader& reader, const ComponentRecord& component, std::uint64_t offset,
                    Visit&& visit) noexcept {
    for (std::uint32_t i = 0; i < component.field_count; ++i) {
        auto field = reader.field(component, i);
        if (!field) return field.status();
        const std::uint32_t fits = static_cast<std::uint32_t>(kShownBytes) / field->element_bytes;
        field->count = std::min(field->count, fits);
        std::array<std::byte, kShownBytes> value;
        const std::span bytes = std::span(value).first(std::size_t{field->element_bytes} * field->count);
        const Status status = reader.read(offset + field->offset, bytes);
        if (status != Status::ok) return status;
        visit(*field, std::span<const std::byte>(bytes));
    }
    return Status::ok;
}

// Calls begin(ComponentRecord, is_disabled) with each component of an entity, and behind that
// visit(FieldRecord, bytes) with its fields.
template <class Begin, class Visit>
Status visit_values(const WorldReader& reader, Entity entity, Begin&& begin, Visit&& visit) noexcept {
    const auto slot = reader.find(entity);
    if (!slot) return slot.status();
    const auto archetype = reader.archetype(slot->archetype);
    if (!archetype || slot->row >= archetype->row_count) return Status::corrupt_data;
    for (std::uint32_t id = kEntityComponent + 1; id < reader.header().component_count; ++id) {
        const auto component = reader.component(id);
        if (!component) return component.status();
        ArchetypeRecord home = *archetype;
        std::uint32_t row = slot->row;
        std::uint32_t column = 0;
        if (component->kind == ComponentKind::sparse) {
            const auto table = reader.sparse(*component);
            if (!table) return table.status();
            const auto own = reader.sparse_row(*table, static_cast<std::uint32_t>(entity.index()));
            if (!own) return own.status();
            if (*own == 0) continue;
            home = table->rows;
            row = *own - 1;
            column = 2;
        } else {
            if (!archetype->mask.has(static_cast<ComponentId>(id))) continue;
            const auto own = reader.column_of(*archetype, static_cast<ComponentId>(id));
            if (!own) return own.status();
            column = *own;
        }
        const auto is_off = column == 0 ? Expected<bool>(false) : reader.is_disabled(home, row, column - 1);
        if (!is_off) return is_off.status();
        begin(*component, *is_off);
        if (column == 0) continue;
        const auto offset = reader.cell_offset(home, row, column - 1);
        if (!offset) return offset.status();
        if (const Status status = visit_fields(reader, *component, *offset, visit); status != Status::ok)
            return status;
    }
    return Status::ok;
}

}  // namespace ouro::detail
