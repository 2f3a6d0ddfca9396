#include "world_audit.hpp"

#include "column_pages.hpp"
#include "relation_audit.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/memory/tlsf_heap.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/image_heap.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ouro::detail {
namespace {

// What something takes of the image, in whole units of its heap.
struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// A SimTable as its bytes say.
struct TableWords {
    std::uint32_t block;
    std::uint32_t size;
    std::uint32_t used;
    std::uint32_t slot_count;
};
static_assert(sizeof(TableWords) == sizeof(NameMap));

class WorldAudit {
public:
    WorldAudit(const WorldReader& reader, std::span<const std::byte> image) noexcept
        : reader_(reader), image_(image) {}

    [[nodiscard]] Status run() noexcept {
        if (const Status status = reader_.check(); status != Status::ok) return status;
        if (!has_own_components() || !has_sound_heap() || !has_sound_arenas() || !has_sound_archetypes())
            return Status::corrupt_data;
        if (const Status status = check_extents(); status != Status::ok) return status;
        const Status status = audit_relations(reader_);
        return status == Status::ok && !has_sound_names() ? Status::corrupt_data : status;
    }

private:
    // Of the segment's own heap; checked before it is used.
    [[nodiscard]] MemoryBlock heap_block() const noexcept {
        auto* const start = const_cast<std::byte*>(image_.data()) + reader_.segment_offset();
        return {start + sizeof(ImageHeapHeader),
                static_cast<std::size_t>(reader_.segment_bytes()) - sizeof(ImageHeapHeader)};
    }
    [[nodiscard]] const TlsfHeap& heap() const noexcept {
        return *reinterpret_cast<const TlsfHeap*>(heap_block().data);
    }

