#include "world_loader.hpp"

#include <ouro/ecs/detail/sparse_set.hpp>
#include <ouro/os/reservation.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace ouro::detail {

void WorldLoader::copy(std::span<const std::byte> saved) noexcept {
    const MemoryBlock target = core_.heap_.segment();
    for (std::size_t at = 0; at < target.size; at += kStatePageBytes) {
        if (std::memcmp(target.data + at, saved.data() + at, kStatePageBytes) == 0) continue;
        core_.declare(target.data + at, kStatePageBytes);
        std::memcpy(target.data + at, saved.data() + at, kStatePageBytes);
    }
}

void WorldLoader::forget_caches() noexcept {
    std::ranges::fill(core_.declared_, DeclaredRows{});
    std::ranges::fill(core_.sparse_ready_, SparseReady{});
    std::ranges::fill(core_.plans_, SpawnPlan{});
    std::ranges::fill(core_.move_plans_, MovePlan{});
    for (CellPlace& place : core_.cell_places_)
        place.forget();
    std::ranges::fill(core_.by_mask_, 0U);
    for (QueryCache& query : core_.queries_) {
        query.registry_hash = query.known_hash = 0;
        query.known = query.match_count = 0;
    }
    core_.known_archetypes_ = 0;
    core_.known_hash_ = 0;
    core_.known_registry_ = 0;
    core_.header_epoch_ = 0;
    core_.own_slots_ = core_.moved_slots_ = {};
    ++core_.loads_;
}

Status WorldLoader::adopt() noexcept {
    const auto heap = ImageHeap::attach(core_.ring(), segment_);
    if (!heap) return heap.status();
    const auto root = heap->root<WorldHeader>("ecs");
    if (!root) return root.status();
    core_.heap_ = *heap;
    core_.header_ = &const_cast<WorldHeader&>(heap->get(*root));
    core_.take_places();
    forget_caches();
    return core_.check();
}

Status WorldLoader::convert(SchemaPlan& plan) noexcept {
    for (std::uint32_t number = 1; number < core_.header_->component_count; ++number) {
        const auto id = static_cast<ComponentId>(number);
        const SchemaPlan::Fate& fate = plan.fate(id);
        if (fate.is_removed) {
            if (const Status status = remove_component(id); status != Status::ok) return status;
            continue;
        }
        if (fate.name != core_.component(id).name.view())
            static_cast<void>(core_.heap_.edit(core_.components_[id]).name.assign(fate.name));
        if (fate.today == SchemaPlan::kUnknown) continue;
        const ComponentRecord& now = plan.today().components()[fate.today];
        const bool gets_switches = now.toggles != 0 && core_.component(id).toggles == 0;
        core_.heap_.edit(core_.components_[id]).heat = now.heat;
        if (now.kind == ComponentKind::sparse)
            core_.heap_.edit(core_.sparse_table(id)).role = plan.today().role(fate.today);
        Status status = Status::ok;
        if (fate.is_converted) status = convert_component(id, now, plan.copies(id));
        if (fate.is_converted && status == Status::ok)
            status = replace_fields(id, plan.today().fields(fate.today));
        if (gets_switches && status == Status::ok) status = make_switches(id);
        if (status != Status::ok) return status;
    }
    // Columns lie elsewhere, and names have changed.
    forget_caches();
    core_.declare_header();
    core_.header_->registry_hash = core_.hash_of_registry();
    core_.header_->layout_hash = core_.hash_of_layout();
    core_.find_ids_again();
    return Status::ok;
}

Status WorldLoader::remove_component(ComponentId id) noexcept {
    if (core_.component(id).kind == ComponentKind::sparse) {
        SparseSet rows(core_, id);
        // The library's own keep each other up to date.
        if (rows.table().role != SparseRole::plain) return Status::not_supported;
        while (rows.size() != 0)
            rows.remove(slot_index(rows.entity(rows.size() - 1)));
    }
    const std::uint32_t count = core_.header_->archetype_count;
    for (std::uint32_t number = 0; number < count; ++number)
        if (core_.archetypes_[number].mask.has(id))
            if (const Status status = empty_archetype(number, id); status != Status::ok) return status;
    // Its number stays taken. Nothing that can be registered is called so.
    FixedString<47> name = "~";
    const std::string_view old = core_.component(id).name.view();
    static_cast<void>(name.append(old.substr(0, name.capacity() - 1)));
    core_.heap_.edit(core_.components_[id]).name = name;
    return Status::ok;
}

// In the order of the rows.
Status WorldLoader::empty_archetype(std::uint32_t number, ComponentId id) noexcept {
    const std::uint32_t rows = core_.archetypes_[number].row_count;
    if (rows == 0) return Status::ok;
    const auto plan = core_.move_plan(number, id, false);
    if (!plan) return plan.status();
    auto memory = os::Reservation::create({.bytes = std::size_t{rows} * sizeof(Entity)});
    if (!memory) return memory.status();
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    const std::span entities(reinterpret_cast<Entity*>(memory->block().data), rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
        const RowPlace place = place_of_row(row);
        entities[row] =
            core_.cell<Entity>(core_.block(core_.archetypes_[number], place.block)[0], place.index);
    }
    for (const Entity entity : entities)
        if (const auto row = core_.move(entity, **plan); !row) return row.status();
    return Status::ok;
}

