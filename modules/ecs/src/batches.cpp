#include <ouro/ecs/detail/relation_lists.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>

#include <algorithm>
#include <cstring>

namespace ouro::detail {

Expected<Entity> WorldCore::clone(Entity entity, std::uint32_t number) noexcept {
    if (!has_free_slot()) return Status::capacity_exhausted;
    // Room for all of it first.
    const std::uint32_t from = slot_index(entity);
    for (SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next)) {
        SparseSet set(*this, *table);
        if ((table->role != SparseRole::plain && table->role != SparseRole::link) || set.find(from) == 0)
            continue;
        if (const Status status = set.reserve(next_slot()); status != Status::ok) return status;
    }
    const auto made = spawn_into(number);
    if (!made) return made;
    const EntitySlot source = slot_of(entity);
    const EntitySlot target = slot_of(*made);
    copy_rows(archetypes_[source.archetype], place_of_row(source.row), archetypes_[number],
              place_of_row(target.row), {.count = 1, .has_names = false});
    copy_sparse(entity, *made);
    return made;
}

void WorldCore::copy_sparse(Entity from, Entity to) noexcept {
    for (SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next)) {
        SparseSet set(*this, *table);
        const std::uint32_t row = set.find(slot_index(from));
        if (row == 0) continue;
        if (table->role == SparseRole::link) {
            RelationLists(*this, *table).link(to, set.cell<LinkValue>(row - 1).target);
        } else if (table->role == SparseRole::plain) {
            const auto made = set.add(to);
            OURO_ASSERT(made.has_value(), "there is room for what was reserved");
            std::memcpy(set.cell_bytes(*made), set.cell_bytes(row - 1), set.bytes());
        }
    }
}

void WorldCore::move_all(std::uint32_t source_number, std::uint32_t target_number) noexcept {
    ArchetypeRecord& source = archetypes_[source_number];
    ArchetypeRecord& target = archetypes_[target_number];
    const std::uint32_t rows = source.row_count;
    for (std::uint32_t done = 0; done < rows;) {
        const Status status = prepare_rows(target, declared_[target_number], rows - done);
        OURO_ASSERT(status == Status::ok, "there is room for what was reserved");
        const RowPlace from = place_of_row(done);
        const RowPlace to = place_of_row(target.row_count);
        const std::uint32_t count = std::min(
            {rows - done, rows_of_block(from.block) - from.index, rows_of_block(to.block) - to.index});
        const Entity* const names = &cell<Entity>(block(source, from.block)[0], from.index);
        if (events_.is_watching()) [[unlikely]]
            for (std::uint32_t i = 0; i < count; ++i)
                record_move(names[i], source.mask, target.mask);
        copy_rows(source, from, target, to, {.count = count});
        for (std::uint32_t i = 0; i < count; ++i) {
            EntitySlot& slot = declare_slot(slot_index(names[i]));
            slot.row = target.row_count + i;
            slot.archetype = static_cast<std::uint16_t>(target_number);
        }
        target.row_count += count;
        done += count;
    }
    if (rows != 0) forget_rows(source);
}

Status WorldCore::plan_move(std::uint32_t archetype, ComponentId id, bool adds,
                            std::uint32_t count) noexcept {
    const auto target = neighbour(archetype, id, adds);
    if (target) {
        planned_[*target] += count;
        return Status::ok;
    }
    forget_planned();
    return target.status();
}

Status WorldCore::reserve_planned() noexcept {
    Status status = Status::ok;
    for (std::uint32_t number = 0; number < header_->archetype_count && status == Status::ok; ++number)
        if (planned_[number] != 0) status = reserve_rows(archetypes_[number], planned_[number]);
    forget_planned();
    return status;
}

void WorldCore::forget_planned() noexcept {
    std::fill_n(planned_.begin(), header_->archetype_count, 0);
}

}  // namespace ouro::detail
