#include <ouro/ecs/detail/relation_lists.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>

namespace ouro::detail {

bool WorldCore::is_sound(const SparseTable& table) const noexcept {
    const std::uint32_t pages = (header_->max_entities + kSparsePageSlots - 1) / kSparsePageSlots;
    const std::uint32_t front = sizeof(SparseTable) + 2 * sizeof(ColumnRecord);
    if (table.page_count != pages || table.component >= header_->component_count ||
        table.role > SparseRole::sources_follow || table.doomed_first != 0 || table.doomed_last != 0)
        return false;
    const ComponentRecord& component = components_[table.component];
    if (component.kind != ComponentKind::sparse || sparse_at(component.data) != &table ||
        table.pages != component.data + front ||
        !heap_.can_have(component.data, front + std::uint64_t{pages} * sizeof(std::uint32_t)) ||
        table.rows.column_count != 2 || !is_sound(table.rows) ||
        columns_of(table.rows)[1].component != table.component)
        return false;
    std::uint32_t indexed = 0;
    for (std::uint32_t page = 0; page < pages; ++page) {
        const std::uint32_t offset = reinterpret_cast<const std::uint32_t*>(at(table.pages))[page];
        if (offset == 0) continue;
        if (!heap_.can_have(offset, kSparsePageSlots * sizeof(std::uint32_t))) return false;
        const auto* const numbers = reinterpret_cast<const std::uint32_t*>(at(offset));
        for (std::uint32_t slot = 0; slot < kSparsePageSlots; ++slot)
            indexed += numbers[slot] != 0 ? 1U : 0U;
    }
    // Each row is in the index, and nothing else is.
    const SparseSet set(const_cast<WorldCore&>(*this), const_cast<SparseTable&>(table));
    for (std::uint32_t row = 0; row < set.size(); ++row) {
        const Entity entity = set.entity(row);
        if (!is_alive(entity) || set.find(slot_index(entity)) != row + 1) return false;
    }
    if (indexed != set.size()) return false;
    switch (table.role) {
        case SparseRole::plain:
            return true;
        case SparseRole::name:
            return component.bytes == sizeof(FixedString<31>) && has_sound_names(table);
        case SparseRole::link:
            return component.bytes == sizeof(LinkValue) && has_sound_links(table);
        case SparseRole::sources_stay:
        case SparseRole::sources_follow:
            return component.bytes == sizeof(SourcesValue) && has_links(table);
    }
    return false;
}

// Of the side of the targets: their sources are found over the other one.
bool WorldCore::has_links(const SparseTable& table) const noexcept {
    if (table.partner == 0) return table.rows.row_count == 0;
    if (!heap_.can_have(table.partner, sizeof(SparseTable))) return false;
    const SparseTable& links = *sparse_at(table.partner);
    return links.role == SparseRole::link && sparse_at(links.partner) == &table;
}

// The lists of all targets have every link once, in both directions.
bool WorldCore::has_sound_links(const SparseTable& table) const noexcept {
    if (table.partner == 0) return table.rows.row_count == 0;
    if (!heap_.can_have(table.partner, sizeof(SparseTable))) return false;
    const SparseTable& partner = *sparse_at(table.partner);
    if (sparse_at(partner.partner) != &table || partner.role < SparseRole::sources_stay || !is_sound(partner))
        return false;
    auto& core = const_cast<WorldCore&>(*this);
    const SparseSet links(core, const_cast<SparseTable&>(table));
    const SparseSet sources(core, const_cast<SparseTable&>(partner));
    std::uint32_t listed = 0;
    for (std::uint32_t row = 0; row < sources.size(); ++row) {
        const auto& head = sources.cell<SourcesValue>(row);
        std::uint32_t before = 0;
        std::uint32_t count = 0;
        for (std::uint32_t next = head.first; next != 0; ++count) {
            const std::uint32_t link_row = next > header_->used_slots ? 0 : links.find(next - 1);
            if (link_row == 0 || count == head.count) return false;
            const auto& link = links.cell<LinkValue>(link_row - 1);
            if (link.previous != before || link.target != sources.entity(row)) return false;
            before = next;
            next = link.next;
        }
        if (count != head.count || count == 0 || head.last != before) return false;
        listed += count;
    }
    return listed == links.size();
}

bool WorldCore::has_sound_sparse() const noexcept {
    std::uint32_t known = 0;
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        known += components_[id].kind == ComponentKind::sparse ? 1U : 0U;
    std::uint32_t listed = 0;
    for (std::uint32_t offset = header_->first_sparse; offset != 0;) {
        if (++listed > known || !heap_.can_have(offset, sizeof(SparseTable))) return false;
        const SparseTable& table = *sparse_at(offset);
        if (!is_sound(table)) return false;
        offset = table.next;
    }
    return listed == known;
}

}  // namespace ouro::detail
