#include "touched_entities.hpp"
#include "world_schema.hpp"

#include <ouro/ecs/world_diff.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// The columns of the block that was looked at last: most entities lie beside the one before.
class BlockView {
public:
    explicit BlockView(const WorldReader& reader) noexcept : reader_(reader) {}

    [[nodiscard]] const WorldReader& reader() const noexcept { return reader_; }
    [[nodiscard]] const ComponentMask& mask() const noexcept { return record_.mask; }

    // corrupt_data.
    [[nodiscard]] Status go_to(EntitySlot slot) noexcept {
        row_ = slot.row;
        const RowPlace place = place_of_row(slot.row);
        index_ = place.index;
        if (slot.archetype != archetype_) {
            const auto record = reader_.archetype(slot.archetype);
            if (!record) return Status::corrupt_data;
            record_ = *record;
            archetype_ = slot.archetype;
            block_ = kNone;
        }
        if (slot.row >= record_.row_count) return Status::corrupt_data;
        return place.block == block_ ? Status::ok : take_block(place.block);
    }
    // Of a component in a column; null when it is none.
    [[nodiscard]] const BlockColumn* find(ComponentId id) const noexcept {
        return columns_of_[id] == 0 ? nullptr : &columns_[columns_of_[id] - 1U];
    }
    [[nodiscard]] Status read(ComponentId id, std::span<std::byte> out) const noexcept {
        return reader_.read(find(id)->data + std::uint64_t{index_} * out.size(), out);
    }
    [[nodiscard]] Expected<bool> is_disabled(ComponentId id) const noexcept {
        if (find(id)->has_disabled == 0) return false;
        return reader_.is_disabled(record_, row_, columns_of_[id] - 1U);
    }

private:
    Status take_block(std::uint32_t block) noexcept {
        block_ = kNone;
        columns_of_ = {};
        for (std::uint32_t i = 0; i < record_.column_count; ++i) {
            const auto shape = reader_.column(record_, i);
            const auto own = reader_.block_column(record_, block, i);
            if (!shape || !own) return Status::corrupt_data;
            columns_[i] = *own;
            columns_of_[shape->component] = static_cast<std::uint16_t>(i + 1);
        }
        block_ = block;
        return Status::ok;
    }

    const WorldReader& reader_;
    ArchetypeRecord record_{};
    std::array<BlockColumn, kMaxComponents> columns_{};
    // By component, plus one.
    std::array<std::uint16_t, kMaxComponents> columns_of_{};
    std::uint32_t archetype_ = kNone;
    std::uint32_t block_ = kNone;
    std::uint32_t row_ = 0;
    std::uint32_t index_ = 0;
};

class WorldDiffer {
public:
    WorldDiffer(const WorldReader& before, const WorldReader& after, WorldChangeVisit visit,
                void* function) noexcept
        : before_(before), after_(after), visit_(visit), function_(function) {}

    [[nodiscard]] Status begin() noexcept;
    [[nodiscard]] Status compare_singletons() noexcept;
    [[nodiscard]] Status compare_slot(std::uint32_t index) noexcept;

private:
    [[nodiscard]] Expected<Entity> entity_in(const WorldReader& reader, std::uint32_t index) const noexcept {
        return index < reader.header().used_slots ? reader.entity_in(index) : Entity();
    }
    [[nodiscard]] std::string_view name_before(ComponentId id) const noexcept {
        return schema_before_->components()[id].name.view();
    }
    [[nodiscard]] std::string_view name_after(ComponentId id) const noexcept {
        return schema_after_->components()[id].name.view();
    }
    void tell(WorldChange::Kind kind, Entity entity, std::string_view component = {}) const noexcept {
        visit_(function_, {.kind = kind, .entity = entity, .component = component});
    }
    [[nodiscard]] Status compare_entity(Entity entity) noexcept;
    [[nodiscard]] Status compare_sparse(Entity entity) noexcept;
    // Where an entity's sparse component is; zero when it has none.
    [[nodiscard]] static Expected<std::uint64_t> sparse_cell(const WorldReader& reader,
                                                             const WorldSchema& schema, ComponentId id,
                                                             Entity entity) noexcept;
    [[nodiscard]] Status compare_component(Entity entity, ComponentId was, ComponentId is) noexcept;
    void compare_values(Entity entity, ComponentId was, ComponentId is) const noexcept;
    [[nodiscard]] std::span<std::byte> value_before(ComponentId id) const noexcept {
        return {values_.block().data, schema_before_->components()[id].bytes};
    }
    [[nodiscard]] std::span<std::byte> value_after(ComponentId id) const noexcept {
        return {values_.block().data + largest_, schema_after_->components()[id].bytes};
    }