    // The first two are the library's.
    [[nodiscard]] bool has_own_components() const noexcept {
        const auto entity = reader_.component(kEntityComponent);
        const auto prefab = reader_.component(kPrefabComponent);
        if (!entity || !prefab || entity->name != "Entity" || prefab->name != component_name<Prefab>())
            return false;
        std::uint64_t hash = 0;
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record) return false;
            hash = combine_hash(hash, hash_name(record->name.view()));
        }
        return entity->kind == ComponentKind::column && entity->bytes == sizeof(Entity) &&
               prefab->kind == ComponentKind::tag && hash == reader_.header().registry_hash;
    }

    [[nodiscard]] bool has_sound_heap() const noexcept {
        if (reader_.segment_offset() % kStatePageBytes != 0 ||
            reader_.segment_bytes() <= sizeof(ImageHeapHeader) ||
            reader_.segment_offset() + reader_.segment_bytes() > image_.size())
            return false;
        const auto front = reader_.load<ImageHeapHeader>(reader_.segment_offset());
        // The heap of a world has no notes.
        if (!front || front->segment_bytes != reader_.segment_bytes() || front->notes_bytes != 0)
            return false;
        return has_sound_roots(*front) && TlsfHeap::check(heap_block()) == Status::ok &&
               heap().image_bytes() == heap_block().size;
    }
    // Their places are asked with all others.
    [[nodiscard]] static bool has_sound_roots(const ImageHeapHeader& front) noexcept {
        std::uint32_t count = 0;
        for (const ImageHeapHeader::Root& root : front.roots) {
            const bool is_used = root.offset != 0;
            if (is_used != (root.bytes != 0) || is_used == root.name.is_empty()) return false;
            if (!is_used) continue;
            ++count;
            const auto has_its_name = [&](const ImageHeapHeader::Root& other) {
                return other.offset != 0 && other.name == root.name;
            };
            if (std::ranges::count_if(front.roots, has_its_name) != 1) return false;
        }
        return count == front.root_count;
    }

    [[nodiscard]] bool has_sound_arenas() const noexcept {
        return std::ranges::all_of(reader_.header().arenas, [](const HeatArena& arena) {
            return arena.cursor <= arena.end && arena.cursor % kColumnLine == 0;
        });
    }

    // What leads from components to columns, and which rows came when.
    [[nodiscard]] bool has_sound_archetypes() const noexcept {
        std::uint32_t prefabs = 0;
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto archetype = reader_.archetype(number);
            if (!archetype || archetype->added_from > archetype->row_count ||
                archetype->added_before > archetype->added_from || archetype->chain_hash % 2 == 0)
                return false;
            for (std::uint32_t id = 0; id < archetype->column_map_bytes; ++id)
                if (!reader_.column_of(*archetype, static_cast<ComponentId>(id))) return false;
            prefabs += archetype->mask.has(kPrefabComponent) ? 1U : 0U;
        }
        return prefabs == reader_.header().prefab_archetypes;
    }

    // Calls with the place and the size of all that a world has, until visit says no.
    template <class Visit>
    [[nodiscard]] Status each_extent(Visit&& visit) const noexcept {
        const WorldHeader& header = reader_.header();
        const auto front = reader_.load<ImageHeapHeader>(reader_.segment_offset());
        if (!front) return front.status();
        bool is_fine = true;
        const auto take = [&](std::uint64_t offset, std::uint64_t bytes) {
            is_fine = is_fine && (bytes == 0 || visit(offset, bytes));
        };
        for (const ImageHeapHeader::Root& root : front->roots)
            if (root.offset != 0) take(root.offset, root.bytes);
        take(header.components, kMaxComponents * sizeof(ComponentRecord));
        take(header.entities, std::uint64_t{header.max_entities} * sizeof(EntitySlot));
        take(header.archetypes, std::uint64_t{header.max_archetypes} * sizeof(ArchetypeRecord));
        for (const HeatArena& arena : header.arenas)
            take(arena.cursor, arena.end - arena.cursor);
        take_names(take);
        for (std::uint32_t number = 0; number < header.archetype_count && is_fine; ++number) {
            const auto archetype = reader_.archetype(number);
            if (!archetype) return archetype.status();
            const std::uint64_t columns = archetype->column_count * sizeof(ColumnRecord);
            if (archetype->column_map != archetype->columns + columns) return Status::corrupt_data;
            take(archetype->columns, columns + archetype->column_map_bytes);
            if (const Status status = take_rows(*archetype, take); status != Status::ok) return status;
        }
        for (std::uint32_t id = 0; id < header.component_count && is_fine; ++id)
            if (const Status status = take_component(id, take); status != Status::ok) return status;
        return is_fine ? Status::ok : Status::corrupt_data;
    }

    template <class Take>
    void take_names(const Take& take) const noexcept {
        if (reader_.header().names == 0) return;
        take(reader_.header().names, sizeof(NameMap));
        const auto words = reader_.load<TableWords>(reader_.header().names);
        // Other numbers are refused with the rest of the map.
        if (!words || !std::has_single_bit(words->slot_count)) return;
        take(words->block, NameMap::Layout::bytes_of(words->slot_count));
    }

    template <class Take>
    [[nodiscard]] Status take_component(std::uint32_t id, const Take& take) const noexcept {
        const auto record = reader_.component(id);
        if (!record) return record.status();
        take(record->fields, std::uint64_t{record->field_count} * sizeof(FieldRecord));
        if (record->kind == ComponentKind::singleton && record->data != 0) take(record->data, record->bytes);
        if (record->kind != ComponentKind::sparse) return Status::ok;
        const auto table = reader_.sparse(*record);
        if (!table) return table.status();
        const std::uint32_t front = sizeof(SparseTable) + 2 * sizeof(ColumnRecord);
        const bool is_whole = table->rows.columns == record->data + sizeof(SparseTable) &&
                              table->rows.column_map == record->data + front &&
                              table->rows.column_map_bytes == 0 && table->pages == record->data + front;
        if (!is_whole) return Status::corrupt_data;
        take(record->data, front + std::uint64_t{table->page_count} * sizeof(std::uint32_t));
        for (std::uint32_t page = 0; page < table->page_count; ++page) {
            const auto numbers =
                reader_.load<std::uint32_t>(table->pages + std::uint64_t{page} * sizeof(std::uint32_t));
            if (!numbers) return numbers.status();
            if (*numbers != 0) take(*numbers, kSparsePageSlots * sizeof(std::uint32_t));
        }
        return take_rows(table->rows, take);
    }

    template <class Take>
    [[nodiscard]] Status take_rows(const ArchetypeRecord& rows, const Take& take) const noexcept {
        for (std::uint32_t block = 0; block < rows.block_count; ++block) {
            take(rows.blocks[block], rows.column_count * sizeof(BlockColumn));
            for (std::uint32_t column = 0; column < rows.column_count; ++column) {
                const auto shape = reader_.column(rows, column);
                const auto own = reader_.block_column(rows, block, column);
                if (!shape || !own) return Status::corrupt_data;
                const std::uint64_t bytes = std::uint64_t{rows_of_block(block)} * shape->bytes;
                if (own->planes != 0) take(own->planes, rows_of_block(block) / 8 * 3);
                const OwnPages pages = own_pages(bytes, column);
                if (!has_own_pages(bytes))
                    take(own->data, whole(bytes, kColumnLine));
                else if (own->data % kStatePageBytes != pages.stagger)
                    return Status::corrupt_data;
                else
                    take(own->data - pages.stagger, pages.bytes);
            }
        }
        return Status::ok;
    }

    // All of it is in use, in whole units, and nothing twice.
    [[nodiscard]] Status check_extents() const noexcept {
        // Where things do not overlap, there are not more of them than units.
        const std::uint64_t most = reader_.segment_bytes() / ImageHeap::kUnit;
        std::uint64_t count = 0;
        const auto counted = each_extent([&](std::uint64_t, std::uint64_t) { return ++count <= most; });
        if (counted != Status::ok) return counted;
        auto memory = os::Reservation::create({.bytes = static_cast<std::size_t>(count * sizeof(Extent))});
        if (!memory) return memory.status();
        if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
        const std::span extents(reinterpret_cast<Extent*>(memory->block().data),
                                static_cast<std::size_t>(count));
        std::size_t used = 0;
        const auto taken = each_extent([&](std::uint64_t offset, std::uint64_t bytes) {
            extents[used++] = {offset, offset + whole(bytes, ImageHeap::kUnit)};
            return offset % ImageHeap::kUnit == 0 && is_in_use(extents[used - 1]);
        });
        if (taken != Status::ok) return taken;
        std::ranges::sort(extents, {}, &Extent::begin);
        const auto overlaps = [](const Extent& a, const Extent& b) { return b.begin < a.end; };
        return std::ranges::adjacent_find(extents, overlaps) == extents.end() ? Status::ok
                                                                              : Status::corrupt_data;
    }

    [[nodiscard]] bool is_in_use(const Extent& extent) const noexcept {
        const std::uint64_t end = reader_.segment_offset() + reader_.segment_bytes();
        if (extent.begin < reader_.segment_offset() || extent.end > end) return false;
        auto* const start = const_cast<std::byte*>(image_.data());
        return heap().is_in_use({start + extent.begin, static_cast<std::size_t>(extent.end - extent.begin)});
    }

    // --- names: each row of their table is in the map, and nothing else. Requires: extents were checked.
    [[nodiscard]] bool has_sound_names() const noexcept {
        const WorldHeader& header = reader_.header();
        const SparseTable* const names = find_names();
        const std::uint32_t rows = names == nullptr ? 0 : names->rows.row_count;
        if (header.names == 0) return rows == 0;
        const auto& map = *reinterpret_cast<const NameMap*>(image_.data() + header.names);
        if (map.check(ConstOffsetBase(image_.data(), image_.size())) != Status::ok || map.size() != rows)
            return false;
        for (std::uint32_t row = 0; row < rows; ++row) {
            const auto entity = reader_.entity_at(names->rows, row);
            const auto place = reader_.cell_offset(names->rows, row, 1);
            if (!entity || !place) return false;
            const auto name = reader_.load<Name>(*place);
            if (!name || find_name(name->text) != *entity) return false;
        }
        return true;
    }
    [[nodiscard]] const SparseTable* find_names() const noexcept {
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record || record->kind != ComponentKind::sparse) continue;
            const auto* const table = reinterpret_cast<const SparseTable*>(image_.data() + record->data);
            if (table->role == SparseRole::name) return table;
        }
        return nullptr;
    }
    // Requires: the map is sound. Null when it has no such name.
    [[nodiscard]] Entity find_name(const FixedString<31>& text) const noexcept {
        const auto words = reader_.load<TableWords>(reader_.header().names);
        if (!words || words->slot_count == 0) return {};
        const std::uint64_t entries = words->block + NameMap::Layout::entries_at(words->slot_count);
        const std::uint32_t hash = sim_hash(text);
        for (std::uint32_t at = hash & (words->slot_count - 1);; at = (at + 1) & (words->slot_count - 1)) {
            const auto slot =
                reader_.load<std::uint64_t>(words->block + std::uint64_t{at} * sizeof(std::uint64_t));
            if (!slot || *slot == 0) return {};
            if (hash_of_slot(*slot) != hash) continue;
            const auto entry = reader_.load<NameMap::Entry>(entries + std::uint64_t{entry_of_slot(*slot)} *
                                                                          sizeof(NameMap::Entry));
            if (entry && is_same_key(entry->key, text)) return entry->value;
        }
    }

    const WorldReader& reader_;
    std::span<const std::byte> image_;
};

}  // namespace

Status audit_world(const WorldReader& reader, std::span<const std::byte> image) noexcept {
    return WorldAudit(reader, image).run();
}

}  // namespace ouro::detail
