#pragma once

#include <ouro/ecs/detail/change_planes.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/streams/image_heap.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::detail {

static_assert(std::endian::native == std::endian::little, "an image is read as it lies there");

// Where everything of a world is in the image, and how it is declared before it is written. Changes nothing
// but change marks.
class WorldImage {
public:
    [[nodiscard]] StateRing& ring() const noexcept { return ring_.ring(); }
    [[nodiscard]] ImageHeap& heap() noexcept { return heap_; }
    [[nodiscard]] const WorldHeader& header() const noexcept { return *header_; }
    // Not when the ring went back to before it was made, nor when another was made in its place since.
    [[nodiscard]] bool is_there() const noexcept {
        return header_->magic == WorldHeader::kMagic && at(header_->entities) == start_of(slots_) &&
               at(header_->archetypes) == start_of(archetypes_) && header_->max_archetypes == max_archetypes_;
    }
    // In checked builds, before anything else is done with it.
    void expect_not_replaced() const noexcept {
        OURO_DEBUG_ASSERT(header_->magic != WorldHeader::kMagic || is_there(),
                          "another world was made in the place of this one after a rollback: use the object "
                          "that World::create returned then");
    }
    [[nodiscard]] std::uint32_t offset_of_header() const noexcept { return heap_.offset_of(header_); }
    [[nodiscard]] std::uint32_t segment_offset() const noexcept {
        return heap_.offset_of(heap_.segment().data);
    }
    [[nodiscard]] DirtyMap& marks() noexcept { return marks_; }
    [[nodiscard]] std::byte* at(std::uint32_t offset) const noexcept { return base_ + offset; }
    [[nodiscard]] std::uint32_t now() const noexcept { return header_->tick; }
    // See World.
    [[nodiscard]] std::uint64_t loads() const noexcept { return loads_; }
    [[nodiscard]] const ComponentRecord& component(ComponentId id) const noexcept { return components_[id]; }

    // --- entities
    [[nodiscard]] bool has_free_slot() const noexcept {
        return header_->first_free != 0 || header_->used_slots < header_->max_entities;
    }
    // Ok when there are so many; asked before types are made known. not_found where the world is gone.
    [[nodiscard]] Status check_free_slots(std::uint32_t count) const noexcept {
        if (!is_there()) return Status::not_found;
        const std::uint32_t taken = header_->live_entities + header_->retired_slots;
        return count <= header_->max_entities - taken ? Status::ok : Status::capacity_exhausted;
    }
    // Which slot is taken next. Requires: has_free_slot().
    [[nodiscard]] std::uint32_t next_slot() const noexcept {
        return header_->first_free != 0 ? header_->first_free - 1 : header_->used_slots;
    }
    [[nodiscard]] bool is_alive(Entity entity) const noexcept {
        EntitySlot slot{};
        return find_slot(entity, slot);
    }
    // Where it is; false when it is gone.
    [[nodiscard]] bool find_slot(Entity entity, EntitySlot& found) const noexcept {
        const auto index = static_cast<std::uint32_t>(entity.index());
        if (index >= header_->used_slots) [[unlikely]]
            return false;
        // All of it in one number. Less the generation that is asked for, the upper half is the archetype's
        // number, or it is too large for one.
        const auto bits = std::bit_cast<std::uint64_t>(slots_[index]);
        const std::uint64_t archetype = (bits >> 32) - (std::uint64_t{entity.generation()} << 16);
        found.row = static_cast<std::uint32_t>(bits);
        found.archetype = static_cast<std::uint16_t>(archetype);
        found.generation = static_cast<std::uint16_t>(entity.generation());
        return archetype < kNoArchetype;
    }
    // How many of a list, from the first on, have names one behind the other, and slots that are so too.
    [[nodiscard]] std::size_t count_run(std::span<const Entity> entities) const noexcept {
        const auto first = static_cast<std::uint32_t>(entities[0].index());
        if (first >= header_->used_slots) return 0;
        const std::size_t most = std::min(entities.size(), std::size_t{header_->used_slots - first});
        const std::uint64_t name = entities[0].bits();
        const EntitySlot* const slots = slots_ + first;
        const auto slot = std::bit_cast<std::uint64_t>(slots[0]);
        std::size_t count = 1;
        while (count < most && entities[count].bits() == name + count &&
               std::bit_cast<std::uint64_t>(slots[count]) == slot + count)
            ++count;
        return count;
    }
    void prefetch_slot(Entity entity) const noexcept { __builtin_prefetch(slots_ + entity.index()); }
    // Requires: there is one in the slot.
    [[nodiscard]] Entity entity_at(std::uint32_t slot) const noexcept {
        return Entity(slot, slots_[slot].generation);
    }
    // Requires: alive.
    [[nodiscard]] EntitySlot slot_of(Entity entity) const noexcept { return slots_[entity.index()]; }