    BlockView before_;
    BlockView after_;
    WorldChangeVisit visit_;
    void* function_;
    Expected<WorldSchema> schema_before_ = Status::not_found;
    Expected<WorldSchema> schema_after_ = Status::not_found;
    // Which component of the other world has the same name; kNoComponent.
    std::array<ComponentId, kMaxComponents> later_{};
    std::array<ComponentId, kMaxComponents> earlier_{};
    os::Reservation values_;
    std::size_t largest_ = 0;
};

Status WorldDiffer::begin() noexcept {
    schema_before_ = WorldSchema::read(before_.reader());
    if (!schema_before_) return schema_before_.status();
    schema_after_ = WorldSchema::read(after_.reader());
    if (!schema_after_) return schema_after_.status();
    later_.fill(kNoComponent);
    earlier_.fill(kNoComponent);
    for (std::size_t id = 0; id < schema_before_->components().size(); ++id) {
        const ComponentRecord& record = schema_before_->components()[id];
        largest_ = std::max<std::size_t>(largest_, record.bytes);
        const std::size_t other = schema_after_->find(record.name.view());
        if (other == schema_after_->components().size()) continue;
        later_[id] = static_cast<ComponentId>(other);
        earlier_[other] = static_cast<ComponentId>(id);
    }
    for (const ComponentRecord& record : schema_after_->components())
        largest_ = std::max<std::size_t>(largest_, record.bytes);
    auto memory = os::Reservation::create({.bytes = 2 * largest_ + 1});
    if (!memory) return memory.status();
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    values_ = *std::move(memory);
    return Status::ok;
}

Status WorldDiffer::compare_singletons() noexcept {
    for (std::size_t id = 0; id < schema_after_->components().size(); ++id) {
        const ComponentRecord& is = schema_after_->components()[id];
        if (is.kind != ComponentKind::singleton) continue;
        const ComponentId earlier = earlier_[id];
        const auto here = static_cast<ComponentId>(id);
        const bool was_there = earlier != kNoComponent && schema_before_->components()[earlier].data != 0;
        if (!was_there || is.data == 0) {
            if (was_there != (is.data != 0))
                tell(was_there ? WorldChange::Kind::removed : WorldChange::Kind::added, {}, is.name);
            continue;
        }
        const ComponentRecord& was = schema_before_->components()[earlier];
        Status status = before_.reader().read(was.data, value_before(earlier));
        if (status == Status::ok) status = after_.reader().read(is.data, value_after(here));
        if (status != Status::ok) return status;
        compare_values({}, earlier, here);
    }
    return Status::ok;
}

Status WorldDiffer::compare_slot(std::uint32_t index) noexcept {
    const auto was = entity_in(before_.reader(), index);
    if (!was) return was.status();
    const auto is = entity_in(after_.reader(), index);
    if (!is) return is.status();
    if (*was == *is) return was->is_null() ? Status::ok : compare_entity(*was);
    if (!was->is_null()) tell(WorldChange::Kind::destroyed, *was);
    if (!is->is_null()) tell(WorldChange::Kind::spawned, *is);
    return Status::ok;
}

Status WorldDiffer::compare_entity(Entity entity) noexcept {
    const auto from = before_.reader().find(entity);
    const auto to = after_.reader().find(entity);
    if (!from || !to) return Status::corrupt_data;
    if (const Status status = before_.go_to(*from); status != Status::ok) return status;
    if (const Status status = after_.go_to(*to); status != Status::ok) return status;
    Status status = Status::ok;
    before_.mask().each([&](ComponentId id) {
        if (id >= schema_before_->components().size()) {
            status = Status::corrupt_data;
        } else if (later_[id] == kNoComponent || !after_.mask().has(later_[id])) {
            tell(WorldChange::Kind::removed, entity, name_before(id));
        }
    });
    after_.mask().each([&](ComponentId id) {
        if (id >= schema_after_->components().size()) {
            status = Status::corrupt_data;
        } else if (earlier_[id] == kNoComponent || !before_.mask().has(earlier_[id])) {
            tell(WorldChange::Kind::added, entity, name_after(id));
        } else if (status == Status::ok && id != kEntityComponent) {
            status = compare_component(entity, earlier_[id], id);
        }
    });
    return status == Status::ok ? compare_sparse(entity) : status;
}

