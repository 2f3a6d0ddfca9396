#pragma once

#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/ecs/layout.hpp>

#include <algorithm>
#include <array>
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
    // The same for so many rows, and for all slots below one.
    [[nodiscard]] Status reserve_many(std::uint32_t count, std::uint32_t end_slot) noexcept {
        for (std::uint32_t page = 0; page * kSparsePageSlots < end_slot; ++page)
            if (pages()[page] == 0)
                if (const Status status = add_page(page); status != Status::ok) return status;
        return core_->reserve_rows(table_->rows, count);
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
        if (core_->is_watching(EventKind::added, table_->component)) [[unlikely]]
            record_added(entity);
        return row;
    }
    // Requires: has one. What is left has another order.
    void remove(std::uint32_t slot) noexcept;
    // The same when the type is known. All is read before the first write, which the compiler must take for
    // one to anything.
    template <class T>
    void remove(std::uint32_t slot) noexcept {
        WorldCore& core = *core_;
        ArchetypeRecord& own = table_->rows;
        std::uint32_t& own_number = number_of(slot);
        const std::uint32_t row = own_number - 1;
        const std::uint32_t last = own.row_count - 1;
        const RowPlace from = place_of_row(last);
        const RowPlace to = place_of_row(row);
        BlockColumn* const from_columns = block(from.block);
        BlockColumn* const to_columns = block(to.block);
        // Rows that did not come in the same tick, or have marks, take the longer way.
        const bool is_plain =
            have_same_state(from_columns[1], to_columns[1]) &&
            (row >= own.added_from || last < own.added_before || core.now() - own.added_tick > 1);
        if (!is_plain || core.events().is_watching()) [[unlikely]]
            return remove(slot);
        const Entity moved = core.cell<Entity>(from_columns[0], from.index);
        const T last_value = core.cell<T>(from_columns[1], from.index);
        Entity& name = core.cell<Entity>(to_columns[0], to.index);
        T& value = core.cell<T>(to_columns[1], to.index);
        std::uint32_t& moved_number = number_of(slot_index(moved));
        const std::uint32_t added_from = std::min(own.added_from, last);
        const std::uint32_t added_before = std::min(own.added_before, last);
        auto& units = core.ready_of(*table_).units;
        // All of them, without a branch between.
        const unsigned are_near = unsigned{core.is_near(units[0], &own_number, sizeof(own_number))} &
                                  unsigned{core.is_near(units[1], &moved_number, sizeof(moved_number))} &
                                  unsigned{core.is_near(units[2], &name, sizeof(name))} &
                                  unsigned{core.is_near(units[3], &value, sizeof(value))};
        if (are_near == 0) [[unlikely]]
            declare_four({&own_number, &moved_number, &name, &value}, sizeof(T));
        name = moved;
        value = last_value;
        moved_number = row + 1;
        own_number = 0;
        own.row_count = last;
        own.added_from = added_from;
        own.added_before = added_before;
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
    [[nodiscard]] std::uint32_t& number_of(std::uint32_t slot) const noexcept {
        return numbers(pages()[slot / kSparsePageSlots])[slot % kSparsePageSlots];
    }
    void set(std::uintptr_t& unit, std::uint32_t slot, std::uint32_t number) noexcept {
        std::uint32_t& own = number_of(slot);
        core_->declare_near(unit, &own, sizeof(own));
        own = number;
    }
    [[nodiscard]] Status add_page(std::uint32_t number) noexcept;
    // What a removal writes: two numbers, a name and a value.
    void declare_four(std::array<const void*, 4> places, std::size_t bytes) noexcept;
    void record_added(Entity entity) noexcept;
    void record_removed(std::uint32_t slot) noexcept;

    WorldCore* core_;
    SparseTable* table_;
};

}  // namespace ouro::detail
