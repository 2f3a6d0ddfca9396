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

// Calls visit(ComponentRecord, FieldRecord, bytes) with each field of an entity's component, and before that
// begin(ComponentRecord, is_disabled). Of long fields only the first elements.
template <class Begin, class Visit>
Status visit_values(const WorldReader& reader, Entity entity, Begin&& begin, Visit&& visit) noexcept {
    const auto slot = reader.find(entity);
    if (!slot) return slot.status();
    const auto archetype = reader.archetype(slot->archetype);
    if (!archetype || slot->row >= archetype->row_count) return Status::corrupt_data;
    Status status = Status::ok;
    archetype->mask.each([&](ComponentId id) {
        if (status != Status::ok || id == kEntityComponent) return;
        const auto component = reader.component(id);
        const auto column = reader.column_of(*archetype, id);
        if (!component || !column) {
            status = Status::corrupt_data;
            return;
        }
        const auto is_off =
            *column == 0 ? Expected<bool>(false) : reader.is_disabled(*archetype, slot->row, *column - 1);
        begin(*component, is_off.value_or(false));
        if (*column == 0) return;
        const auto offset = reader.cell_offset(*archetype, slot->row, *column - 1);
        for (std::uint32_t i = 0; offset && i < component->field_count; ++i) {
            auto field = reader.field(*component, i);
            if (!field) break;
            const std::uint32_t fits = static_cast<std::uint32_t>(kShownBytes) / field->element_bytes;
            field->count = std::min(field->count, fits);
            std::array<std::byte, kShownBytes> value;
            const std::span bytes = std::span(value).first(std::size_t{field->element_bytes} * field->count);
            status = reader.read(*offset + field->offset, bytes);
            if (status != Status::ok) return;
            visit(*component, *field, std::span<const std::byte>(bytes));
        }
    });
    return status;
}

}  // namespace ouro::detail
