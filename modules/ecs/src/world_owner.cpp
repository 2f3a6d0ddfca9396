#include "world_owner.hpp"

#include "text_piece.hpp"

#include <ouro/base/field_info.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/ecs/world_text.hpp>

#include <array>

namespace ouro::detail {
namespace {

// Rows with columns: an archetype, or the table of a sparse component.
struct Home {
    ArchetypeRecord rows;
    std::uint32_t archetype = 0;
    // Of the sparse component; empty: an archetype.
    std::string_view sparse = {};
};

class OwnerSearch {
public:
    OwnerSearch(const WorldReader& reader, ConstOffsetBase base, std::uint64_t offset,
                ImageOwner& owner) noexcept
        : reader_(reader), header_(reader.header()), base_(base), offset_(offset), owner_(owner) {}

    [[nodiscard]] bool run() noexcept {
        owner_.kind = OwnerKind::record;
        const bool is_found =
            in_header() || in_entities() || in_components() || in_archetypes() || in_names() || in_arenas();
        if (is_found) static_cast<void>(owner_.words.assign(text_.view()));
        return is_found;
    }

private:
    [[nodiscard]] bool covers(std::uint64_t begin, std::uint64_t bytes) const noexcept {
        return offset_ >= begin && offset_ - begin < bytes;
    }
    // Whether the byte is in an array of so many; then in which of its elements.
    [[nodiscard]] bool is_in(std::uint64_t begin, std::uint64_t count, std::uint64_t bytes,
                             std::uint64_t& number) noexcept {
        if (!covers(begin, count * bytes)) return false;
        number = (offset_ - begin) / bytes;
        owner_.offset = begin + number * bytes;
        owner_.bytes = bytes;
        return true;
    }

    // --- parts of sentences
    bool tell(std::string_view words) noexcept {
        text_.add(words);
        return true;
    }
    bool add_field(std::string_view name, std::uint64_t begin, std::uint32_t bytes,
                   std::uint32_t count) noexcept {
        std::uint64_t element = 0;
        if (!is_in(begin, count, bytes, element)) return false;
        text_.printable(name);
        if (count > 1) text_.add("[").number(element).add("]");
        return true;
    }
    // Of a record of the library.
    template <class T>
    bool add_field_of(std::uint64_t begin) noexcept {
        for (const FieldInfo& field : fields_of<T>())
            if (add_field(field.name, begin + field.offset, field.element_bytes, field.count)) break;
        return true;
    }
    // Of a value of the program.
    bool add_value(const ComponentRecord& component, std::uint64_t begin) noexcept {
        owner_.kind = OwnerKind::value;
        text_.printable(component.name.view()).add(component.field_count == 0 ? "" : ".");
        for (std::uint32_t number = 0; number < component.field_count; ++number) {
            const auto field = reader_.field(component, number);
            if (field &&
                add_field(field->name.view(), begin + field->offset, field->element_bytes, field->count))
                break;
        }
        return true;
    }
    void add_component(ComponentId id) noexcept {
        const auto name =
            reader_.load<FixedString<47>>(header_.components + std::uint64_t{id} * sizeof(ComponentRecord) +
                                          offsetof(ComponentRecord, name));
        if (name && id < header_.component_count)
            text_.printable(name->view());
        else
            text_.add("component ").number(id);
    }
    void add_home(const Home& home) noexcept {
        if (!home.sparse.empty()) {
            text_.add("the table of ").printable(home.sparse);
            return;
        }
        constexpr int kNamed = 4;
        int named = 0;
        text_.add("archetype ").number(home.archetype).add(" (");
        home.rows.mask.each([&](ComponentId id) {
            if (id == kEntityComponent || ++named > kNamed + 1) return;
            text_.add(named == 1 ? "" : ", ");
            if (named <= kNamed)
                add_component(id);
            else
                text_.add("...");
        });
        text_.add(")");
    }
    void add_entity(Entity entity) noexcept {
        std::array<char, 40> number;
        text_.add("entity ").add(describe_entity(entity, number));
        const Name name = name_of(entity);
        if (!name.text.is_empty()) text_.add(" ('").printable(name.text.view()).add("')");
    }
    // Who is in a slot.
    void add_occupant(std::uint64_t slot) noexcept {
        const auto entity = reader_.entity_in(static_cast<std::uint32_t>(slot));
        if (entity && !entity->is_null())
            add_entity(*entity);
        else
            text_.add("slot ").number(slot).add(", which is free");
    }
    [[nodiscard]] Name name_of(Entity entity) const noexcept {
        for (std::uint32_t id = 0; id < header_.component_count; ++id) {
            const auto component = reader_.component(id);
            if (!component || component->kind != ComponentKind::sparse) continue;
            const auto table = reader_.sparse(*component);
            if (!table || table->role != SparseRole::name || component->bytes != sizeof(Name)) continue;
            const auto row = reader_.sparse_row(*table, static_cast<std::uint32_t>(entity.index()));
            if (!row || *row == 0 || reader_.entity_at(table->rows, *row - 1).value_or(Entity()) != entity)
                return {};
            const auto place = reader_.cell_offset(table->rows, *row - 1, 1);
            return place ? reader_.load<Name>(*place).value_or(Name()) : Name();
        }
        return {};
    }