Expected<std::uint64_t> WorldDiffer::sparse_cell(const WorldReader& reader, const WorldSchema& schema,
                                                 ComponentId id, Entity entity) noexcept {
    if (id == kNoComponent) return std::uint64_t{0};
    const auto table = reader.sparse(schema.components()[id]);
    if (!table)
        return table.status() == Status::out_of_range ? Expected<std::uint64_t>(std::uint64_t{0})
                                                      : Expected<std::uint64_t>(table.status());
    const auto row = reader.sparse_row(*table, static_cast<std::uint32_t>(entity.index()));
    if (!row) return row.status();
    return *row == 0 ? Expected<std::uint64_t>(std::uint64_t{0})
                     : reader.cell_offset(table->rows, *row - 1, 1);
}

Status WorldDiffer::compare_sparse(Entity entity) noexcept {
    for (std::size_t id = 0; id < schema_after_->components().size(); ++id) {
        if (schema_after_->components()[id].kind != ComponentKind::sparse) continue;
        const auto here = static_cast<ComponentId>(id);
        const auto was = sparse_cell(before_.reader(), *schema_before_, earlier_[id], entity);
        const auto is = sparse_cell(after_.reader(), *schema_after_, here, entity);
        if (!was || !is) return Status::corrupt_data;
        if (*was == 0 || *is == 0) {
            if (*was != *is)
                tell(*is != 0 ? WorldChange::Kind::added : WorldChange::Kind::removed, entity,
                     name_after(here));
            continue;
        }
        Status status = before_.reader().read(*was, value_before(earlier_[id]));
        if (status == Status::ok) status = after_.reader().read(*is, value_after(here));
        if (status != Status::ok) return status;
        compare_values(entity, earlier_[id], here);
    }
    return Status::ok;
}

Status WorldDiffer::compare_component(Entity entity, ComponentId was, ComponentId is) noexcept {
    if (before_.find(was) == nullptr || after_.find(is) == nullptr) return Status::ok;
    Status status = before_.read(was, value_before(was));
    if (status == Status::ok) status = after_.read(is, value_after(is));
    if (status != Status::ok) return status;
    compare_values(entity, was, is);
    const auto was_off = before_.is_disabled(was);
    const auto is_off = after_.is_disabled(is);
    if (!was_off || !is_off) return Status::corrupt_data;
    if (*was_off != *is_off)
        tell(*is_off ? WorldChange::Kind::disabled : WorldChange::Kind::enabled, entity, name_after(is));
    return Status::ok;
}

void WorldDiffer::compare_values(Entity entity, ComponentId was, ComponentId is) const noexcept {
    const std::span<const std::byte> old = value_before(was);
    const std::span<const std::byte> now = value_after(is);
    const auto old_fields = schema_before_->fields(was);
    const auto fields = schema_after_->fields(is);
    const bool has_same_layout =
        schema_before_->components()[was].layout_hash == schema_after_->components()[is].layout_hash;
    if (has_same_layout && std::ranges::equal(old, now)) return;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldRecord* earlier = i < old_fields.size() ? &old_fields[i] : nullptr;
        if (earlier == nullptr || earlier->name != fields[i].name) {
            const auto found = std::ranges::find_if(
                old_fields, [&](const FieldRecord& each) { return each.name == fields[i].name; });
            if (found == old_fields.end()) continue;
            earlier = &*found;
        }
        const auto bytes_of = [](std::span<const std::byte> value, const FieldRecord& field) {
            return value.subspan(field.offset, std::size_t{field.element_bytes} * field.count);
        };
        const auto from = bytes_of(old, *earlier);
        const auto to = bytes_of(now, fields[i]);
        if (earlier->kind == fields[i].kind && std::ranges::equal(from, to)) continue;
        visit_(function_, {.kind = WorldChange::Kind::changed,
                           .entity = entity,
                           .component = name_after(is),
                           .field = &fields[i],
                           .field_before = earlier,
                           .before = from,
                           .after = to});
    }
}

}  // namespace

Status diff_erased(const WorldReader& before, const WorldReader& after, const TickView* before_view,
                   const TickView* after_view, WorldChangeVisit visit, void* function) noexcept {
    WorldDiffer differ(before, after, visit, function);
    Status status = differ.begin();
    if (status == Status::ok) status = differ.compare_singletons();
    if (status != Status::ok) return status;
    TouchedEntities touched(before, after);
    status = before_view != nullptr ? touched.find(*before_view, *after_view) : touched.take_all();
    if (status != Status::ok) return status;
    return touched.each([&](std::uint32_t slot) noexcept { return differ.compare_slot(slot); });
}

}  // namespace ouro::detail