    // --- archetypes
    [[nodiscard]] std::span<const ArchetypeRecord> archetypes() const noexcept {
        return {archetypes_, header_->archetype_count};
    }
    [[nodiscard]] ArchetypeRecord& archetype(std::uint32_t number) noexcept { return archetypes_[number]; }
    [[nodiscard]] std::span<const ColumnRecord> columns_of(const ArchetypeRecord& archetype) const noexcept {
        return {reinterpret_cast<const ColumnRecord*>(at(archetype.columns)), archetype.column_count};
    }
    // Of a component, plus one; zero: the archetype has no such column.
    [[nodiscard]] unsigned column_of(const ArchetypeRecord& archetype, ComponentId id) const noexcept {
        return id < archetype.column_map_bytes ? static_cast<unsigned>(at(archetype.column_map)[id]) : 0;
    }
    [[nodiscard]] BlockColumn* block(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept {
        return reinterpret_cast<BlockColumn*>(at(archetype.blocks[number]));
    }
    [[nodiscard]] BlockColumn* columns_at(std::uint32_t offset) const noexcept {
        return reinterpret_cast<BlockColumn*>(at(offset));
    }
    // Whether it is the one that had this hash, whatever was rolled back since.
    [[nodiscard]] bool is_archetype(std::uint32_t number, std::uint64_t chain_hash) const noexcept {
        return number < header_->archetype_count && archetypes_[number].chain_hash == chain_hash;
    }

    // Requires: it is one.
    [[nodiscard]] SparseTable& sparse_table(ComponentId id) const noexcept {
        return *reinterpret_cast<SparseTable*>(at(components_[id].data));
    }
    // All of them in the order of the components: null at the end.
    [[nodiscard]] SparseTable* sparse_at(std::uint32_t offset) const noexcept {
        return offset == 0 ? nullptr : reinterpret_cast<SparseTable*>(at(offset));
    }

    template <class T>
    [[nodiscard]] T& cell(const BlockColumn& column, std::uint32_t index) const noexcept {
        return reinterpret_cast<T*>(at(column.data))[index];
    }
    // Of a column that the archetype has, by its number plus one.
    template <class T>
    [[nodiscard]] T& cell_of_row(std::uint32_t archetype, unsigned column, std::uint32_t row) const noexcept {
        const RowPlace place = place_of_row(row);
        return cell<T>(block(archetypes_[archetype], place.block)[column - 1], place.index);
    }
    // Null when the entity has no such column. Requires: alive.
    [[nodiscard]] std::byte* find_cell(EntitySlot slot, ComponentId id, std::size_t bytes) const noexcept {
        const ArchetypeRecord& archetype = archetypes_[slot.archetype];
        const unsigned column = column_of(archetype, id);
        if (column == 0) [[unlikely]]
            return nullptr;
        const RowPlace place = place_of_row(slot.row);
        return at(block(archetype, place.block)[column - 1].data) + place.index * bytes;
    }
    [[nodiscard]] BlockColumn* find_column(Entity entity, ComponentId id, RowPlace& place) const noexcept {
        const EntitySlot slot = slots_[entity.index()];
        const ArchetypeRecord& archetype = archetypes_[slot.archetype];
        const unsigned column = column_of(archetype, id);
        if (column == 0) [[unlikely]]
            return nullptr;
        place = place_of_row(slot.row);
        return block(archetype, place.block) + (column - 1);
    }

    // --- changes
    [[nodiscard]] ChangePlanes planes(BlockColumn& column, std::uint32_t block_rows) noexcept {
        return {heap_, column, block_rows, now()};
    }
    // Row of a column that is about to be written.
    void declare_cell(BlockColumn& column, std::uint32_t block_number, std::uint32_t index,
                      std::size_t bytes) noexcept {
        planes(column, rows_of_block(block_number)).mark(index);
        declare(at(column.data) + index * bytes, bytes);
    }
    // Rows of a column, all of a block as far as it is used.
    void declare_all(BlockColumn& column, std::uint32_t block_number, std::uint32_t rows,
                     std::size_t bytes) noexcept {
        if (column.tick != now() || column.now != Changes::all) declare(&column, sizeof(BlockColumn));
        planes(column, rows_of_block(block_number)).mark_all();
        declare(at(column.data), rows * bytes);
    }
    void declare(const void* address, std::size_t bytes) noexcept { heap_.mark(address, bytes); }
    // Declares what often lies in the unit that was declared last, since the epoch began.
    [[nodiscard]] bool is_near(std::uintptr_t unit, const void* address, std::size_t bytes) const noexcept {
        const std::uintptr_t within = reinterpret_cast<std::uintptr_t>(address) - unit;
        return within < unit_bytes_ && bytes <= unit_bytes_ - within;
    }
    void declare_near(std::uintptr_t& unit, const void* address, std::size_t bytes) noexcept {
        if (is_near(unit, address, bytes)) [[likely]]
            return;
        declare(address, bytes);
        unit = reinterpret_cast<std::uintptr_t>(
            marks_.unit_of(static_cast<const std::byte*>(address) + bytes - 1));
    }

protected:
    WorldImage(StateRing& ring, const ImageHeap& heap) noexcept
        : ring_(ring.place()),
          heap_(heap),
          marks_(ring.marks()),
          base_(ring.base().start()),
          unit_bytes_(marks_.unit_bytes()) {}
    WorldImage(const WorldImage&) = delete;
    WorldImage& operator=(const WorldImage&) = delete;
    ~WorldImage() = default;

    template <class T>
    [[nodiscard]] static std::byte* start_of(T* table) noexcept {
        return reinterpret_cast<std::byte*>(table);
    }

    StateRingPlace ring_;
    ImageHeap heap_;
    DirtyMap marks_;
    std::byte* base_;
    std::size_t unit_bytes_;
    WorldHeader* header_ = nullptr;
    EntitySlot* slots_ = nullptr;
    ArchetypeRecord* archetypes_ = nullptr;
    ComponentRecord* components_ = nullptr;
    // Tables outside the image are as large.
    std::uint32_t max_archetypes_ = 0;
    // Outside the image too.
    std::uint64_t loads_ = 0;
};

// A tag has no cells; what fills it gets one for all.
template <class T>
[[nodiscard]] T& cell_or_tag(T* first, std::uint32_t index) noexcept {
    if constexpr (kIsTag<T>) {
        static T tag{};
        return tag;
    } else {
        return first[index];
    }
}

}  // namespace ouro::detail
