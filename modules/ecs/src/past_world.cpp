#include <ouro/ecs/past_world.hpp>

namespace ouro {

Expected<PastWorld> World::at(Tick tick) const noexcept {
    auto view = core_->ring().view(tick);
    if (!view) return view.status();
    const auto header = PastReader(*view).load<WorldHeader>(core_->offset_of_header());
    if (!header) return header.status();
    // Before the world was made, there was none.
    if (header->magic != WorldHeader::kMagic) return Status::not_found;
    return PastWorld(*std::move(view), *header);
}

ComponentId PastWorld::find_component(std::string_view name) const noexcept {
    for (std::uint32_t id = 0; id < header_.component_count; ++id) {
        const std::uint64_t offset = header_.components + std::uint64_t{id} * sizeof(ComponentRecord);
        if (read<ComponentRecord>(offset).name.view() == name) return static_cast<ComponentId>(id);
    }
    return kNoComponent;
}

Expected<EntitySlot> PastWorld::slot(Entity entity) const noexcept {
    const auto index = static_cast<std::uint32_t>(entity.index());
    if (index >= header_.used_slots) return Status::stale_handle;
    const auto slot = read<EntitySlot>(header_.entities + std::uint64_t{index} * sizeof(EntitySlot));
    if (slot.archetype == kNoArchetype || slot.generation != entity.generation()) return Status::stale_handle;
    return slot;
}

Expected<std::uint64_t> PastWorld::cell_offset(Entity entity, ComponentId id,
                                               std::size_t bytes) const noexcept {
    const auto place = slot(entity);
    if (!place) return place.status();
    const ArchetypeRecord record = archetype(place->archetype);
    const unsigned column = column_of(record, id);
    if (column == 0) return Status::not_found;
    const RowPlace row = place_of_row(place->row);
    return block_column(record, row.block, column - 1).data + std::uint64_t{row.index} * bytes;
}

}  // namespace ouro
