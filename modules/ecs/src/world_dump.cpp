#include "entity_values.hpp"
#include "sink_text.hpp"

#include <ouro/ecs/world_dump.hpp>
#include <ouro/ecs/world_text.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace {

using detail::SinkText;

constexpr std::size_t kNameColumn = 6;

std::uint64_t room_of(const ArchetypeRecord& archetype) noexcept {
    return archetype.block_count == 0 ? 0 : std::uint64_t{first_row_of_block(archetype.block_count)};
}

class TextDump {
public:
    TextDump(const WorldReader& reader, const ByteSink& sink, const WorldDumpOptions& options) noexcept
        : reader_(reader), out_(sink), options_(options) {}

    Status write() noexcept {
        if (!options_.is_whole) return write_entity();
        write_summary();
        Status status = write_free_slots();
        if (status == Status::ok) status = write_components();
        if (status == Status::ok) status = write_archetypes();
        if (status == Status::ok) status = write_others();
        if (status == Status::ok && !options_.entity.is_null()) {
            out_.end_line();
            status = write_entity();
        }
        return status;
    }

private:
    void write_summary() noexcept {
        const WorldHeader& header = reader_.header();
        out_.add("world \"").printable(reader_.segment()).add("\", tick ").number(header.tick).add(": ");
        out_.number(header.live_entities).add(" entities, ").number(header.archetype_count);
        out_.add(" archetypes, ").number(header.component_count).add(" components, segment of ");
        out_.bytes(reader_.segment_bytes()).add(", layout ").hexadecimal(header.layout_hash).end_line();
    }

    Status write_free_slots() noexcept {
        const WorldHeader& header = reader_.header();
        const std::uint32_t free = header.used_slots - header.live_entities - header.retired_slots;
        out_.add("slots: ").number(header.used_slots).add(" used of ").number(header.max_entities);
        out_.add(", ").number(free).add(" free, ").number(header.retired_slots).add(" retired");
        std::uint32_t listed = 0;
        const Status status = reader_.each_free_slot([&](std::uint32_t index) {
            if (listed == 0) out_.add("; next:");
            if (listed++ < options_.free_slots) out_.add(" ").number(index);
        });
        if (listed > options_.free_slots) out_.add(" ...");
        out_.end_line();
        return status;
    }

