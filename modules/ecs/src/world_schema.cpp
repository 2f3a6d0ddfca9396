#include "world_schema.hpp"

#include <algorithm>
#include <utility>

namespace ouro::detail {
namespace {

constexpr std::string_view kOtherWay = "was saved as another kind of component";
constexpr std::string_view kTwice = "was saved twice: under this name, and under one that became it";
constexpr std::string_view kOpaque = "was saved with fields of the same sizes but of other types";

template <class T>
std::span<T> array_at(std::byte* start, std::size_t& used, std::size_t count) noexcept {
    used = (used + alignof(T) - 1) / alignof(T) * alignof(T);
    T* const first = reinterpret_cast<T*>(start + used);
    used += count * sizeof(T);
    return {first, count};
}

Expected<os::Reservation> take_memory(std::size_t bytes) noexcept {
    auto memory = os::Reservation::create({.bytes = bytes});
    if (!memory) return memory;
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    return memory;
}

// The same places, whatever the names of types say that are not known here.
bool are_same(std::span<const FieldRecord> a, std::span<const FieldRecord> b) noexcept {
    return std::ranges::equal(a, b, [](const FieldRecord& one, const FieldRecord& other) {
        return one.name == other.name && one.offset == other.offset && one.count == other.count &&
               one.element_bytes == other.element_bytes && one.kind == other.kind;
    });
}

// Whether one can become the other: what becomes of the sources of a target that goes may have changed.
bool are_alike(SparseRole saved, SparseRole now) noexcept {
    return saved == now || (saved >= SparseRole::sources_stay && now >= SparseRole::sources_stay);
}

// A field, or one in that struct or array.
bool is_within(std::string_view name, std::string_view outer) noexcept {
    if (!name.starts_with(outer)) return false;
    std::string_view rest = name;
    rest.remove_prefix(outer.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[';
}

}  // namespace

Expected<WorldSchema> WorldSchema::read(const WorldReader& reader) noexcept {
    const std::uint32_t count = reader.header().component_count;
    std::size_t fields = 0;
    for (std::uint32_t id = 0; id < count; ++id) {
        const auto record = reader.component(id);
        if (!record) return record.status();
        fields += record->field_count;
    }
    WorldSchema made;
    auto memory = take_memory(count * (sizeof(ComponentRecord) + 8) + fields * sizeof(FieldRecord) + 64);
    if (!memory) return memory.status();
    made.memory_ = *std::move(memory);
    std::size_t used = 0;
    std::byte* const start = made.memory_.block().data;
    made.components_ = array_at<ComponentRecord>(start, used, count);
    made.first_ = array_at<std::uint32_t>(start, used, count);
    made.fields_ = array_at<FieldRecord>(start, used, fields);
    std::uint32_t next = 0;
    for (std::uint32_t id = 0; id < count; ++id) {
        const auto record = reader.component(id);
        // It may have changed since, where others write.
        if (!record || record->field_count > fields - next) return Status::corrupt_data;
        made.components_[id] = *record;
        if (record->kind == ComponentKind::sparse) {
            const auto table = reader.sparse(*record);
            if (!table) return table.status();
            made.roles_[id] = table->role;
        }
        made.first_[id] = next;
        made.most_fields_ = std::max<std::size_t>(made.most_fields_, record->field_count);
        for (std::uint32_t number = 0; number < record->field_count; ++number) {
            const auto field = reader.field(*record, number);
            if (!field) return field.status();
            made.fields_[next++] = *field;
        }
    }
    return made;
}

std::size_t WorldSchema::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(
        components_, [&](const ComponentRecord& record) { return record.name.view() == name; });
    return static_cast<std::size_t>(found - components_.begin());
}

Status SchemaPlan::refuse(std::string_view component, std::string_view field,
                          std::string_view reason) const noexcept {
    if (options_.problem != nullptr) {
        WorldLoadProblem& problem = *options_.problem;
        problem = {};
        static_cast<void>(problem.component.assign(component.substr(0, problem.component.capacity())));
        static_cast<void>(problem.field.assign(field.substr(0, problem.field.capacity())));
        problem.reason = reason;
    }
    return Status::wrong_layout;
}

Status SchemaPlan::make() noexcept {
    auto memory = take_memory((today_.most_fields() + 1) * sizeof(FieldCopy));
    if (!memory) return memory.status();
    memory_ = *std::move(memory);
    std::size_t used = 0;
    copies_ = array_at<FieldCopy>(memory_.block().data, used, today_.most_fields() + 1);
    for (std::size_t id = 0; id < saved_.components().size(); ++id)
        if (const Status status = take(id); status != Status::ok) return status;
    return Status::ok;
}

Status SchemaPlan::take(std::size_t id) noexcept {
    const ComponentRecord& saved = saved_.components()[id];
    Fate& fate = fates_[id];
    fate.name = saved.name.view();
    for (const SchemaChange& change : options_.changes) {
        if (change.from != saved.name.view() || change.kind == SchemaChange::Kind::field_renamed) continue;
        if (id <= kPrefabComponent || change.to.size() > saved.name.capacity()) continue;
        changes_anything_ = true;
        fate.is_removed = change.kind == SchemaChange::Kind::component_removed;
        if (fate.is_removed) return Status::ok;
        fate.name = change.to;
    }
    const std::string_view name = fate.name;
    const std::size_t today = today_.find(name);
    const bool is_known = today != today_.components().size();
    const auto is_renamed = [&](std::size_t each) {
        return fates_[each].name != saved_.components()[each].name.view();
    };
    // What was removed twice has one name, and that is nobody's.
    for (std::size_t other = 0; other < id; ++other)
        if (!fates_[other].is_removed && fates_[other].name == name &&
            (is_known || is_renamed(id) || is_renamed(other)))
            return refuse(name, {}, kTwice);
    if (!is_known) return Status::ok;
    const ComponentRecord& now = today_.components()[today];
    fate.today = static_cast<std::uint16_t>(today);
    if (saved.kind != now.kind || !are_alike(saved_.role(id), today_.role(today)))
        return refuse(name, {}, kOtherWay);
    if (saved_.role(id) != today_.role(today)) changes_anything_ = true;
    const bool is_same = saved.layout_hash == now.layout_hash && saved.bytes == now.bytes;
    if (saved.heat != now.heat || saved.toggles != now.toggles || !is_same) changes_anything_ = true;
    if (is_same) return Status::ok;
    if (are_same(saved_.fields(id), today_.fields(today))) return refuse(name, {}, kOpaque);
    fate.is_converted = true;
    std::size_t count = 0;
    return plan_fields(id, count);
}

const FieldRecord* SchemaPlan::saved_field(std::size_t id, std::string_view component,
                                           std::string_view today) const noexcept {
    FixedString<47> name;
    bool has_other_name = false;
    bool is_taken = false;
    for (const SchemaChange& change : options_.changes) {
        if (change.kind != SchemaChange::Kind::field_renamed || change.component != component) continue;
        is_taken = is_taken || is_within(today, change.from);
        if (!is_within(today, change.to)) continue;
        has_other_name = true;
        std::string_view rest = today;
        rest.remove_prefix(change.to.size());
        static_cast<void>(name.assign(change.from.substr(0, name.capacity())));
        static_cast<void>(name.append(rest.substr(0, name.capacity() - name.size())));
    }
    // What had this name then has another one now.
    if (is_taken && !has_other_name) return nullptr;
    if (!has_other_name) static_cast<void>(name.assign(today.substr(0, name.capacity())));
    const auto fields = saved_.fields(id);
    const auto found =
        std::ranges::find_if(fields, [&](const FieldRecord& each) { return each.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

Status SchemaPlan::plan_fields(std::size_t id, std::size_t& count) noexcept {
    const std::size_t today = fates_[id].today;
    const std::string_view component = today_.components()[today].name.view();
    for (const FieldRecord& field : today_.fields(today)) {
        const FieldRecord* const from = saved_field(id, component, field.name.view());
        if (from == nullptr) continue;
        const std::string_view reason = plan_copy(*from, field, copies_[count++]);
        if (!reason.empty()) return refuse(component, field.name.view(), reason);
    }
    return Status::ok;
}

std::span<const FieldCopy> SchemaPlan::copies(std::size_t id) noexcept {
    std::size_t count = 0;
    static_cast<void>(plan_fields(id, count));
    return copies_.first(count);
}

}  // namespace ouro::detail