    // --- where it may be
    [[nodiscard]] bool in_header() noexcept {
        if (!covers(reader_.header_offset(), sizeof(WorldHeader))) return false;
        return tell("its header, ") && add_field_of<WorldHeader>(reader_.header_offset());
    }

    [[nodiscard]] bool in_entities() noexcept {
        std::uint64_t slot = 0;
        if (!is_in(header_.entities, header_.max_entities, sizeof(EntitySlot), slot)) return false;
        text_.add("the table of entities, ");
        add_occupant(slot);
        return tell(": ") && add_field_of<EntitySlot>(owner_.offset);
    }

    [[nodiscard]] bool in_components() noexcept {
        std::uint64_t id = 0;
        if (is_in(header_.components, kMaxComponents, sizeof(ComponentRecord), id)) {
            text_.add("the registry, ");
            add_component(static_cast<ComponentId>(id));
            return tell(": ") && add_field_of<ComponentRecord>(owner_.offset);
        }
        for (; id < header_.component_count; ++id) {
            const auto component = reader_.component(static_cast<std::uint32_t>(id));
            if (component && in_component(*component)) return true;
        }
        return false;
    }
    [[nodiscard]] bool in_component(const ComponentRecord& component) noexcept {
        std::uint64_t number = 0;
        if (is_in(component.fields, component.field_count, sizeof(FieldRecord), number)) {
            text_.add("the registry, field ").number(number).add(" of ").printable(component.name.view());
            return tell(": ") && add_field_of<FieldRecord>(owner_.offset);
        }
        if (component.kind == ComponentKind::singleton && covers(component.data, component.bytes))
            return tell("resource ") && add_value(component, component.data);
        return component.kind == ComponentKind::sparse && in_sparse(component);
    }

    [[nodiscard]] bool in_sparse(const ComponentRecord& component) noexcept {
        const auto table = reader_.sparse(component);
        if (!table) return false;
        const Home home{.rows = table->rows, .sparse = component.name.view()};
        std::uint64_t number = 0;
        if (covers(component.data, sizeof(SparseTable))) {
            add_home(home);
            return tell(": ") && add_field_of<SparseTable>(component.data);
        }
        if (is_in(table->pages, table->page_count, sizeof(std::uint32_t), number)) {
            add_home(home);
            return tell(": its list of pages");
        }
        for (std::uint32_t page = 0; page < table->page_count; ++page) {
            const auto rows =
                reader_.load<std::uint32_t>(table->pages + std::uint64_t{page} * sizeof(std::uint32_t));
            if (!rows || *rows == 0 || !is_in(*rows, kSparsePageSlots, sizeof(std::uint32_t), number))
                continue;
            add_home(home);
            text_.add(": the row of ");
            add_occupant(std::uint64_t{page} * kSparsePageSlots + number);
            return true;
        }
        return in_rows(home);
    }

    [[nodiscard]] bool in_archetypes() noexcept {
        std::uint64_t number = 0;
        if (is_in(header_.archetypes, header_.max_archetypes, sizeof(ArchetypeRecord), number)) {
            const auto own = reader_.load<ArchetypeRecord>(owner_.offset);
            text_.add("the directory, ");
            if (own && number < header_.archetype_count)
                add_home({.rows = *own, .archetype = static_cast<std::uint32_t>(number)});
            else
                text_.add("unused record ").number(number);
            return tell(": ") && add_field_of<ArchetypeRecord>(owner_.offset);
        }
        for (std::uint32_t each = 0; each < header_.archetype_count; ++each) {
            const auto archetype = reader_.archetype(each);
            if (archetype && in_rows({.rows = *archetype, .archetype = each})) return true;
        }
        return false;
    }

    [[nodiscard]] bool in_rows(const Home& home) noexcept {
        std::uint64_t number = 0;
        const ArchetypeRecord& rows = home.rows;
        if (is_in(rows.columns, rows.column_count, sizeof(ColumnRecord), number) ||
            is_in(rows.column_map, rows.column_map_bytes, 1, number)) {
            add_home(home);
            return tell(": its list of columns");
        }
        for (std::uint32_t block = 0; block < rows.block_count; ++block)
            if (in_block(home, block)) return true;
        return false;
    }