    Status write_components() noexcept {
        out_.end_line().add("components").end_line();
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record) return record.status();
            out_.add("  ").number(id).pad_to(kNameColumn).printable(record->name.view()).pad_to(28);
            out_.add(detail::kind_name(record->kind)).pad_to(39).add(detail::heat_name(record->heat));
            out_.pad_to(45).bytes(record->bytes);
            if (record->toggles != 0) out_.add(", can be switched off");
            out_.end_line();
            for (std::uint32_t i = 0; i < record->field_count; ++i) {
                const auto field = reader_.field(*record, i);
                if (!field) return field.status();
                out_.pad_to(kNameColumn + 2).add("+").number(field->offset).pad_to(14);
                out_.printable(field->name.view()).pad_to(39).add(detail::field_kind_name(field->kind));
                const auto kind = static_cast<FieldKind>(field->kind);
                if (kind == FieldKind::text || kind == FieldKind::opaque)
                    out_.add(" of ").bytes(field->element_bytes);
                else
                    out_.add(" ").number(std::uint64_t{field->element_bytes} * 8);
                if (field->count != 1) out_.add(" x ").number(field->count);
                out_.end_line();
            }
        }
        return Status::ok;
    }

    Status write_archetypes() noexcept {
        out_.end_line().add("archetypes").end_line();
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto record = reader_.archetype(number);
            if (!record) return record.status();
            const std::uint64_t room = room_of(*record);
            out_.add("  ").number(number).pad_to(kNameColumn).number(record->row_count);
            out_.add(record->row_count == 1 ? " row" : " rows");
            if (room != 0)
                out_.add(" of ").number(room).add(" (").number(record->row_count * 100ULL / room).add("%)");
            out_.add(":");
            if (const Status status = write_names(record->mask); status != Status::ok) return status;
            out_.end_line();
            if (!options_.columns) continue;
            if (const Status status = write_columns(*record); status != Status::ok) return status;
        }
        return Status::ok;
    }

    Status write_names(const ComponentMask& mask) noexcept {
        Status status = Status::ok;
        std::string_view before = " ";
        mask.each([&](ComponentId id) {
            if (id == kEntityComponent || status != Status::ok) return;
            const auto record = reader_.component(id);
            status = record.status();
            if (record) out_.add(before).printable(record->name.view());
            before = ", ";
        });
        return status;
    }

    Status write_columns(const ArchetypeRecord& archetype) noexcept {
        for (std::uint32_t i = 0; i < archetype.column_count; ++i) {
            const auto shape = reader_.column(archetype, i);
            if (!shape) return shape.status();
            const auto component = reader_.component(shape->component);
            if (!component) return component.status();
            out_.pad_to(kNameColumn + 2).printable(component->name.view()).pad_to(28);
            out_.bytes(std::uint64_t{archetype.row_count} * shape->bytes).pad_to(39).add("in");
            std::uint32_t newest = 0;
            for (std::uint32_t block = 0; block < archetype.block_count; ++block) {
                const auto own = reader_.block_column(archetype, block, i);
                if (!own) return own.status();
                newest = std::max(newest, own->tick);
                out_.add(" ").hexadecimal(own->data);
            }
            if (newest != 0) out_.add(", changed in tick ").number(newest);
            out_.end_line();
        }
        return Status::ok;
    }

    Status write_entity() noexcept {
        std::array<char, 40> name;
        const auto slot = reader_.find(options_.entity);
        if (!slot) return slot.status();
        out_.add("entity ").add(describe_entity(options_.entity, name)).add(": archetype ");
        out_.number(slot->archetype).add(", row ").number(slot->row);
        out_.add(", tick ").number(reader_.header().tick).end_line();
        return detail::visit_values(
            reader_, options_.entity,
            [&](const ComponentRecord& component, bool is_off) {
                out_.add("  ").printable(component.name.view()).add(is_off ? " (off)" : "").end_line();
            },
            [&](const FieldRecord& field, std::span<const std::byte> value) { write_field(field, value); });
    }

    void write_field(const FieldRecord& field, std::span<const std::byte> value) noexcept {
        std::array<char, 200> text;
        out_.pad_to(4).printable(field.name.view()).pad_to(28);
        out_.add(describe_value(field, value, text)).end_line();
    }

    // What belongs to no archetype.
    Status write_others() noexcept {
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record) return record.status();
            Status status = Status::ok;
            if (record->kind == ComponentKind::sparse) {
                const auto table = reader_.sparse(*record);
                if (!table) return table.status();
                out_.end_line().add("sparse ").printable(record->name.view()).add(": ");
                out_.number(table->rows.row_count).add(table->rows.row_count == 1 ? " row" : " rows");
                out_.add(" of ").number(room_of(table->rows)).end_line();
                if (options_.columns) status = write_columns(table->rows);
            } else if (record->kind == ComponentKind::singleton && record->data != 0) {
                out_.end_line().add("singleton ").printable(record->name.view()).end_line();
                status =
                    detail::visit_fields(reader_, *record, record->data,
                                         [&](const FieldRecord& field, std::span<const std::byte> value) {
                                             write_field(field, value);
                                         });
            }
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }

    const WorldReader& reader_;
    SinkText out_;
    const WorldDumpOptions& options_;
};

}  // namespace

Status write_world_text(const WorldReader& reader, const ByteSink& sink,
                        const WorldDumpOptions& options) noexcept {
    return TextDump(reader, sink, options).write();
}

}  // namespace ouro
