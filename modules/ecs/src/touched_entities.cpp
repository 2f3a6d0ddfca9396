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
        for (std::uint32_t i = 0; i < readers_[side]->header().archetype_count; ++i) {
            const auto archetype = readers_[side]->archetype(i);
            if (!archetype) return archetype.status();
            counts[side] += std::size_t{2} * archetype->block_count * archetype->column_count;
        }
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

Status TouchedEntities::list_places(unsigned side) noexcept {
    const WorldReader& reader = *readers_[side];
    for (std::uint32_t number = 0; number < reader.header().archetype_count; ++number) {
        const auto archetype = reader.archetype(number);
        if (!archetype) return archetype.status();
        std::uint32_t left = archetype->row_count;
        for (std::uint32_t block = 0; left != 0; ++block) {
            const std::uint32_t rows = std::min(left, rows_of_block(block));
            const Status status = list_block(side, *archetype, number, block, rows);
            if (status != Status::ok) return status;
            left -= rows;
        }
    }
    return Status::ok;
}

Status TouchedEntities::list_block(unsigned side, const ArchetypeRecord& archetype, std::uint32_t number,
                                   std::uint32_t block, std::uint32_t rows) noexcept {
    const WorldReader& reader = *readers_[side];
    std::uint64_t names = 0;
    for (std::uint32_t column = 0; column < archetype.column_count; ++column) {
        const auto own = reader.block_column(archetype, block, column);
        const auto shape = reader.column(archetype, column);
        // A block that is not whole: it was counted with as many columns and blocks.
        if (!own || !shape || used_[side] + 2 > places_[side].size()) return Status::corrupt_data;
        if (column == 0) {
            if (shape->bytes != sizeof(Entity)) return Status::corrupt_data;
            names = own->data;
        }
        const Place place{own->data, own->data + std::uint64_t{rows} * shape->bytes, names, shape->bytes,
                          rows};
        places_[side][used_[side]++] = place;
        if (own->has_disabled != 0) {
            const std::uint64_t plane = rows_of_block(block) / 8;
            places_[side][used_[side]++] = {own->planes + 2 * plane, own->planes + 3 * plane, names, 0, rows};
        }
        if (has_moved(side, archetype, number, block, column)) take_rows(reader, place, 0, rows);
    }
    return Status::ok;
}

// What lies elsewhere now may lie where there were the same bytes before.
bool TouchedEntities::has_moved(unsigned side, const ArchetypeRecord& archetype, std::uint32_t number,
                                std::uint32_t block, std::uint32_t column) const noexcept {
    const WorldReader& other = *readers_[1 - side];
    const auto record = other.archetype(number);
    if (!record || record->chain_hash != archetype.chain_hash) return true;
    const auto theirs = other.block_column(*record, block, column);
    const auto own = readers_[side]->block_column(archetype, block, column);
    return !theirs || !own || theirs->data != own->data;
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
        const auto entity = reader.load<Entity>(place.names + std::uint64_t{row} * sizeof(Entity));
        if (entity) take(static_cast<std::uint32_t>(entity->index()));
    }
}

}  // namespace ouro::detail