void WorldLoader::describe(ComponentId id, const ComponentRecord& now) noexcept {
    ComponentRecord& record = core_.heap_.edit(core_.components_[id]);
    record.layout_hash = now.layout_hash;
    record.bytes = now.bytes;
    record.alignment = now.alignment;
}

Status WorldLoader::replace_fields(ComponentId id, std::span<const FieldRecord> fields) noexcept {
    ComponentRecord& record = core_.heap_.edit(core_.components_[id]);
    if (record.field_count != 0)
        core_.heap_.deallocate({core_.at(record.fields), record.field_count * sizeof(FieldRecord)});
    record.fields = 0;
    record.field_count = static_cast<std::uint16_t>(fields.size());
    if (fields.empty()) return Status::ok;
    const auto block = core_.heap_.allocate(fields.size_bytes(), 16);
    if (!block) return block.status();
    core_.declare(block->data, fields.size_bytes());
    std::memcpy(block->data, fields.data(), fields.size_bytes());
    record.fields = core_.heap_.offset_of(block->data);
    return Status::ok;
}

Status WorldLoader::convert_component(ComponentId id, const ComponentRecord& now,
                                      std::span<const FieldCopy> copies) noexcept {
    if (now.kind == ComponentKind::singleton) return convert_singleton(id, now, copies);
    if (now.kind == ComponentKind::sparse) {
        const Status status = convert_column(core_.sparse_table(id).rows, 1, now, copies);
        if (status == Status::ok) describe(id, now);
        return status;
    }
    for (std::uint32_t number = 0; number < core_.header_->archetype_count; ++number) {
        ArchetypeRecord& archetype = core_.archetypes_[number];
        const unsigned column = core_.column_of(archetype, id);
        if (column == 0) continue;
        const Status status = convert_column(archetype, column - 1, now, copies);
        if (status != Status::ok) return status;
    }
    describe(id, now);
    return Status::ok;
}

Status WorldLoader::convert_singleton(ComponentId id, const ComponentRecord& now,
                                      std::span<const FieldCopy> copies) noexcept {
    const ComponentRecord old = core_.component(id);
    describe(id, now);
    if (old.data == 0) return Status::ok;
    const auto block = core_.heap_.allocate(now.bytes, now.alignment);
    if (!block) return block.status();
    core_.declare(block->data, now.bytes);
    convert_value(copies, core_.at(old.data), {block->data, now.bytes});
    core_.heap_.edit(core_.components_[id]).data = core_.heap_.offset_of(block->data);
    core_.heap_.deallocate({core_.at(old.data), old.bytes});
    return Status::ok;
}

Status WorldLoader::convert_column(ArchetypeRecord& archetype, unsigned column, const ComponentRecord& now,
                                   std::span<const FieldCopy> copies) noexcept {
    auto& shape = core_.heap_.edit(const_cast<ColumnRecord&>(core_.columns_of(archetype)[column]));
    const ColumnRecord old_shape = shape;
    std::uint32_t left = archetype.row_count;
    for (std::uint32_t number = 0; number < archetype.block_count; ++number) {
        const std::uint32_t rows = rows_of_block(number);
        BlockColumn& own = core_.heap_.edit(core_.block(archetype, number)[column]);
        const BlockColumn old = own;
        const auto data = core_.take_column(now.heat, std::uint64_t{rows} * now.bytes, column);
        if (!data) return data.status();
        own.data = *data;
        const std::uint32_t used = std::min(left, rows);
        left -= used;
        core_.declare(core_.at(own.data), std::size_t{used} * now.bytes);
        for (std::uint32_t row = 0; row < used; ++row)
            convert_value(copies, core_.at(old.data) + std::size_t{row} * old_shape.bytes,
                          {core_.at(own.data) + std::size_t{row} * now.bytes, now.bytes});
        core_.give_back_column(old_shape, old, rows, column);
    }
    shape.bytes = now.bytes;
    return Status::ok;
}

// Room for bits in all blocks, as make_columns takes it.
Status WorldLoader::make_switches(ComponentId id) noexcept {
    core_.heap_.edit(core_.components_[id]).toggles = 1;
    for (std::uint32_t number = 0; number < core_.header_->archetype_count; ++number) {
        ArchetypeRecord& archetype = core_.archetypes_[number];
        const unsigned column = core_.column_of(archetype, id);
        if (column == 0) continue;
        core_.heap_.edit(const_cast<ColumnRecord&>(core_.columns_of(archetype)[column - 1])).toggles = 1;
        for (std::uint32_t block = 0; block < archetype.block_count; ++block) {
            BlockColumn& own = core_.block(archetype, block)[column - 1];
            const Status status = core_.planes(own, rows_of_block(block)).reserve();
            if (status != Status::ok) return status;
        }
    }
    return Status::ok;
}

}  // namespace ouro::detail
