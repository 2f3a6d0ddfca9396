#include "entity_values.hpp"
#include "sink_text.hpp"

#include <ouro/ecs/world_dump.hpp>
#include <ouro/ecs/world_text.hpp>

#include <array>

namespace ouro {
namespace {

using detail::SinkText;

class JsonDump {
public:
    JsonDump(const WorldReader& reader, const ByteSink& sink, const WorldDumpOptions& options) noexcept
        : reader_(reader), out_(sink), options_(options) {}

    Status write() noexcept {
        const WorldHeader& header = reader_.header();
        out_.add("{\"segment\": ").quoted(reader_.segment()).add(", \"tick\": ").number(header.tick);
        out_.add(", \"segment_bytes\": ").number(reader_.segment_bytes());
        out_.add(", \"layout_hash\": \"").hexadecimal(header.layout_hash).add("\"");
        Status status = Status::ok;
        if (options_.is_whole) {
            status = write_slots();
            if (status == Status::ok) status = write_components();
            if (status == Status::ok) status = write_archetypes();
        }
        if (status == Status::ok && !options_.entity.is_null()) status = write_entity();
        out_.add("}\n");
        return status;
    }

private:
    // What stands between two elements, and nothing before the first.
    class Commas {
    public:
        explicit Commas(SinkText& out) noexcept : out_(out) {}
        void next() noexcept {
            if (!is_first_) out_.add(", ");
            is_first_ = false;
        }

    private:
        SinkText& out_;
        bool is_first_ = true;
    };

    Status write_slots() noexcept {
        const WorldHeader& header = reader_.header();
        out_.add(", \"slots\": {\"live\": ").number(header.live_entities);
        out_.add(", \"used\": ").number(header.used_slots).add(", \"max\": ").number(header.max_entities);
        out_.add(", \"retired\": ").number(header.retired_slots).add(", \"next_free\": [");
        Commas commas(out_);
        std::uint32_t listed = 0;
        const Status status = reader_.each_free_slot([&](std::uint32_t index) {
            if (listed++ >= options_.free_slots) return;
            commas.next();
            out_.number(index);
        });
        out_.add("], \"free\": ").number(listed).add("}");
        return status;
    }

    Status write_components() noexcept {
        out_.add(", \"components\": [");
        Commas commas(out_);
        for (std::uint32_t id = 0; id < reader_.header().component_count; ++id) {
            const auto record = reader_.component(id);
            if (!record) return record.status();
            commas.next();
            out_.add("{\"name\": ").quoted(record->name.view());
            out_.add(", \"kind\": ").quoted(detail::kind_name(record->kind));
            out_.add(", \"heat\": ").quoted(detail::heat_name(record->heat));
            out_.add(", \"bytes\": ").number(record->bytes);
            out_.add(", \"toggles\": ").add(record->toggles != 0 ? "true" : "false").add(", \"fields\": [");
            Status status = write_fields(*record);
            out_.add("]");
            if (status == Status::ok) status = write_own(*record);
            if (status != Status::ok) return status;
            out_.add("}");
        }
        out_.add("]");
        return Status::ok;
    }

    // Of a sparse component its rows, of a singleton its value.
    Status write_own(const ComponentRecord& record) noexcept {
        if (record.kind == ComponentKind::sparse) {
            const auto table = reader_.sparse(record);
            if (table) out_.add(", \"rows\": ").number(table->rows.row_count);
            return table.status();
        }
        if (record.kind != ComponentKind::singleton || record.data == 0) return Status::ok;
        out_.add(", \"value\": {");
        Commas commas(out_);
        const Status status = detail::visit_fields(
            reader_, record, record.data, [&](const FieldRecord& field, std::span<const std::byte> value) {
                commas.next();
                out_.quoted(field.name.view()).add(": ");
                write_value(field, value);
            });
        out_.add("}");
        return status;
    }

    Status write_fields(const ComponentRecord& record) noexcept {
        Commas commas(out_);
        for (std::uint32_t i = 0; i < record.field_count; ++i) {
            const auto field = reader_.field(record, i);
            if (!field) return field.status();
            commas.next();
            out_.add("{\"name\": ").quoted(field->name.view()).add(", \"offset\": ").number(field->offset);
            out_.add(", \"kind\": ").quoted(detail::field_kind_name(field->kind));
            out_.add(", \"element_bytes\": ").number(field->element_bytes);
            out_.add(", \"count\": ").number(field->count).add("}");
        }
        return Status::ok;
    }

