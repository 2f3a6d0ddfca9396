#include <ouro/ecs/world_reader.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/live_image.hpp>

#include <algorithm>
#include <bit>

namespace ouro {
namespace {

constexpr std::string_view kRoot = "ecs";

std::string_view text_of(const std::array<char, kSegmentNameBytes>& name) noexcept {
    const auto end = std::ranges::find(name, '\0');
    return {name.data(), static_cast<std::size_t>(end - name.begin())};
}

// For those who will have it in memory as what it is.
template <class T>
bool is_aligned(std::uint64_t offset) noexcept {
    return offset % alignof(T) == 0;
}

}  // namespace

Status WorldReader::read(std::uint64_t offset, std::span<std::byte> out) const noexcept {
    if (!fits(offset, out.size())) return Status::corrupt_data;
    const Status status = bytes_.read(offset, out);
    // A segment that is longer than what there is.
    return status == Status::out_of_range ? Status::corrupt_data : status;
}

Expected<WorldReader> WorldReader::open(const ImageBytes& bytes, std::string_view segment,
                                        LayoutFound* found) noexcept {
    const auto image = bytes.load<ImageHeader>(0);
    if (!image) return image.status() == Status::out_of_range ? Status::wrong_format : image.status();
    if (image->magic != ImageHeader::kMagic || image->version != ImageHeader::kVersion)
        return Status::wrong_format;
    if (image->part_count > kMaxSegments || image->page_bytes != kStatePageBytes) return Status::corrupt_data;
    for (const ImageHeader::Part& part : image->used_parts()) {
        const std::string_view name = text_of(part.name);
        if (!segment.empty() && name != segment) continue;
        WorldReader made(bytes);
        if (part.offset > LiveImage::kMaxBytes || part.bytes > LiveImage::kMaxBytes - part.offset)
            return Status::corrupt_data;
        static_cast<void>(made.name_.assign(name.substr(0, made.name_.capacity())));
        made.begin_ = part.offset;
        made.end_ = part.offset + part.bytes;
        const Status status = made.take_header(part.offset, found);
        if (status == Status::ok) return made;
        if (status != Status::not_found || !segment.empty()) return status;
    }
    return Status::not_found;
}

Status WorldReader::take_header(std::uint64_t heap, LayoutFound* found) noexcept {
    const auto front = load<ImageHeapHeader>(heap);
    if (!front) return front.status();
    if (front->magic != ImageHeapHeader::kMagic) return Status::not_found;
    if (front->version != ImageHeapHeader::kVersion) return Status::wrong_format;
    const auto root = std::ranges::find_if(front->roots, [](const ImageHeapHeader::Root& each) {
        return each.offset != 0 && each.name.view() == kRoot;
    });
    if (root == front->roots.end()) return Status::not_found;
    if (root->bytes != sizeof(WorldHeader)) return Status::wrong_format;
    const auto header = load<WorldHeader>(root->offset);
    if (!header) return header.status();
    if (header->magic != WorldHeader::kMagic) return Status::wrong_format;
    if (found != nullptr) *found = {header->version, header->structures_hash};
    if (header->version != WorldHeader::kVersion) return Status::wrong_format;
    if (header->structures_hash != kStructuresHash) return Status::wrong_layout;
    header_ = *header;
    header_offset_ = root->offset;
    return has_sound_header() ? Status::ok : Status::corrupt_data;
}

bool WorldReader::has_sound_header() const noexcept {
    return header_.component_count <= kMaxComponents && header_.max_archetypes <= kNoArchetype &&
           header_.archetype_count <= header_.max_archetypes && header_.used_slots <= header_.max_entities &&
           std::uint64_t{header_.live_entities} + header_.retired_slots <= header_.used_slots &&
           is_aligned<ComponentRecord>(header_.components) && is_aligned<EntitySlot>(header_.entities) &&
           is_aligned<ArchetypeRecord>(header_.archetypes) &&
           fits(header_.components, kMaxComponents * sizeof(ComponentRecord)) &&
           fits(header_.entities, std::uint64_t{header_.max_entities} * sizeof(EntitySlot)) &&
           fits(header_.archetypes, std::uint64_t{header_.max_archetypes} * sizeof(ArchetypeRecord));
}

bool WorldReader::is_sound(const ComponentRecord& component) const noexcept {
    return component.heat <= Heat::cold && component.kind <= ComponentKind::singleton &&
           std::has_single_bit(component.alignment) && component.bytes <= segment_bytes() &&
           (component.bytes == 0) == (component.kind == ComponentKind::tag) &&
           is_aligned<FieldRecord>(component.fields) && component.data % component.alignment == 0 &&
           (component.field_count == 0 ||
            fits(component.fields, std::uint64_t{component.field_count} * sizeof(FieldRecord))) &&
           (component.kind != ComponentKind::singleton || component.data == 0 ||
            fits(component.data, component.bytes)) &&
           (component.kind != ComponentKind::sparse ||
            (is_aligned<SparseTable>(component.data) && fits(component.data, sizeof(SparseTable))));
}

Expected<ComponentRecord> WorldReader::component(std::uint32_t id) const noexcept {
    if (id >= header_.component_count) return Status::out_of_range;
    const auto record =
        load<ComponentRecord>(header_.components + std::uint64_t{id} * sizeof(ComponentRecord));
    if (record && !is_sound(*record)) return Status::corrupt_data;
    return record;
}

Expected<ComponentId> WorldReader::find_component(std::string_view name) const noexcept {
    for (std::uint32_t id = 0; id < header_.component_count; ++id) {
        const auto record = component(id);
        if (!record) return record.status();
        if (record->name.view() == name) return static_cast<ComponentId>(id);
    }
    return Status::not_found;
}

Expected<FieldRecord> WorldReader::field(const ComponentRecord& component,
                                         std::uint32_t number) const noexcept {
    if (number >= component.field_count) return Status::out_of_range;
    const auto record = load<FieldRecord>(component.fields + std::uint64_t{number} * sizeof(FieldRecord));
    if (!record) return record;
    const bool is_sound = record->kind <= static_cast<std::uint8_t>(FieldKind::opaque) &&
                          record->offset <= component.bytes && record->element_bytes != 0 &&
                          std::uint64_t{record->element_bytes} * record->count <=
                              std::uint64_t{component.bytes} - record->offset;
    if (!is_sound) return Status::corrupt_data;
    return record;
}

Expected<ArchetypeRecord> WorldReader::archetype(std::uint32_t number) const noexcept {
    if (number >= header_.archetype_count) return Status::out_of_range;
    const auto record =
        load<ArchetypeRecord>(header_.archetypes + std::uint64_t{number} * sizeof(ArchetypeRecord));
    if (record && !is_sound(*record)) return Status::corrupt_data;
    return record;
}

bool WorldReader::is_sound(const ArchetypeRecord& archetype) const noexcept {
    const std::uint64_t room = archetype.block_count == 0 || archetype.block_count > kMaxBlocks
                                   ? 0
                                   : std::uint64_t{first_row_of_block(archetype.block_count)};
    return archetype.block_count <= kMaxBlocks && archetype.column_count != 0 &&
           archetype.column_count <= kMaxComponents && archetype.mask.has(kEntityComponent) &&
           is_aligned<ColumnRecord>(archetype.columns) && archetype.row_count <= room &&
           archetype.column_map_bytes <= header_.component_count &&
           fits(archetype.columns, archetype.column_count * sizeof(ColumnRecord)) &&
           fits(archetype.column_map, archetype.column_map_bytes);
}

Expected<SparseTable> WorldReader::sparse(const ComponentRecord& component) const noexcept {
    if (component.kind != ComponentKind::sparse) return Status::out_of_range;
    const auto table = load<SparseTable>(component.data);
    if (!table) return table;
    const std::uint64_t pages =
        (std::uint64_t{header_.max_entities} + kSparsePageSlots - 1) / kSparsePageSlots;
    const bool fits_all = is_sound(table->rows) && table->rows.column_count == 2 &&
                          table->page_count == pages && is_aligned<std::uint32_t>(table->pages) &&
                          fits(table->pages, pages * sizeof(std::uint32_t));
    if (!fits_all) return Status::corrupt_data;
    return table;
}

Expected<std::uint32_t> WorldReader::sparse_row(const SparseTable& table,
                                                std::uint32_t slot_index) const noexcept {
    const std::uint32_t page = slot_index / kSparsePageSlots;
    if (page >= table.page_count) return Status::out_of_range;
    const auto numbers = load<std::uint32_t>(table.pages + std::uint64_t{page} * sizeof(std::uint32_t));
    if (!numbers || *numbers == 0) return numbers;
    const auto row = load<std::uint32_t>(*numbers + std::uint64_t{slot_index % kSparsePageSlots} * 4);
    if (row && *row > table.rows.row_count) return Status::corrupt_data;
    return row;
}

Expected<ColumnRecord> WorldReader::column(const ArchetypeRecord& archetype,
                                           std::uint32_t number) const noexcept {
    if (number >= archetype.column_count) return Status::out_of_range;
    const auto record = load<ColumnRecord>(archetype.columns + std::uint64_t{number} * sizeof(ColumnRecord));
    if (!record) return record;
    if (record->component >= header_.component_count || !archetype.mask.has(record->component))
        return Status::corrupt_data;
    const auto own = component(record->component);
    if (!own || own->bytes != record->bytes) return Status::corrupt_data;
    return record;
}

Expected<std::uint32_t> WorldReader::column_of(const ArchetypeRecord& archetype,
                                               ComponentId id) const noexcept {
    if (id >= archetype.column_map_bytes) return 0U;
    const auto number = load<std::uint8_t>(std::uint64_t{archetype.column_map} + id);
    if (!number) return number.status();
    if (*number == 0) return 0U;
    const auto own = column(archetype, std::uint32_t{*number} - 1);
    if (!own || own->component != id) return Status::corrupt_data;
    return std::uint32_t{*number};
}

Expected<BlockColumn> WorldReader::block_column(const ArchetypeRecord& archetype, std::uint32_t block,
                                                std::uint32_t column) const noexcept {
    if (block >= archetype.block_count) return Status::out_of_range;
    const auto shape = this->column(archetype, column);
    if (!shape) return shape.status();
    const auto record =
        load<BlockColumn>(archetype.blocks[block] + std::uint64_t{column} * sizeof(BlockColumn));
    if (!record) return record;
    const auto own = component(shape->component);
    if (!own) return own.status();
    const std::uint64_t rows = rows_of_block(block);
    const bool has_bits =
        record->now == Changes::some || record->before == Changes::some || record->has_disabled != 0;
    const bool is_sound = is_aligned<BlockColumn>(archetype.blocks[block]) &&
                          record->data % own->alignment == 0 && is_aligned<std::uint64_t>(record->planes) &&
                          record->turn <= 1 && record->now <= Changes::all &&
                          record->before <= Changes::all && fits(record->data, rows * shape->bytes) &&
                          (record->planes == 0 ? !has_bits : fits(record->planes, rows / 8 * 3));
    if (!is_sound) return Status::corrupt_data;
    return record;
}

Expected<std::uint64_t> WorldReader::cell_offset(const ArchetypeRecord& archetype, std::uint32_t row,
                                                 std::uint32_t column) const noexcept {
    if (row >= archetype.row_count) return Status::out_of_range;
    const RowPlace place = place_of_row(row);
    const auto own = block_column(archetype, place.block, column);
    if (!own) return own.status();
    const auto shape = this->column(archetype, column);
    if (!shape) return shape.status();
    return own->data + std::uint64_t{place.index} * shape->bytes;
}

Expected<bool> WorldReader::is_disabled(const ArchetypeRecord& archetype, std::uint32_t row,
                                        std::uint32_t column) const noexcept {
    if (row >= archetype.row_count) return Status::out_of_range;
    const RowPlace place = place_of_row(row);
    const auto own = block_column(archetype, place.block, column);
    if (!own) return own.status();
    if (own->has_disabled == 0) return false;
    // The third plane.
    const std::uint64_t bit = std::uint64_t{rows_of_block(place.block)} * 2 + place.index;
    const auto word = load<std::uint64_t>(own->planes + bit / 64 * sizeof(std::uint64_t));
    if (!word) return word.status();
    return (*word >> (bit % 64) & 1) != 0;
}

Expected<Entity> WorldReader::entity_at(const ArchetypeRecord& archetype, std::uint32_t row) const noexcept {
    const auto offset = cell_offset(archetype, row, 0);
    if (!offset) return offset.status();
    const auto shape = column(archetype, 0);
    if (!shape || shape->component != kEntityComponent || shape->bytes != sizeof(Entity))
        return Status::corrupt_data;
    return load<Entity>(*offset);
}

Expected<EntitySlot> WorldReader::slot(std::uint32_t index) const noexcept {
    if (index >= header_.used_slots) return Status::out_of_range;
    return load<EntitySlot>(header_.entities + std::uint64_t{index} * sizeof(EntitySlot));
}

Expected<Entity> WorldReader::entity_in(std::uint32_t index) const noexcept {
    const auto own = slot(index);
    if (!own) return own.status();
    if (own->archetype == kNoArchetype) return Entity();
    if (own->generation == 0) return Status::corrupt_data;
    return Entity(index, own->generation);
}

Expected<EntitySlot> WorldReader::find(Entity entity) const noexcept {
    const auto own = slot(static_cast<std::uint32_t>(entity.index()));
    if (!own) return own.status() == Status::out_of_range ? Status::stale_handle : own.status();
    if (own->archetype == kNoArchetype || own->generation != entity.generation()) return Status::stale_handle;
    return own;
}

Status WorldReader::read_cell(Entity entity, ComponentId id, std::span<std::byte> out) const noexcept {
    const auto place = find(entity);
    if (!place) return place.status();
    const auto record = component(id);
    if (!record) return record.status() == Status::out_of_range ? Status::not_found : record.status();
    auto home = archetype(place->archetype);
    auto number = home ? column_of(*home, id) : Expected<std::uint32_t>(Status::corrupt_data);
    std::uint32_t row = place->row;
    if (record->kind == ComponentKind::sparse) {
        const auto table = sparse(*record);
        if (!table) return table.status();
        const auto own = sparse_row(*table, static_cast<std::uint32_t>(entity.index()));
        if (!own) return own.status();
        home = table->rows;
        number = *own == 0 ? 0U : 2U;
        row = *own - 1;
    }
    if (!number) return number.status();
    if (*number == 0) return Status::not_found;
    if (row >= home->row_count) return Status::corrupt_data;
    if (record->bytes != out.size()) return Status::bad_argument;
    const auto offset = cell_offset(*home, row, *number - 1);
    return offset ? read(*offset, out) : offset.status();
}

}  // namespace ouro
