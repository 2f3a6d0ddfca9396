#include "touched_entities.hpp"

#include <algorithm>
#include <bit>

namespace ouro::detail {

std::uint32_t TouchedEntities::slot_count() const noexcept {
    return std::max(readers_[0]->header().used_slots, readers_[1]->header().used_slots);
}

Status TouchedEntities::reserve(bool has_places) noexcept {
    std::array<std::size_t, 2> counts{};
    for (unsigned side = 0; has_places && side < 2; ++side) {
        const auto count = count_places(*readers_[side]);
        if (!count) return count.status();
        counts[side] = *count;
    }
    const std::size_t words = (slot_count() + 63) / 64;
    auto memory = os::Reservation::create(
        {.bytes = (words + 1) * sizeof(std::uint64_t) + (counts[0] + counts[1]) * sizeof(Place)});
    if (!memory) return memory.status();
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    memory_ = *std::move(memory);
    // Fresh memory is zero.
    bits_ = {reinterpret_cast<std::uint64_t*>(memory_.block().data), words};
    auto* const places = reinterpret_cast<Place*>(memory_.block().data + words * sizeof(std::uint64_t));
    places_ = {std::span(places, counts[0]), std::span(places + counts[0], counts[1])};
    return Status::ok;
}

Status TouchedEntities::take_all() noexcept {
    if (const Status status = reserve(false); status != Status::ok) return status;
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot)
        take(slot);
    return Status::ok;
}

Status TouchedEntities::find(const TickView& before, const TickView& after) noexcept {
    if (const Status status = reserve(true); status != Status::ok) return status;
    for (unsigned side = 0; side < 2; ++side) {
        if (const Status status = list_places(side); status != Status::ok) return status;
        std::ranges::sort(places_[side].first(used_[side]), {}, &Place::begin);
    }
    StateRing::changed(before, after, [this](ChangedRange range) { take_range(range); });
    return Status::ok;
}

Expected<std::size_t> TouchedEntities::count_places(const WorldReader& reader) const noexcept {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < reader.header().archetype_count; ++i) {
        const auto archetype = reader.archetype(i);
        if (!archetype) return archetype.status();
        count += std::size_t{2} * archetype->block_count * archetype->column_count;
    }
    for (std::uint32_t id = 0; id < reader.header().component_count; ++id) {
        const auto component = reader.component(id);
        if (!component) return component.status();
        if (component->kind != ComponentKind::sparse) continue;
        const auto table = reader.sparse(*component);
        if (!table) return table.status();
        count += std::size_t{2} * table->rows.block_count * table->rows.column_count + table->page_count;
    }
    return count;
}

Status TouchedEntities::list_places(unsigned side) noexcept {
    const WorldReader& reader = *readers_[side];
    for (std::uint32_t number = 0; number < reader.header().archetype_count; ++number) {
        const auto archetype = reader.archetype(number);
        if (!archetype) return archetype.status();
        const auto other = readers_[1 - side]->archetype(number);
        const bool is_same = other && other->chain_hash == archetype->chain_hash;
        const Status status = list_rows(side, *archetype, is_same ? &*other : nullptr);
        if (status != Status::ok) return status;
    }
    for (std::uint32_t id = 0; id < reader.header().component_count; ++id)
        if (const Status status = list_sparse(side, id); status != Status::ok) return status;
    return Status::ok;
}

Status TouchedEntities::list_rows(unsigned side, const ArchetypeRecord& archetype,
                                  const ArchetypeRecord* other) noexcept {
    std::uint32_t left = archetype.row_count;
    for (std::uint32_t block = 0; left != 0; ++block) {
        const std::uint32_t rows = std::min(left, rows_of_block(block));
        const Status status = list_block(side, archetype, other, block, rows);
        if (status != Status::ok) return status;
        left -= rows;
    }
    return Status::ok;
}

