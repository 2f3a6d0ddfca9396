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

Status WorldCore::prepare_rows(ArchetypeRecord& archetype, DeclaredRows& declared,
                               std::uint32_t count) noexcept {
    const RowPlace place = place_of_row(archetype.row_count);
    if (place.block == archetype.block_count)
        if (const Status status = add_block(archetype); status != Status::ok) return status;
    begin_epoch(archetype, declared);
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
    const Status status = reserve_rows(archetypes_[number], count);
    return status == Status::ok ? Expected<void>() : status;
}

Status WorldCore::reserve_rows(ArchetypeRecord& archetype, std::uint32_t count) noexcept {
    // There are not so many entities that this could overflow.
    const std::uint64_t rows = std::uint64_t{archetype.row_count} + count;
    while (archetype.block_count == 0 || first_row_of_block(archetype.block_count) < rows)
        if (const Status status = add_block(archetype); status != Status::ok) return status;
    return Status::ok;
}

Expected<WorldCore::Run> WorldCore::spawn_run(std::uint32_t number, std::uint32_t count) noexcept {
    ArchetypeRecord& archetype = archetypes_[number];
    if (const Status status = prepare_rows(archetype, declared_[number], count); status != Status::ok)
        return status;
    const std::uint32_t row = archetype.row_count;
    const RowPlace place = place_of_row(row);
    const std::uint32_t taken = std::min(count, rows_of_block(place.block) - place.index);
    BlockColumn* const columns = block(archetype, place.block);
    auto* const names = reinterpret_cast<Entity*>(at(columns[0].data)) + place.index;
    for (std::uint32_t i = 0; i < taken; ++i)
        names[i] = take_slot(number, row + i);
    archetype.row_count = row + taken;
    if (events_.is_watching()) [[unlikely]]
        for (std::uint32_t i = 0; i < taken; ++i)
            record_added(names[i], archetype.mask);
    return Run{columns, place.index, taken};
}

Entity WorldCore::remove_row(ArchetypeRecord& archetype, DeclaredRows& declared, std::uint32_t row) noexcept {
    const std::uint32_t last = archetype.row_count - 1;
    Entity moved;
    declare_hole(archetype, declared, row);
    if (row != last) {
        moved = move_last_into(archetype, row, last);
    } else {
        const RowPlace place = place_of_row(last);
        BlockColumn* const columns = block(archetype, place.block);
        for (unsigned i = 0; i < archetype.column_count; ++i)
            if (columns[i].planes != 0) planes(columns[i], rows_of_block(place.block)).forget(place.index);
    }
    archetype.row_count = last;
    archetype.added_from = std::min(archetype.added_from, last);
    archetype.added_before = std::min(archetype.added_before, last);
    return moved;
}

Entity WorldCore::move_last_into(ArchetypeRecord& archetype, std::uint32_t row, std::uint32_t last) noexcept {
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
        // Nobody asks whether a name was changed. Most other rows have nothing to carry: no bits, and flags
        // that hold for both or are old.
        const bool has_old_flags = now() - source.tick > 1 && now() - target.tick > 1;
        const bool is_plain = source.planes == 0 && target.planes == 0 && !came_now && !came_before &&
                              (&source == &target || has_old_flags);
        if (i == 0 || is_plain) continue;
        ChangePlanes::carry(planes(source, rows_of_block(from.block)), from.index,
                            planes(target, rows_of_block(to.block)), to.index, came_now, came_before);
    }
    return cell<Entity>(to_columns[0], to.index);
}

void WorldCore::copy_rows(const ArchetypeRecord& source, RowPlace from, const ArchetypeRecord& target,
                          RowPlace to, RowCopy copy) noexcept {
    const BlockColumn* const from_columns = block(source, from.block);
    BlockColumn* const to_columns = block(target, to.block);
    const std::span<const ColumnRecord> source_columns = columns_of(source);
    const std::span<const ColumnRecord> target_columns = columns_of(target);
    const unsigned first = copy.has_names ? 0 : 1;
    // Both in the order of components.
    for (unsigned s = first, t = first; s < source_columns.size() && t < target_columns.size();) {
        const ColumnRecord& one = source_columns[s];
        if (one.component != target_columns[t].component) {
            one.component < target_columns[t].component ? ++s : ++t;
            continue;
        }
        const std::size_t bytes = one.bytes;
        std::byte* const out = at(to_columns[t].data) + to.index * bytes;
        const std::byte* const in = at(from_columns[s].data) + from.index * bytes;
        if (copy.count == 1)
            copy_cell(out, in, one.bytes);
        else
            std::memcpy(out, in, copy.count * bytes);
        if (one.toggles != 0 && from_columns[s].has_disabled != 0) {
            const ChangePlanes own =
                planes(const_cast<BlockColumn&>(from_columns[s]), rows_of_block(from.block));
            ChangePlanes other = planes(to_columns[t], rows_of_block(to.block));
            for (std::uint32_t i = 0; i < copy.count; ++i)
                if (own.is_disabled(from.index + i))
                    static_cast<void>(other.set_disabled(to.index + i, true));
        }
        ++s;
        ++t;
    }
}

Expected<std::uint32_t> WorldCore::move(Entity entity, std::uint32_t target_number) noexcept {
    const auto row = take_row(target_number);
    if (!row) return row.status();
    const EntitySlot slot = slot_of(entity);
    const ArchetypeRecord& source = archetypes_[slot.archetype];
    const ArchetypeRecord& target = archetypes_[target_number];
    if (events_.is_watching()) [[unlikely]]
        record_move(entity, source.mask, target.mask);
    copy_rows(source, place_of_row(slot.row), target, place_of_row(*row), {});
    remove_entity_row(slot.archetype, slot.row);
    EntitySlot& own = declare_slot(static_cast<std::uint32_t>(entity.index()));
    own.row = *row;
    own.archetype = static_cast<std::uint16_t>(target_number);
    return *row;
}

}  // namespace ouro::detail
