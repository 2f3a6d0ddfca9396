#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

namespace {

bool fits(const ImageHeap& heap, std::uint32_t offset, std::uint64_t bytes) noexcept {
    return bytes == 0 || heap.can_have(offset, bytes);
}

bool has_fields(const ImageHeap& heap, const ComponentRecord& record) noexcept {
    return fits(heap, record.fields, std::uint64_t{record.field_count} * sizeof(FieldRecord));
}

}  // namespace

bool WorldCore::has_sound_tables() const noexcept {
    const WorldHeader& header = *header_;
    return header.component_count <= kMaxComponents && header.max_archetypes <= kMaxArchetypes &&
           header.archetype_count <= header.max_archetypes && header.used_slots <= header.max_entities &&
           header.live_entities + header.retired_slots <= header.used_slots &&
           fits(heap_, header.components, kMaxComponents * sizeof(ComponentRecord)) &&
           fits(heap_, header.entities, std::uint64_t{header.max_entities} * sizeof(EntitySlot)) &&
           fits(heap_, header.archetypes, std::uint64_t{header.max_archetypes} * sizeof(ArchetypeRecord));
}

bool WorldCore::has_sound_slots() const noexcept {
    std::uint32_t live = 0;
    std::uint32_t retired = 0;
    for (std::uint32_t index = 0; index < header_->used_slots; ++index) {
        const EntitySlot slot = slots_[index];
        if (slot.generation == 0) return false;
        if (slot.archetype == kNoArchetype) {
            retired += slot.generation == UINT16_MAX && slot.row == 0 ? 1U : 0U;
            continue;
        }
        ++live;
        if (slot.archetype >= header_->archetype_count) return false;
        const ArchetypeRecord& archetype = archetypes_[slot.archetype];
        if (slot.row >= archetype.row_count) return false;
        const RowPlace place = place_of_row(slot.row);
        if (cell<Entity>(block(archetype, place.block)[0], place.index) != Entity(index, slot.generation))
            return false;
    }
    // A list that runs in a circle is longer than there are free slots.
    const std::uint32_t free_slots = header_->used_slots - live - header_->retired_slots;
    std::uint32_t listed = 0;
    for (std::uint32_t next = header_->first_free; next != 0; next = slots_[next - 1].row) {
        if (next > header_->used_slots || slots_[next - 1].archetype != kNoArchetype || ++listed > free_slots)
            return false;
    }
    return live == header_->live_entities && listed == free_slots && retired >= header_->retired_slots;
}

// What leads from a component to its column, and the archetype's own hash.
bool WorldCore::has_sound_map(const ArchetypeRecord& archetype) const noexcept {
    const ColumnRecord& names = columns_of(archetype)[0];
    if (names.component != kEntityComponent || names.bytes != sizeof(Entity)) return false;
    // Zero is the hash of what was never made.
    if (archetype.chain_hash % 2 == 0 || archetype.column_map_bytes > header_->component_count) return false;
    for (std::uint32_t id = 0; id < archetype.column_map_bytes; ++id) {
        const unsigned column = column_of(archetype, static_cast<ComponentId>(id));
        if (column > archetype.column_count) return false;
        if (column != 0 && columns_of(archetype)[column - 1].component != id) return false;
    }
    bool has_columns = true;
    archetype.mask.each([&](ComponentId id) {
        const bool is_known = id < header_->component_count;
        const bool wants_column = is_known && components_[id].kind == ComponentKind::column;
        has_columns = has_columns && is_known && (column_of(archetype, id) != 0) == wants_column;
    });
    return has_columns;
}

bool WorldCore::is_sound(const ArchetypeRecord& archetype) const noexcept {
    if (archetype.block_count > kMaxBlocks || archetype.column_count == 0 ||
        !archetype.mask.has(kEntityComponent))
        return false;
    if (!fits(heap_, archetype.columns,
              archetype.column_count * sizeof(ColumnRecord) + archetype.column_map_bytes) ||
        archetype.column_map != archetype.columns + archetype.column_count * sizeof(ColumnRecord))
        return false;
    const std::uint64_t room =
        archetype.block_count == 0 ? 0 : std::uint64_t{first_row_of_block(archetype.block_count)};
    if (archetype.row_count > room || archetype.added_from > archetype.row_count ||
        archetype.added_before > archetype.added_from)
        return false;
    ComponentId before = kEntityComponent;
    for (const ColumnRecord& column : columns_of(archetype)) {
        const bool is_first = &column == columns_of(archetype).data();
        if (column.component >= header_->component_count || (!is_first && column.component <= before))
            return false;
        if (column.bytes != components_[column.component].bytes || !archetype.mask.has(column.component))
            return false;
        before = column.component;
    }
    for (std::uint32_t number = 0; number < archetype.block_count; ++number)
        if (!is_sound_block(archetype, number)) return false;
    return true;
}

bool WorldCore::is_sound_block(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept {
    if (!fits(heap_, archetype.blocks[number], archetype.column_count * sizeof(BlockColumn))) return false;
    const BlockColumn* const columns = block(archetype, number);
    const std::uint32_t rows = rows_of_block(number);
    for (unsigned i = 0; i < archetype.column_count; ++i) {
        const BlockColumn& column = columns[i];
        if (!fits(heap_, column.data, std::uint64_t{rows} * columns_of(archetype)[i].bytes)) return false;
        if (column.planes != 0 && !fits(heap_, column.planes, std::uint64_t{rows} / 8 * 3)) return false;
        const bool has_bits =
            column.now == Changes::some || column.before == Changes::some || column.has_disabled != 0;
        if (column.turn > 1 || column.now > Changes::all || column.before > Changes::all) return false;
        if (has_bits && column.planes == 0) return false;
    }
    return true;
}

Status WorldCore::check() const noexcept {
    if (!is_there()) return Status::not_found;
    if (!has_sound_tables()) return Status::corrupt_data;
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        if (!has_fields(heap_, components_[id])) return Status::corrupt_data;
    if (header_->registry_hash != hash_of_registry() || header_->layout_hash != hash_of_layout())
        return Status::corrupt_data;
    std::uint64_t rows = 0;
    for (const ArchetypeRecord& archetype : archetypes()) {
        if (!is_sound(archetype) || !has_sound_map(archetype)) return Status::corrupt_data;
        rows += archetype.row_count;
    }
    if (rows != header_->live_entities || !has_sound_slots() || !has_sound_sparse())
        return Status::corrupt_data;
    return heap_.check();
}

}  // namespace ouro::detail
