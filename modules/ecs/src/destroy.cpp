#include <ouro/ecs/detail/relation_lists.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>

namespace ouro::detail {

void WorldCore::free_slot(std::uint32_t index) noexcept {
    declare_header();
    EntitySlot& slot = declare_slot(index);
    slot.archetype = kNoArchetype;
    --header_->live_entities;
    if (slot.generation == UINT16_MAX) {
        // Never again: its old names would be taken for new ones.
        slot.row = 0;
        ++header_->retired_slots;
        return;
    }
    ++slot.generation;
    slot.row = header_->first_free;
    header_->first_free = index + 1;
}

// From the last to the first.
void WorldCore::free_slots(std::span<const Entity> entities) noexcept {
    declare_header();
    std::uint32_t first_free = header_->first_free;
    std::uint32_t retired = 0;
    for (std::size_t i = entities.size(); i-- != 0;) {
        const std::uint32_t index = slot_index(entities[i]);
        EntitySlot& slot = declare_slot(index);
        const std::uint16_t generation = slot.generation;
        if (generation == UINT16_MAX) [[unlikely]] {
            slot = {0, kNoArchetype, generation};
            ++retired;
            continue;
        }
        slot = {first_free, kNoArchetype, static_cast<std::uint16_t>(generation + 1)};
        first_free = index + 1;
    }
    header_->first_free = first_free;
    header_->live_entities -= static_cast<std::uint32_t>(entities.size());
    header_->retired_slots += retired;
}

void WorldCore::destroy(Entity entity) noexcept {
    destroy_one(entity);
    // Those that follow wait in lists of their own, so that a deep tree needs no deep stack.
    while (doomed_ != 0) [[unlikely]]
        destroy_one(next_doomed());
}

void WorldCore::destroy_one(Entity entity) noexcept {
    if (events_.is_watching()) record_removed(entity, archetypes_[slot_of(entity).archetype].mask);
    if (header_->first_sparse != 0) leave_tables(entity);
    const EntitySlot slot = slot_of(entity);
    remove_entity_row(slot.archetype, slot.row);
    free_slot(slot_index(entity));
}

Entity WorldCore::next_doomed() const noexcept {
    const SparseTable* table = sparse_at(header_->first_sparse);
    while (table->doomed_first == 0)
        table = sparse_at(table->next);
    return entity_at(table->doomed_first - 1);
}

void WorldCore::leave_tables(Entity entity) noexcept {
    const std::uint32_t slot = slot_index(entity);
    for (SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next)) {
        SparseSet set(*this, *table);
        const std::uint32_t row = set.size() == 0 ? 0 : set.find(slot);
        if (row == 0) continue;
        switch (table->role) {
            case SparseRole::plain:
                break;
            case SparseRole::name:
                forget_name(set, row - 1);
                break;
            case SparseRole::link:
                RelationLists(*this, *table).take_out(slot);
                break;
            case SparseRole::sources_stay:
                RelationLists(*this, *sparse_at(table->partner)).unlink_sources(slot);
                break;
            case SparseRole::sources_follow:
                RelationLists(*this, *sparse_at(table->partner)).doom_sources(slot);
                break;
        }
        set.remove(slot);
    }
}

void WorldCore::destroy_all(std::uint32_t number) noexcept {
    ArchetypeRecord& archetype = archetypes_[number];
    // From the end, so that slots are taken again in the order of the rows.
    const bool is_observed = events_.is_watching() && archetype.mask.has_any(watched(EventKind::removed));
    if (is_observed || has_sparse_rows()) {
        while (archetype.row_count != 0) {
            const RowPlace place = place_of_row(archetype.row_count - 1);
            destroy(cell<Entity>(block(archetype, place.block)[0], place.index));
        }
        return;
    }
    for (std::uint32_t end = archetype.row_count; end != 0;) {
        const std::uint32_t last_block = place_of_row(end - 1).block;
        const std::uint32_t first = first_row_of_block(last_block);
        free_slots({&cell<Entity>(block(archetype, last_block)[0], 0), end - first});
        end = first;
    }
    forget_rows(archetype);
}

void WorldCore::forget_rows(ArchetypeRecord& archetype) noexcept {
    for (std::uint32_t number = 0; number < archetype.block_count; ++number) {
        BlockColumn* const columns = block(archetype, number);
        for (unsigned i = 0; i < archetype.column_count; ++i)
            planes(columns[i], rows_of_block(number)).forget_all();
    }
    declare(&archetype, sizeof(archetype));
    archetype.row_count = archetype.added_from = archetype.added_before = 0;
}

}  // namespace ouro::detail
