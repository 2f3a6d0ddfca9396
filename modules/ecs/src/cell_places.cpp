#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

void CellPlace::note(std::uint64_t name, std::uint64_t now, const ArchetypeRecord& archetype, unsigned column,
                     std::size_t bytes, const std::byte* base) noexcept {
    std::uint64_t known = __atomic_load_n(&epoch_, __ATOMIC_ACQUIRE);
    if (known == kBusy || (known == now && __atomic_load_n(&name_, __ATOMIC_RELAXED) != name)) return;
    if (!__atomic_compare_exchange_n(&epoch_, &known, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    // What others read of it in this epoch stays what it was, but for blocks that came meanwhile.
    for (std::uint32_t block = 0; block < kMaxBlocks; ++block) {
        std::uint32_t& first_cell = first_cells_[block_key(first_row_of_block(block))];
        if (block >= archetype.block_count) {
            __atomic_store_n(&first_cell, 0, __ATOMIC_RELAXED);
            continue;
        }
        const std::uint32_t place = archetype.blocks[block] + column * std::uint32_t{sizeof(BlockColumn)};
        const auto& own = *reinterpret_cast<const BlockColumn*>(base + place);
        const auto before = static_cast<std::uint32_t>(first_row_of_block(block) * bytes);
        __atomic_store_n(&columns_[block], place, __ATOMIC_RELAXED);
        __atomic_store_n(&first_cell, own.data - before, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&name_, name, __ATOMIC_RELAXED);
    __atomic_store_n(&epoch_, now, __ATOMIC_RELEASE);
}

BlockColumn* WorldCore::look_up_cell(std::uint32_t type, Entity entity, std::size_t bytes,
                                     RowPlace& place) const noexcept {
    EntitySlot slot{};
    if (!find_slot(entity, slot)) return nullptr;
    const ArchetypeRecord& archetype = archetypes_[slot.archetype];
    const unsigned column = column_of(archetype, id_of_type(type));
    if (column == 0) return nullptr;
    const std::uint64_t name = CellPlace::name_of(type, slot.archetype);
    cell_places_[cell_place_of(name)].note(name, marks_.epoch(), archetype, column - 1, bytes, base_);
    place = place_of_row(slot.row);
    return block(archetype, place.block) + (column - 1);
}

}  // namespace ouro::detail