// The rows of a sparse component, and which of them is whose: the last one goes without a trace in the rows.
Status TouchedEntities::list_sparse(unsigned side, std::uint32_t id) noexcept {
    const WorldReader& reader = *readers_[side];
    const auto component = reader.component(id);
    if (!component) return component.status();
    if (component->kind != ComponentKind::sparse) return Status::ok;
    const auto table = reader.sparse(*component);
    if (!table) return table.status();
    const auto record = readers_[1 - side]->component(id);
    const auto other =
        record ? readers_[1 - side]->sparse(*record) : Expected<SparseTable>(Status::not_found);
    const bool is_same = other && record->name == component->name;
    for (std::uint32_t page = 0; page < table->page_count; ++page) {
        const auto numbers = reader.load<std::uint32_t>(table->pages + std::uint64_t{page} * 4);
        if (!numbers || used_[side] == places_[side].size()) return Status::corrupt_data;
        if (*numbers == 0) continue;
        places_[side][used_[side]++] = {.begin = *numbers,
                                        .end = *numbers + std::uint64_t{kSparsePageSlots} * 4,
                                        .names = 0,
                                        .bytes = 4,
                                        .rows = kSparsePageSlots,
                                        .first_slot = page * kSparsePageSlots};
    }
    return list_rows(side, table->rows, is_same ? &other->rows : nullptr);
}

Status TouchedEntities::list_block(unsigned side, const ArchetypeRecord& archetype,
                                   const ArchetypeRecord* other, std::uint32_t block,
                                   std::uint32_t rows) noexcept {
    const WorldReader& reader = *readers_[side];
    std::uint64_t names = 0;
    for (std::uint32_t column = 0; column < archetype.column_count; ++column) {
        const auto own = reader.block_column(archetype, block, column);
        const auto shape = reader.column(archetype, column);
        if (!own || !shape || used_[side] + 2 > places_[side].size()) return Status::corrupt_data;
        if (column == 0) {
            if (shape->bytes != sizeof(Entity)) return Status::corrupt_data;
            names = own->data;
        }
        const Place place{.begin = own->data,
                          .end = own->data + std::uint64_t{rows} * shape->bytes,
                          .names = names,
                          .bytes = shape->bytes,
                          .rows = rows};
        places_[side][used_[side]++] = place;
        if (own->has_disabled != 0) {
            const std::uint64_t plane = rows_of_block(block) / 8;
            places_[side][used_[side]++] = {.begin = own->planes + 2 * plane,
                                            .end = own->planes + 3 * plane,
                                            .names = names,
                                            .bytes = 0,
                                            .rows = rows};
        }
        // What lies elsewhere now may lie where there were the same bytes before.
        const auto theirs = other == nullptr ? Expected<BlockColumn>(Status::not_found)
                                             : readers_[1 - side]->block_column(*other, block, column);
        if (!theirs || theirs->data != own->data) take_rows(reader, place, 0, rows);
    }
    return Status::ok;
}

void TouchedEntities::take_range(ChangedRange range) noexcept {
    for (unsigned side = 0; side < 2; ++side) {
        const WorldReader& reader = *readers_[side];
        take_slots(reader.header(), range);
        const auto all = places_[side].first(used_[side]);
        const std::uint64_t end = range.offset + range.bytes;
        auto place = std::ranges::upper_bound(all, range.offset, {}, &Place::begin);
        if (place != all.begin()) --place;
        for (; place != all.end() && place->begin < end; ++place) {
            if (place->end <= range.offset) continue;
            const std::uint64_t from = std::max(range.offset, place->begin) - place->begin;
            const std::uint64_t to = std::min(end, place->end) - place->begin;
            const bool is_bits = place->bytes == 0;
            const std::uint64_t first = is_bits ? from * 8 : from / place->bytes;
            const std::uint64_t last = is_bits ? to * 8 : (to + place->bytes - 1) / place->bytes;
            take_rows(reader, *place, static_cast<std::uint32_t>(std::min<std::uint64_t>(first, place->rows)),
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(last, place->rows)));
        }
    }
}

void TouchedEntities::take_slots(const WorldHeader& header, ChangedRange range) noexcept {
    const std::uint64_t begin = header.entities;
    const std::uint64_t end = begin + std::uint64_t{slot_count()} * sizeof(EntitySlot);
    const std::uint64_t from = std::max(range.offset, begin);
    const std::uint64_t to = std::min(range.offset + range.bytes, end);
    for (std::uint64_t at = from; at < to; at += sizeof(EntitySlot))
        take(static_cast<std::uint32_t>((at - begin) / sizeof(EntitySlot)));
}

void TouchedEntities::take_rows(const WorldReader& reader, const Place& place, std::uint32_t first,
                                std::uint32_t end) noexcept {
    for (std::uint32_t row = first; row < end; ++row) {
        if (place.names == 0) {
            take(place.first_slot + row);
            continue;
        }
        const auto entity = reader.load<Entity>(place.names + std::uint64_t{row} * sizeof(Entity));
        if (entity) take(static_cast<std::uint32_t>(entity->index()));
    }
}

}  // namespace ouro::detail
