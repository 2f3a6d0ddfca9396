// Ticks of changes that would come round once more; see WorldCore::end_tick.
#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

void WorldCore::age(std::uint32_t& tick) noexcept {
    if (now() - tick > kAgingTicks) heap_.edit(tick) = now() - kAgingTicks;
}

void WorldCore::age_marks(ArchetypeRecord& archetype) noexcept {
    age(archetype.added_tick);
    for (std::uint32_t number = 0; number < archetype.block_count; ++number) {
        BlockColumn* const columns = block(archetype, number);
        for (unsigned i = 0; i < archetype.column_count; ++i)
            age(columns[i].tick);
    }
}

void WorldCore::age_marks() noexcept {
    for (std::uint32_t number = 0; number < header_->archetype_count; ++number)
        age_marks(archetypes_[number]);
    for (SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next))
        age_marks(table->rows);
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        age(components_[id].changed_tick);
}

}  // namespace ouro::detail
