#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/world_reader.hpp>

namespace ouro {

// Each of the components and fields is looked at for it.
Status WorldReader::check_layout() const noexcept {
    std::uint64_t hash = header_.structures_hash;
    for (std::uint32_t id = 0; id < header_.component_count; ++id) {
        const auto record = component(id);
        if (!record) return record.status();
        hash = detail::fold_component(hash, *record);
        for (std::uint32_t number = 0; number < record->field_count; ++number) {
            const auto each = field(*record, number);
            if (!each) return each.status();
            hash = detail::fold_field(hash, *each);
        }
    }
    return hash == header_.layout_hash ? Status::ok : Status::corrupt_data;
}

Status WorldReader::check() const noexcept {
    if (const Status status = check_layout(); status != Status::ok) return status;
    if (const Status status = check_archetypes(); status != Status::ok) return status;
    for (std::uint32_t id = 0; id < header_.component_count; ++id) {
        const auto record = component(id);
        if (!record) return record.status();
        if (record->kind != ComponentKind::sparse) continue;
        if (const Status status = check_sparse(*record); status != Status::ok) return status;
    }
    return check_slots();
}

Status WorldReader::check_archetypes() const noexcept {
    std::uint64_t rows = 0;
    for (std::uint32_t number = 0; number < header_.archetype_count; ++number) {
        const auto record = archetype(number);
        if (!record) return record.status();
        rows += record->row_count;
        ComponentMask columns;
        ComponentId before = 0;
        for (std::uint32_t i = 0; i < record->column_count; ++i) {
            const auto shape = column(*record, i);
            if (!shape) return shape.status();
            const auto mapped = column_of(*record, shape->component);
            if (!mapped || *mapped != i + 1) return Status::corrupt_data;
            if (i == 0 ? shape->component != kEntityComponent : shape->component <= before)
                return Status::corrupt_data;
            before = shape->component;
            columns.add(before);
            for (std::uint32_t block = 0; block < record->block_count; ++block)
                if (const auto own = block_column(*record, block, i); !own) return own.status();
        }
        // What has no column is a tag.
        Status status = Status::ok;
        record->mask.each([&](ComponentId id) {
            const auto own = component(id);
            if (!own || columns.has(id) != (own->kind == ComponentKind::column))
                status = Status::corrupt_data;
        });
        if (status == Status::ok) status = check_rows(*record, number);
        if (status != Status::ok) return status;
    }
    return rows == header_.live_entities ? Status::ok : Status::corrupt_data;
}

Status WorldReader::check_rows(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept {
    for (std::uint32_t row = 0; row < archetype.row_count; ++row) {
        const auto entity = entity_at(archetype, row);
        if (!entity) return entity.status();
        const auto own = find(*entity);
        if (!own || own->archetype != number || own->row != row) return Status::corrupt_data;
    }
    return Status::ok;
}

Status WorldReader::check_sparse(const ComponentRecord& component) const noexcept {
    const auto table = sparse(component);
    if (!table) return table.status();
    for (std::uint32_t i = 0; i < table->rows.column_count; ++i) {
        const auto shape = column(table->rows, i);
        if (!shape) return shape.status();
        for (std::uint32_t block = 0; block < table->rows.block_count; ++block)
            if (const auto own = block_column(table->rows, block, i); !own) return own.status();
    }
    for (std::uint32_t row = 0; row < table->rows.row_count; ++row) {
        const auto entity = entity_at(table->rows, row);
        if (!entity) return entity.status();
        const auto own = sparse_row(*table, static_cast<std::uint32_t>(entity->index()));
        if (!find(*entity) || !own || *own != row + 1) return Status::corrupt_data;
    }
    return Status::ok;
}

Status WorldReader::check_slots() const noexcept {
    std::uint32_t live = 0;
    std::uint32_t retired = 0;
    for (std::uint32_t index = 0; index < header_.used_slots; ++index) {
        const auto own = slot(index);
        if (!own) return own.status();
        if (own->generation == 0) return Status::corrupt_data;
        live += own->archetype != kNoArchetype ? 1U : 0U;
        const bool is_used_up =
            own->archetype == kNoArchetype && own->generation == UINT16_MAX && own->row == 0;
        retired += is_used_up ? 1U : 0U;
    }
    std::uint32_t free = 0;
    if (const Status status = each_free_slot([&](std::uint32_t) { ++free; }); status != Status::ok)
        return status;
    const bool is_sound = live == header_.live_entities && retired >= header_.retired_slots &&
                          live + free + header_.retired_slots == header_.used_slots;
    return is_sound ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
