#include <ouro/ecs/detail/world_core.hpp>

#include <algorithm>
#include <cstring>

namespace ouro::detail {
namespace {

// The sizes of most components, without a call.
inline void copy_cell(std::byte* to, const std::byte* from, std::uint32_t bytes) noexcept {
    if (bytes == 8) [[likely]] {
        std::memcpy(to, from, 8);
        return;
    }
    switch (bytes) {
        case 4:
            std::memcpy(to, from, 4);
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

// All but places, as one number.
inline std::uint64_t flags_of(const BlockColumn& column) noexcept {
    std::uint64_t flags = 0;
    std::memcpy(&flags, &column.tick, sizeof(flags));
    static_assert(offsetof(BlockColumn, tick) + sizeof(flags) == sizeof(BlockColumn));
    return flags;
}

}  // namespace

void WorldCore::note_added(ArchetypeRecord& archetype) noexcept {
    if (archetype.added_tick == now()) return;
    const std::uint32_t row = archetype.row_count;
    archetype.added_before = archetype.added_tick == now() - 1 ? std::min(archetype.added_from, row) : row;
    archetype.added_from = row;
    archetype.added_tick = now();
}

[[gnu::noinline]] void WorldCore::declare_groups(const ArchetypeRecord& archetype, std::uint32_t group,
                                                 std::uint32_t count) noexcept {
    const RowPlace place = place_of_row(group * 64);
    const BlockColumn* own = block(archetype, place.block);
    for (const ColumnRecord& column : columns_of(archetype)) {
        declare(at(own->data) + std::size_t{place.index} * column.bytes,
                std::size_t{count} * 64 * column.bytes);
        ++own;
    }
}

[[gnu::noinline]] Status WorldCore::prepare_rows(ArchetypeRecord& archetype, DeclaredRows& declared,
                                                 std::uint32_t count) noexcept {
    const RowPlace place = place_of_row(archetype.row_count);
    if (place.block == archetype.block_count)
        if (const Status status = add_block(archetype); status != Status::ok) return status;
    begin_epoch(archetype, declared);
    note_added(archetype);
    const std::uint32_t first = archetype.row_count / 64;
    // Whole groups.
    const std::uint32_t end = std::min(place.index + count, rows_of_block(place.block));
    declare_groups(archetype, first, (end - place.index / 64 * 64 + 63) / 64);
    declared.added_group = first;
    return Status::ok;
}

void WorldCore::open_window(SpawnPlan& plan, std::uint32_t row) noexcept {
    ArchetypeRecord& archetype = archetypes_[plan.archetype];
    const RowPlace place = place_of_row(row / 64 * 64);
    const BlockColumn* const own = block(archetype, place.block);
    const std::span<const ColumnRecord> columns = columns_of(archetype);
    plan.names = reinterpret_cast<Entity*>(at(own[0].data)) + place.index;
    for (std::uint32_t i = 0; i < plan.type_count; ++i) {
        if (plan.columns[i] == 0) continue;
        const unsigned column = plan.columns[i] - 1U;
        plan.cells[i] = at(own[column].data) + std::size_t{place.index} * columns[column].bytes;
    }
    plan.record = &archetype;
    plan.group = row / 64;
    plan.epoch = marks_.epoch();
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
    take_slots(number, row, {names, taken});
    archetype.row_count = row + taken;
    if (events_.is_watching()) [[unlikely]]
        for (std::uint32_t i = 0; i < taken; ++i)
            record_added(names[i], archetype.mask);
    return Run{columns, place.index, taken};
}

void WorldCore::take_slots(std::uint32_t number, std::uint32_t row, std::span<Entity> names) noexcept {
    std::uint32_t done = 0;
    const auto count = static_cast<std::uint32_t>(names.size());
    for (; done < count && header_->first_free != 0; ++done)
        names[done] = take_slot(number, row + done);
    // Those that are left were never used, and lie side by side.
    const std::uint32_t first = header_->used_slots;
    const std::uint32_t fresh = count - done;
    if (fresh == 0) return;
    declare_header();
    header_->used_slots = first + fresh;
    header_->live_entities += fresh;
    EntitySlot* const slots = slots_ + first;
    Entity* const own = names.data() + done;
    declare(slots, std::size_t{fresh} * sizeof(EntitySlot));
    for (std::uint32_t i = 0; i < fresh; ++i) {
        slots[i] = {row + done + i, static_cast<std::uint16_t>(number), 1};
        own[i] = Entity(first + i, 1);
    }
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
    // Once: what is written below could be anything, as far as the compiler knows.
    std::byte* const base = base_;
    BlockColumn* const from_columns = block(archetype, from.block);
    BlockColumn* const to_columns = block(archetype, to.block);
    const ColumnRecord* const columns = columns_of(archetype).data();
    const unsigned count = archetype.column_count;
    const std::uint32_t tick = now();
    const std::uint32_t age = tick - archetype.added_tick;
    // Rows that came in the same tick, or long ago.
    const bool is_even = age > 1 || row >= archetype.added_from || last < archetype.added_before;
    // Nobody asks whether a name was changed.
    const Entity moved = cell<Entity>(from_columns[0], from.index);
    cell<Entity>(to_columns[0], to.index) = moved;
    for (unsigned i = 1; i < count; ++i) {
        BlockColumn& source = from_columns[i];
        BlockColumn& target = to_columns[i];
        const std::uint32_t bytes = columns[i].bytes;
        // Most rows have nothing to carry: no bits, and flags that hold for both or are old.
        const bool has_bits = (source.planes | target.planes) != 0;
        const bool has_same_flags =
            flags_of(source) == flags_of(target) || (tick - source.tick > 1 && tick - target.tick > 1);
        copy_cell(base + target.data + std::size_t{to.index} * bytes,
                  base + source.data + std::size_t{from.index} * bytes, bytes);
        if (is_even && !has_bits && has_same_flags) [[likely]]
            continue;
        const bool came_now = age == 0 && last >= archetype.added_from && row < archetype.added_from;
        const bool came_before =
            (age == 0 && last >= archetype.added_before && last < archetype.added_from) ||
            (age == 1 && last >= archetype.added_from && row < archetype.added_from);
        ChangePlanes::carry(planes(source, rows_of_block(from.block)), from.index,
                            planes(target, rows_of_block(to.block)), to.index, came_now, came_before);
    }
    return moved;
}

[[gnu::noinline]] void WorldCore::copy_rows(const ArchetypeRecord& source, RowPlace from,
                                            const ArchetypeRecord& target, RowPlace to,
                                            RowCopy copy) noexcept {
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

void WorldCore::copy_row(const MovePlan& plan, const ArchetypeRecord& source, RowPlace from,
                         const ArchetypeRecord& target, RowPlace to) noexcept {
    if (!plan.is_simple) return copy_rows(source, from, target, to, {.has_names = false});
    std::byte* const base = base_;
    const BlockColumn* const from_columns = block(source, from.block);
    const BlockColumn* const to_columns = block(target, to.block);
    const unsigned count = plan.pair_count;
    for (unsigned i = 0; i < count; ++i) {
        const ColumnPair pair = plan.pairs[i];
        copy_cell(base + to_columns[pair.to].data + std::size_t{to.index} * pair.bytes,
                  base + from_columns[pair.from].data + std::size_t{from.index} * pair.bytes, pair.bytes);
    }
}

// One piece: of the instructions of a move, a third would save registers for the calls.
[[gnu::flatten]] Expected<std::uint32_t> WorldCore::move(Entity entity, const MovePlan& plan) noexcept {
    const auto row = take_row(plan.target);
    if (!row) [[unlikely]]
        return row.status();
    const EntitySlot slot = slot_of(entity);
    const ArchetypeRecord& source = archetypes_[slot.archetype];
    const ArchetypeRecord& target = archetypes_[plan.target];
    if (events_.is_watching()) [[unlikely]]
        record_move(entity, source.mask, target.mask);
    const RowPlace to = place_of_row(*row);
    cell<Entity>(block(target, to.block)[0], to.index) = entity;
    copy_row(plan, source, place_of_row(slot.row), target, to);
    remove_entity_row(slot.archetype, slot.row);
    EntitySlot& own = declare_slot(static_cast<std::uint32_t>(entity.index()));
    own = {*row, static_cast<std::uint16_t>(plan.target), slot.generation};
    return *row;
}

}  // namespace ouro::detail
