#include <ouro/ecs/detail/sparse_set.hpp>

namespace ouro::detail {

Status WorldCore::add_sparse_table(ComponentRecord& record, ComponentId id, SparseRole role) noexcept {
    const std::uint32_t pages = (header_->max_entities + kSparsePageSlots - 1) / kSparsePageSlots;
    const std::size_t front = sizeof(SparseTable) + 2 * sizeof(ColumnRecord);
    const auto block = heap_.allocate(front + std::size_t{pages} * sizeof(std::uint32_t), 64);
    if (!block) return block.status();
    record.data = heap_.offset_of(block->data);
    // Pages that were zero are not declared yet.
    declare(block->data, front);
    auto& table = *reinterpret_cast<SparseTable*>(block->data);
    table.rows.mask.add(kEntityComponent);
    table.rows.mask.add(id);
    table.rows.column_count = 2;
    table.rows.columns = record.data + static_cast<std::uint32_t>(sizeof(SparseTable));
    table.rows.column_map = record.data + static_cast<std::uint32_t>(front);
    table.pages = table.rows.column_map;
    table.page_count = pages;
    table.component = id;
    table.role = role;
    auto* const columns = reinterpret_cast<ColumnRecord*>(at(table.rows.columns));
    columns[0] = {sizeof(Entity), kEntityComponent, 0};
    columns[1] = {record.bytes, id, 0};
    SparseTable* last = sparse_at(header_->first_sparse);
    if (last == nullptr) {
        declare_header();
        header_->first_sparse = record.data;
        return Status::ok;
    }
    while (last->next != 0)
        last = sparse_at(last->next);
    heap_.edit(last->next) = record.data;
    return Status::ok;
}

Status SparseSet::add_page(std::uint32_t number) noexcept {
    const auto page = core_->heap().allocate(kSparsePageSlots * sizeof(std::uint32_t), kStatePageBytes);
    if (!page) return page.status();
    core_->heap().edit(pages()[number]) = core_->heap().offset_of(page->data);
    return Status::ok;
}

void SparseSet::remove(std::uint32_t slot) noexcept {
    SparseReady& ready = core_->ready_of(*table_);
    if (core_->is_watching(EventKind::removed, table_->component)) [[unlikely]]
        record_removed(slot);
    const std::uint32_t row = find(slot) - 1;
    const Entity moved = core_->remove_row(table_->rows, ready.rows, row);
    if (!moved.is_null()) set(ready.units[1], slot_index(moved), row + 1);
    set(ready.units[0], slot, 0);
}

void SparseSet::declare_four(std::array<const void*, 4> places, std::size_t bytes) noexcept {
    auto& units = core_->ready_of(*table_).units;
    core_->declare_near(units[0], places[0], sizeof(std::uint32_t));
    core_->declare_near(units[1], places[1], sizeof(std::uint32_t));
    core_->declare_near(units[2], places[2], sizeof(Entity));
    core_->declare_near(units[3], places[3], bytes);
}

bool WorldCore::has_sparse_rows() const noexcept {
    for (const SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next))
        if (table->rows.row_count != 0) return true;
    return false;
}

}  // namespace ouro::detail