    [[nodiscard]] bool in_block(const Home& home, std::uint32_t block) noexcept {
        std::uint64_t number = 0;
        const bool is_mark =
            is_in(home.rows.blocks[block], home.rows.column_count, sizeof(BlockColumn), number);
        if (is_mark) {
            const auto shape = reader_.column(home.rows, static_cast<std::uint32_t>(number));
            text_.add("marks of ");
            add_component(shape ? shape->component : kNoComponent);
            text_.add(", block ").number(block).add(" of ");
            add_home(home);
            return tell(": ") && add_field_of<BlockColumn>(owner_.offset);
        }
        for (std::uint32_t column = 0; column < home.rows.column_count; ++column)
            if (in_column(home, block, column)) return true;
        return false;
    }

    [[nodiscard]] bool in_column(const Home& home, std::uint32_t block, std::uint32_t column) noexcept {
        const auto shape = reader_.column(home.rows, column);
        const auto own = reader_.block_column(home.rows, block, column);
        const auto component = shape ? reader_.component(shape->component) : shape.status();
        if (!own || !component) return false;
        const std::uint32_t rows = rows_of_block(block);
        const std::uint32_t first = first_row_of_block(block);
        std::uint64_t at = 0;
        if (is_in(own->data, rows, shape->bytes, at))
            return add_cell(home, *component, first + static_cast<std::uint32_t>(at));
        if (own->planes == 0 || !is_in(own->planes, rows / 8 * 3, 1, at)) return false;
        constexpr std::uint32_t kOffPlane = 2;
        const std::uint64_t row = first + at % (rows / 8) * 8;
        text_.add(at / (rows / 8) == kOffPlane ? "which are switched off of " : "change bits of ");
        text_.printable(component->name.view()).add(", rows ").number(row).add(" to ").number(row + 7);
        text_.add(" of ");
        add_home(home);
        return true;
    }

    bool add_cell(const Home& home, const ComponentRecord& component, std::uint32_t row) noexcept {
        const auto entity = reader_.entity_at(home.rows, row);
        const bool is_name = component.name == "Entity";
        if (!entity) {
            text_.add("unused row ").number(row).add(" of ").printable(component.name.view()).add(" in ");
            add_home(home);
            return true;
        }
        if (is_name) text_.add("who has row ").number(row).add(": ");
        add_entity(*entity);
        text_.add(is_name ? " in " : " ");
        if (is_name) {
            add_home(home);
            return true;
        }
        owner_.number = entity->bits();
        return add_value(component, owner_.offset);
    }

    [[nodiscard]] bool in_names() noexcept {
        if (header_.names == 0) return false;
        const auto map = reader_.load<NameMap>(header_.names);
        if (!map) return false;
        std::uint64_t number = 0;
        const bool is_own = is_in(header_.names, 1, sizeof(NameMap), number);
        if (!is_own && !map->find_owner(base_, offset_, owner_)) return false;
        owner_.kind = OwnerKind::record;
        return tell("the index of names");
    }

    // Where columns smaller than a page will be.
    [[nodiscard]] bool in_arenas() noexcept {
        constexpr std::array<std::string_view, 3> kHeats = {"hot", "warm", "cold"};
        for (std::size_t heat = 0; heat < header_.arenas.size(); ++heat) {
            const HeatArena& arena = header_.arenas[heat];
            std::uint64_t number = 0;
            if (arena.cursor > arena.end || !is_in(arena.cursor, 1, arena.end - arena.cursor, number))
                continue;
            text_.add("unused room for small ").add(kHeats[heat]).add(" columns");
            return true;
        }
        return false;
    }

    const WorldReader& reader_;
    const WorldHeader& header_;
    ConstOffsetBase base_;
    std::uint64_t offset_;
    ImageOwner& owner_;
    std::array<char, ImageOwner::Words::capacity() + 1> buffer_;
    TextPiece text_{buffer_};
};

}  // namespace

bool find_world_owner(std::string_view segment, ConstOffsetBase base, std::uint64_t offset,
                      ImageOwner& owner) {
    const std::span<const std::byte> image(base.start(), base.size());
    const auto reader = WorldReader::open(image, segment);
    if (!reader || !OwnerSearch(*reader, base, offset, owner).run()) return false;
    owner.name = ImageOwner::name_of(segment);
    return true;
}

}  // namespace ouro::detail