    Status write_archetypes() noexcept {
        out_.add(", \"archetypes\": [");
        Commas commas(out_);
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto record = reader_.archetype(number);
            if (!record) return record.status();
            commas.next();
            out_.add("{\"rows\": ").number(record->row_count).add(", \"room\": ");
            out_.number(record->block_count == 0 ? 0 : first_row_of_block(record->block_count));
            out_.add(", \"components\": [");
            Status status = write_names(record->mask);
            out_.add("]");
            if (status == Status::ok && options_.columns) status = write_columns(*record);
            out_.add("}");
            if (status != Status::ok) return status;
        }
        out_.add("]");
        return Status::ok;
    }

    Status write_names(const ComponentMask& mask) noexcept {
        Status status = Status::ok;
        Commas commas(out_);
        mask.each([&](ComponentId id) {
            if (id == kEntityComponent || status != Status::ok) return;
            const auto record = reader_.component(id);
            status = record.status();
            if (!record) return;
            commas.next();
            out_.quoted(record->name.view());
        });
        return status;
    }

    Status write_columns(const ArchetypeRecord& archetype) noexcept {
        out_.add(", \"columns\": [");
        Commas commas(out_);
        for (std::uint32_t i = 0; i < archetype.column_count; ++i) {
            const auto shape = reader_.column(archetype, i);
            if (!shape) return shape.status();
            const auto component = reader_.component(shape->component);
            if (!component) return component.status();
            commas.next();
            out_.add("{\"component\": ").quoted(component->name.view());
            out_.add(", \"bytes\": ").number(shape->bytes).add(", \"blocks\": [");
            Commas inner(out_);
            for (std::uint32_t block = 0; block < archetype.block_count; ++block) {
                const auto own = reader_.block_column(archetype, block, i);
                if (!own) return own.status();
                inner.next();
                out_.add("{\"offset\": ").number(own->data).add(", \"rows\": ").number(rows_of_block(block));
                out_.add(", \"changed_tick\": ").number(own->tick).add("}");
            }
            out_.add("]}");
        }
        out_.add("]");
        return Status::ok;
    }

    Status write_entity() noexcept {
        std::array<char, 40> name;
        const auto slot = reader_.find(options_.entity);
        if (!slot) return slot.status();
        out_.add(", \"entity\": {\"name\": ").quoted(describe_entity(options_.entity, name));
        out_.add(", \"archetype\": ").number(slot->archetype).add(", \"row\": ").number(slot->row);
        out_.add(", \"components\": {");
        bool is_open = false;
        bool has_fields = false;
        const Status status = detail::visit_values(
            reader_, options_.entity,
            [&](const ComponentRecord& component, bool is_off) {
                out_.add(is_open ? "}, " : "").quoted(component.name.view()).add(": {");
                if (is_off) out_.add("\"(off)\": true");
                is_open = true;
                has_fields = is_off;
            },
            [&](const FieldRecord& field, std::span<const std::byte> value) {
                out_.add(has_fields ? ", " : "").quoted(field.name.view()).add(": ");
                has_fields = true;
                write_value(field, value);
            });
        out_.add(is_open ? "}}}" : "}}");
        return status;
    }

    // Numbers as numbers, where JSON has them; all else in words.
    void write_value(const FieldRecord& field, std::span<const std::byte> value) noexcept {
        std::array<char, 8'000> text;
        const std::string_view words = describe_value(field, value, text);
        const auto kind = static_cast<FieldKind>(field.kind);
        const bool is_number = kind == FieldKind::boolean || kind == FieldKind::signed_integer ||
                               kind == FieldKind::unsigned_integer || kind == FieldKind::floating;
        const bool is_whole = words.size() + 1 < text.size();
        if (is_number && is_whole && words.find("nan") == words.npos && words.find("inf") == words.npos) {
            out_.add(words);
        } else if (words.size() > 1 && words.front() == '"') {
            out_.quoted(words.substr(1, words.size() - 2));
        } else {
            out_.quoted(words);
        }
    }

    const WorldReader& reader_;
    SinkText out_;
    const WorldDumpOptions& options_;
};

}  // namespace

Status write_world_json(const WorldReader& reader, const ByteSink& sink,
                        const WorldDumpOptions& options) noexcept {
    return JsonDump(reader, sink, options).write();
}

}  // namespace ouro
