#pragma once

#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/ecs/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

[[nodiscard]] inline std::uint32_t slot_index(Entity entity) noexcept {
    return static_cast<std::uint32_t>(entity.index());
}

// The operations of a SparseTable: a small value, made where it is used. Entities are named by their slots;
// they are alive, as whoever destroys one removes it from all tables first.
class SparseSet {
public:
    SparseSet(WorldCore& core, SparseTable& table) noexcept : core_(&core), table_(&table) {}
    // Requires: a sparse component that is registered.
    SparseSet(WorldCore& core, ComponentId id) noexcept : SparseSet(core, core.sparse_table(id)) {}

    [[nodiscard]] WorldCore& core() const noexcept { return *core_; }
    [[nodiscard]] SparseTable& table() const noexcept { return *table_; }
    [[nodiscard]] ArchetypeRecord& rows() const noexcept { return table_->rows; }
    [[nodiscard]] std::uint32_t size() const noexcept { return table_->rows.row_count; }
    [[nodiscard]] std::uint32_t bytes() const noexcept { return core_->columns_of(table_->rows)[1].bytes; }

    // The entity's row plus one, or zero. Slots that were never used have none either.
    [[nodiscard]] std::uint32_t find(std::uint32_t slot) const noexcept {
        const std::uint32_t page = pages()[slot / kSparsePageSlots];
        return page == 0 ? 0 : numbers(page)[slot % kSparsePageSlots];
    }
    [[nodiscard]] bool has(Entity entity) const noexcept { return find(slot_index(entity)) != 0; }

    // Room for one more row, and in the index for that slot. capacity_exhausted.
    [[nodiscard]] Status reserve(std::uint32_t slot) noexcept {
        if (pages()[slot / kSparsePageSlots] == 0) [[unlikely]]
            if (const Status status = add_page(slot / kSparsePageSlots); status != Status::ok) return status;
        const ArchetypeRecord& own = table_->rows;
        if (place_of_row(own.row_count).block < own.block_count) [[likely]]
            return Status::ok;
        return core_->reserve_rows(table_->rows, 1);
    }
    // A row whose component is declared and not written. Fails as reserve does. Requires: has none.
    [[nodiscard]] Expected<std::uint32_t> add(Entity entity) noexcept {
        const std::uint32_t slot = slot_index(entity);
        if (pages()[slot / kSparsePageSlots] == 0) [[unlikely]]
            if (const Status status = add_page(slot / kSparsePageSlots); status != Status::ok) return status;
        SparseReady& ready = core_->ready_of(*table_);
        const auto row = core_->take_row(table_->rows, ready.rows);
        if (!row) [[unlikely]]
            return row;
        const RowPlace place = place_of_row(*row);
        core_->cell<Entity>(block(place.block)[0], place.index) = entity;
        set(ready.units[0], slot, *row + 1);
        return row;
    }
    // Requires: has one. What is left has another order.
    void remove(std::uint32_t slot) noexcept {
        SparseReady& ready = core_->ready_of(*table_);
        const std::uint32_t row = find(slot) - 1;
        const Entity moved = core_->remove_row(table_->rows, ready.rows, row);
        if (!moved.is_null()) set(ready.units[1], slot_index(moved), row + 1);
        set(ready.units[0], slot, 0);
    }
    // The same when the type is known.
    template <class T>
    void remove(std::uint32_t slot) noexcept {
        ArchetypeRecord& own = table_->rows;
        const std::uint32_t row = find(slot) - 1;
        const std::uint32_t last = own.row_count - 1;
        const RowPlace from = place_of_row(last);
        const RowPlace to = place_of_row(row);
        BlockColumn* const from_columns = block(from.block);
        BlockColumn* const to_columns = block(to.block);
        // Rows that did not come in the same tick, or have marks, take the longer way.
        const bool is_plain =
            have_same_state(from_columns[1], to_columns[1]) &&
            (core_->now() - own.added_tick > 1 || row >= own.added_from || last < own.added_before);
        if (!is_plain) [[unlikely]]
            return remove(slot);
        SparseReady& ready = core_->ready_of(*table_);
        Entity& name = core_->cell<Entity>(to_columns[0], to.index);
        T& value = core_->cell<T>(to_columns[1], to.index);
        const Entity moved = core_->cell<Entity>(from_columns[0], from.index);
        core_->declare_near(ready.units[2], &name, sizeof(name));
        core_->declare_near(ready.units[3], &value, sizeof(value));
        name = moved;
        value = core_->cell<T>(from_columns[1], from.index);
        set(ready.units[1], slot_index(moved), row + 1);
        set(ready.units[0], slot, 0);
        own.row_count = last;
        own.added_from = std::min(own.added_from, last);
        own.added_before = std::min(own.added_before, last);
    }

    [[nodiscard]] BlockColumn* block(std::uint32_t number) const noexcept {
        return core_->block(table_->rows, number);
    }
    [[nodiscard]] Entity entity(std::uint32_t row) const noexcept {
        const RowPlace place = place_of_row(row);
        return core_->cell<Entity>(block(place.block)[0], place.index);
    }
    [[nodiscard]] BlockColumn& column(std::uint32_t block_number) const noexcept {
        return block(block_number)[1];
    }
    template <class T>
    [[nodiscard]] T& cell(std::uint32_t row) const noexcept {
        const RowPlace place = place_of_row(row);
        return core_->cell<T>(column(place.block), place.index);
    }
    [[nodiscard]] std::byte* cell_bytes(std::uint32_t row) const noexcept {
        const RowPlace place = place_of_row(row);
        return core_->at(column(place.block).data) + std::size_t{place.index} * bytes();
    }
    // Counts as changed, and is declared.
    template <class T>
    [[nodiscard]] T& edit(std::uint32_t row) const noexcept {
        const RowPlace place = place_of_row(row);
        BlockColumn& own = column(place.block);
        core_->declare_cell(own, place.block, place.index, sizeof(T));
        return core_->cell<T>(own, place.index);
    }

private:
    [[nodiscard]] std::uint32_t* pages() const noexcept { return numbers(table_->pages); }
    [[nodiscard]] std::uint32_t* numbers(std::uint32_t offset) const noexcept {
        return reinterpret_cast<std::uint32_t*>(core_->at(offset));
    }
    // Requires: the slot's page is there.
    void set(std::uintptr_t& unit, std::uint32_t slot, std::uint32_t number) noexcept {
        std::uint32_t& own = numbers(pages()[slot / kSparsePageSlots])[slot % kSparsePageSlots];
        core_->declare_near(unit, &own, sizeof(own));
        own = number;
    }
    [[nodiscard]] Status add_page(std::uint32_t number) noexcept;

    WorldCore* core_;
    SparseTable* table_;
};

}  // namespace ouro::detail
