#include <ouro/ecs/detail/sparse_set.hpp>

namespace ouro::detail {

Status WorldCore::add_sparse_table(ComponentRecord& record, ComponentId id, SparseRole role) noexcept {
    const std::uint32_t pages = (header_->max_entities + kSparsePageSlots - 1) / kSparsePageSlots;
    const std::size_t front = sizeof(SparseTable) + 2 * sizeof(ColumnRecord);
    const auto block = heap_.allocate(front + std::size_t{pages} * sizeof(std::uint32_t), 64);
    if (!block) return block.status();
    record.data = heap_.offset_of(block->data);
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

bool WorldCore::has_sparse_rows() const noexcept {
    for (const SparseTable* table = sparse_at(header_->first_sparse); table != nullptr;
         table = sparse_at(table->next))
        if (table->rows.row_count != 0) return true;
    return false;
}

}  // namespace ouro::detail
