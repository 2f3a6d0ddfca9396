#include "relation_audit.hpp"

#include <ouro/ecs/detail/relation_lists.hpp>
#include <ouro/ecs/names.hpp>

namespace ouro::detail {
namespace {

class RelationAudit {
public:
    explicit RelationAudit(const WorldReader& reader) noexcept : reader_(reader) {}

    [[nodiscard]] bool run() noexcept {
        std::uint32_t known = 0;
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record) return false;
            if (record->kind != ComponentKind::sparse) continue;
            ++known;
            const auto table = reader_.sparse(*record);
            if (!table || !is_sound(static_cast<ComponentId>(id), *record, *table)) return false;
        }
        return names_ <= 1 && count_listed(known) == known;
    }

private:
    // How many are in the list; more than there are where it never ends or leads elsewhere.
    [[nodiscard]] std::uint32_t count_listed(std::uint32_t known) const noexcept {
        std::uint32_t listed = 0;
        for (std::uint32_t offset = reader_.header().first_sparse; offset != 0;) {
            const auto table = table_at(offset);
            if (!table || ++listed > known) return known + 1;
            offset = table->next;
        }
        return listed;
    }
    // The table that is a component's own. corrupt_data.
    [[nodiscard]] Expected<SparseTable> table_at(std::uint32_t offset) const noexcept {
        const auto bytes = reader_.load<SparseTable>(offset);
        const auto record =
            bytes ? reader_.component(bytes->component) : Expected<ComponentRecord>(bytes.status());
        if (!record || record->kind != ComponentKind::sparse || record->data != offset)
            return Status::corrupt_data;
        return reader_.sparse(*record);
    }

    [[nodiscard]] bool is_sound(ComponentId id, const ComponentRecord& record,
                                const SparseTable& table) noexcept {
        const auto names = reader_.column(table.rows, 0);
        const auto values = reader_.column(table.rows, 1);
        if (table.component != id || !names || names->component != kEntityComponent || !values ||
            values->component != id || table.doomed_first != 0 || table.doomed_last != 0)
            return false;
        // Rows that came are found by these.
        if (table.rows.added_from > table.rows.row_count || table.rows.added_before > table.rows.added_from)
            return false;
        if (!indexes_its_rows_only(table)) return false;
        switch (table.role) {
            case SparseRole::plain:
                return true;
            case SparseRole::name:
                ++names_;
                return record.bytes == sizeof(Name);
            case SparseRole::link:
                return record.bytes == sizeof(LinkValue) && has_sound_links(record, table);
            case SparseRole::sources_stay:
            case SparseRole::sources_follow:
                return record.bytes == sizeof(SourcesValue) && has_links(record, table);
        }
        return false;
    }

    // Each row is in the index, as the reader has checked; nothing else is.
    [[nodiscard]] bool indexes_its_rows_only(const SparseTable& table) const noexcept {
        std::uint32_t indexed = 0;
        for (std::uint32_t page = 0; page < table.page_count; ++page) {
            const auto numbers =
                reader_.load<std::uint32_t>(table.pages + std::uint64_t{page} * sizeof(std::uint32_t));
            if (!numbers) return false;
            if (*numbers == 0) continue;
            const auto rows = reader_.load<std::array<std::uint32_t, kSparsePageSlots>>(*numbers);
            if (!rows) return false;
            for (const std::uint32_t row : *rows)
                indexed += row != 0 ? 1U : 0U;
        }
        return indexed == table.rows.row_count;
    }

    // The other side of a relation, which has this one for its other side.
    [[nodiscard]] Expected<SparseTable> partner_of(const ComponentRecord& record,
                                                   const SparseTable& table) const noexcept {
        const auto partner = table_at(table.partner);
        if (!partner || partner->partner != record.data) return Status::corrupt_data;
        const bool is_link = table.role == SparseRole::link;
        const bool is_other =
            is_link ? partner->role == SparseRole::sources_stay || partner->role == SparseRole::sources_follow
                    : partner->role == SparseRole::link;
        return is_other ? partner : Expected<SparseTable>(Status::corrupt_data);
    }
    [[nodiscard]] bool has_links(const ComponentRecord& record, const SparseTable& table) const noexcept {
        return table.partner == 0 ? table.rows.row_count == 0 : partner_of(record, table).has_value();
    }

    template <class T>
    [[nodiscard]] Expected<T> value_at(const SparseTable& table, std::uint32_t row) const noexcept {
        const auto offset = reader_.cell_offset(table.rows, row, 1);
        if (!offset) return offset.status();
        return reader_.load<T>(*offset);
    }

    // The lists of all targets have every link once, in both directions.
    [[nodiscard]] bool has_sound_links(const ComponentRecord& record,
                                       const SparseTable& links) const noexcept {
        if (links.partner == 0) return links.rows.row_count == 0;
        const auto sources = partner_of(record, links);
        if (!sources) return false;
        std::uint64_t listed = 0;
        for (std::uint32_t row = 0; row < sources->rows.row_count; ++row) {
            const auto target = reader_.entity_at(sources->rows, row);
            const auto head = value_at<SourcesValue>(*sources, row);
            if (!target || !head || !is_sound_list(links, *target, *head)) return false;
            listed += head->count;
        }
        return listed == links.rows.row_count;
    }
    [[nodiscard]] bool is_sound_list(const SparseTable& links, Entity target,
                                     const SourcesValue& head) const noexcept {
        std::uint32_t before = 0;
        std::uint32_t count = 0;
        for (std::uint32_t next = head.first; next != 0; ++count) {
            if (count == head.count || next > reader_.header().used_slots) return false;
            const auto row = reader_.sparse_row(links, next - 1);
            if (!row || *row == 0) return false;
            const auto link = value_at<LinkValue>(links, *row - 1);
            if (!link || link->previous != before || link->target != target) return false;
            before = next;
            next = link->next;
        }
        return count != 0 && count == head.count && head.last == before;
    }

    const WorldReader& reader_;
    std::uint32_t names_ = 0;
};

}  // namespace

Status audit_relations(const WorldReader& reader) noexcept {
    return RelationAudit(reader).run() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
