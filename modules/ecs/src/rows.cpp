#include <ouro/ecs/detail/world_core.hpp>

#include <algorithm>
#include <cstring>

namespace ouro::detail {
namespace {

// The sizes of most components, without a call.
void copy_cell(std::byte* to, const std::byte* from, std::uint32_t bytes) noexcept {
    switch (bytes) {
        case 4:
            std::memcpy(to, from, 4);
            return;
        case 8:
            std::memcpy(to, from, 8);
            return;
        case 12:
            std::memcpy(to, from, 12);
            return;
        case 16:
            std::memcpy(to, from, 16);
            return;
        default:
            std::memcpy(to, from, bytes);
            return;
    }
}

}  // namespace

void WorldCore::note_added(ArchetypeRecord& archetype) noexcept {
    if (archetype.added_tick == now()) return;
    const std::uint32_t row = archetype.row_count;
    archetype.added_before = archetype.added_tick == now() - 1 ? std::min(archetype.added_from, row) : row;
    archetype.added_from = row;
    archetype.added_tick = now();
}

void WorldCore::declare_group(const ArchetypeRecord& archetype, std::uint32_t group) noexcept {
    const RowPlace place = place_of_row(group * 64);
    const BlockColumn* own = block(archetype, place.block);
    for (const ColumnRecord& column : columns_of(archetype)) {
        declare(at(own->data) + std::size_t{place.index} * column.bytes, std::size_t{64} * column.bytes);
        ++own;
    }
}

Status WorldCore::prepare_rows(std::uint32_t number, std::uint32_t count) noexcept {
    ArchetypeRecord& archetype = archetypes_[number];
    const RowPlace place = place_of_row(archetype.row_count);
    if (place.block == archetype.block_count)
        if (const Status status = add_block(archetype); status != Status::ok) return status;
    DeclaredRows& declared = declared_rows(number);
    note_added(archetype);
    const std::uint32_t first = archetype.row_count / 64;
    const std::uint32_t end = std::min(place.index + count, rows_of_block(place.block));
    for (std::uint32_t index = place.index / 64 * 64; index < end; index += 64)
        declare_group(archetype, first + (index - place.index / 64 * 64) / 64);
    declared.added_group = first;
    return Status::ok;
}

Expected<void> WorldCore::reserve(std::uint32_t number, std::uint32_t count) noexcept {
    const std::uint32_t occupied = header_->live_entities + header_->retired_slots;
    if (count > header_->max_entities - occupied) return Status::capacity_exhausted;
    ArchetypeRecord& archetype = archetypes_[number];
    // There are not so many entities that this could overflow.
    const std::uint64_t rows = std::uint64_t{archetype.row_count} + count;
    while (archetype.block_count == 0 || first_row_of_block(archetype.block_count) < rows)
        if (const Status status = add_block(archetype); status != Status::ok) return status;
    return {};
}

Expected<WorldCore::Run> WorldCore::spawn_run(std::uint32_t number, std::uint32_t count) noexcept {
    if (const Status status = prepare_rows(number, count); status != Status::ok) return status;
    ArchetypeRecord& archetype = archetypes_[number];
    const std::uint32_t row = archetype.row_count;
    const RowPlace place = place_of_row(row);
    const std::uint32_t taken = std::min(count, rows_of_block(place.block) - place.index);
    BlockColumn* const columns = block(archetype, place.block);
    auto* const names = reinterpret_cast<Entity*>(at(columns[0].data)) + place.index;
    for (std::uint32_t i = 0; i < taken; ++i)
        names[i] = take_slot(number, row + i);
    archetype.row_count = row + taken;
    return Run{columns, place.index, taken};
}

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

void WorldCore::destroy(Entity entity) noexcept {
    const EntitySlot slot = slot_of(entity);
    remove_row(slot.archetype, slot.row);
    free_slot(static_cast<std::uint32_t>(entity.index()));
}

void WorldCore::destroy_all(std::uint32_t number) noexcept {
    ArchetypeRecord& archetype = archetypes_[number];
    // From the end, so that slots are taken again in the order of the rows.
    for (std::uint32_t row = archetype.row_count; row-- != 0;) {
        const RowPlace place = place_of_row(row);
        free_slot(
            static_cast<std::uint32_t>(cell<Entity>(block(archetype, place.block)[0], place.index).index()));
    }
    for (std::uint32_t number_of_block = 0; number_of_block < archetype.block_count; ++number_of_block) {
        BlockColumn* const columns = block(archetype, number_of_block);
        for (unsigned i = 0; i < archetype.column_count; ++i)
            planes(columns[i], rows_of_block(number_of_block)).forget_all();
    }
    declared_rows(number);
    archetype.row_count = archetype.added_from = archetype.added_before = 0;
}

void WorldCore::remove_row(std::uint32_t number, std::uint32_t row) noexcept {
    ArchetypeRecord& archetype = archetypes_[number];
    const std::uint32_t last = archetype.row_count - 1;
    declare_hole(number, row);
    if (row != last) {
        move_last_into(archetype, row, last);
    } else {
        const RowPlace place = place_of_row(last);
        BlockColumn* const columns = block(archetype, place.block);
        for (unsigned i = 0; i < archetype.column_count; ++i)
            if (columns[i].planes != 0) planes(columns[i], rows_of_block(place.block)).forget(place.index);
    }
    archetype.row_count = last;
    archetype.added_from = std::min(archetype.added_from, last);
    archetype.added_before = std::min(archetype.added_before, last);
}

void WorldCore::move_last_into(ArchetypeRecord& archetype, std::uint32_t row, std::uint32_t last) noexcept {
    const RowPlace from = place_of_row(last);
    const RowPlace to = place_of_row(row);
    BlockColumn* const from_columns = block(archetype, from.block);
    BlockColumn* const to_columns = block(archetype, to.block);
    const std::uint32_t age = now() - archetype.added_tick;
    const bool came_now = age == 0 && last >= archetype.added_from && row < archetype.added_from;
    const bool came_before = (age == 0 && last >= archetype.added_before && last < archetype.added_from) ||
                             (age == 1 && last >= archetype.added_from && row < archetype.added_from);
    const std::span<const ColumnRecord> columns = columns_of(archetype);
    for (unsigned i = 0; i < columns.size(); ++i) {
        BlockColumn& source = from_columns[i];
        BlockColumn& target = to_columns[i];
        const std::size_t bytes = columns[i].bytes;
        copy_cell(at(target.data) + to.index * bytes, at(source.data) + from.index * bytes, columns[i].bytes);
        // Most rows have nothing to carry: no bits, and flags that hold for both or are old.
        const bool has_old_flags = now() - source.tick > 1 && now() - target.tick > 1;
        if (source.planes == 0 && target.planes == 0 && !came_now && !came_before &&
            (&source == &target || has_old_flags))
            continue;
        ChangePlanes::carry(planes(source, rows_of_block(from.block)), from.index,
                            planes(target, rows_of_block(to.block)), to.index, came_now, came_before);
    }
    const Entity moved = cell<Entity>(to_columns[0], to.index);
    declare_moved_slot(static_cast<std::uint32_t>(moved.index())).row = row;
}

void WorldCore::copy_shared(const ArchetypeRecord& source, RowPlace from, const ArchetypeRecord& target,
                            RowPlace to) noexcept {
    BlockColumn* const from_columns = block(source, from.block);
    BlockColumn* const to_columns = block(target, to.block);
    const std::span<const ColumnRecord> source_columns = columns_of(source);
    const std::span<const ColumnRecord> target_columns = columns_of(target);
    // Both in the order of components.
    for (unsigned s = 0, t = 0; s < source_columns.size() && t < target_columns.size();) {
        const ColumnRecord& one = source_columns[s];
        if (one.component != target_columns[t].component) {
            one.component < target_columns[t].component ? ++s : ++t;
            continue;
        }
        const std::size_t bytes = one.bytes;
        copy_cell(at(to_columns[t].data) + to.index * bytes, at(from_columns[s].data) + from.index * bytes,
                  one.bytes);
        if (from_columns[s].has_disabled != 0) {
            const bool is_off = planes(from_columns[s], rows_of_block(from.block)).is_disabled(from.index);
            // There is room: both are columns that can be switched off.
            if (is_off)
                static_cast<void>(
                    planes(to_columns[t], rows_of_block(to.block)).set_disabled(to.index, true));
        }
        ++s;
        ++t;
    }
}

Expected<std::uint32_t> WorldCore::move(Entity entity, std::uint32_t target_number) noexcept {
    const auto row = take_row(target_number);
    if (!row) return row.status();
    const EntitySlot slot = slot_of(entity);
    copy_shared(archetypes_[slot.archetype], place_of_row(slot.row), archetypes_[target_number],
                place_of_row(*row));
    remove_row(slot.archetype, slot.row);
    EntitySlot& own = declare_slot(static_cast<std::uint32_t>(entity.index()));
    own.row = *row;
    own.archetype = static_cast<std::uint16_t>(target_number);
    return *row;
}

}  // namespace ouro::detail
