#include <ouro/base/hash.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/image_layout.hpp>

#include <cstring>
#include <new>

namespace ouro::detail {
namespace {

constexpr std::string_view kRoot = "ecs";
constexpr ComponentDescription kEntityDescription{
    .name = "Entity", .bytes = sizeof(Entity), .alignment = alignof(Entity)};

// Cuts arrays out of a block, each on a line of its own.
class Cutter {
public:
    explicit Cutter(MemoryBlock block) noexcept : block_(block) {}

    template <class T>
    std::span<T> take(std::size_t count) noexcept {
        used_ = (used_ + 63) / 64 * 64;
        T* const first = reinterpret_cast<T*>(block_.data + used_);
        used_ += count * sizeof(T);
        return {first, count};
    }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }

private:
    MemoryBlock block_;
    std::size_t used_ = 0;
};

// Whether the record of a type's name is its own.
bool is_of(const ComponentRecord& record, const KnownType& type) noexcept {
    return record.layout_hash == type.layout_hash && record.bytes == type.bytes && record.kind == type.kind;
}

void write_fields(std::span<const FieldInfo> fields, FieldRecord* each) noexcept {
    for (const FieldInfo& field : fields) {
        // A name that is too long is cut.
        static_cast<void>(each->name.assign(field.name.substr(0, each->name.capacity())));
        each->offset = field.offset;
        each->element_bytes = field.element_bytes;
        each->count = field.count;
        each->kind = static_cast<std::uint8_t>(field.kind);
        ++each;
    }
}

std::uint64_t fold_layout(std::uint64_t hash, const ComponentRecord& record,
                          const std::byte* fields) noexcept {
    hash = fold_component(hash, record);
    const std::span own(reinterpret_cast<const FieldRecord*>(fields), record.field_count);
    for (const FieldRecord& field : own)
        hash = fold_field(hash, field);
    return hash;
}

// Loops look at what is ready of the match behind the one that they visit.
std::size_t ready_places(std::uint32_t max_archetypes) noexcept {
    return std::size_t{max_archetypes} + 1;
}
std::size_t in_lines(std::size_t bytes) noexcept {
    return (bytes + 63) / 64 * 64;
}

std::uint32_t mask_slots(std::uint32_t max_archetypes) noexcept {
    return std::bit_ceil(max_archetypes * 2);
}

}  // namespace

std::size_t WorldCore::outside_bytes(const WorldOptions& options) noexcept {
    const std::size_t tables = ComponentFamily::kLimit * sizeof(KnownType) +
                               SpawnFamily::kLimit * sizeof(SpawnPlan) +
                               QueryFamily::kLimit * sizeof(QueryCache) + kMovePlans * sizeof(MovePlan) +
                               kCellPlaces * sizeof(CellPlace);
    const std::size_t each = sizeof(DeclaredRows) + 5 * sizeof(std::uint32_t);
    // Each array begins on a line.
    const std::size_t query = in_lines(options.max_archetypes * sizeof(QueryMatch)) +
                              in_lines(ready_places(options.max_archetypes) * sizeof(ReadyMatch)) +
                              in_lines(options.max_archetypes * sizeof(std::uint16_t));
    const std::size_t events = EventLog::kMaxObservers * sizeof(Observer) + options.event_bytes;
    return tables + options.max_archetypes * each + QueryFamily::kLimit * query +
           kMaxComponents * sizeof(SparseReady) + events + 4096;
}

void WorldCore::carve(MemoryBlock outside, const WorldOptions& options) noexcept {
    const std::uint32_t max_archetypes = options.max_archetypes;
    Cutter cutter(outside);
    declared_ = cutter.take<DeclaredRows>(max_archetypes);
    sparse_ready_ = cutter.take<SparseReady>(kMaxComponents);
    planned_ = cutter.take<std::uint32_t>(max_archetypes);
    const auto observers = cutter.take<Observer>(EventLog::kMaxObservers);
    const auto log = cutter.take<std::byte>(options.event_bytes);
    events_.begin(observers, {log.data(), log.size()});
    types_ = cutter.take<KnownType>(ComponentFamily::kLimit);
    plans_ = cutter.take<SpawnPlan>(SpawnFamily::kLimit);
    queries_ = cutter.take<QueryCache>(QueryFamily::kLimit);
    move_plans_ = cutter.take<MovePlan>(kMovePlans);
    cell_places_ = cutter.take<CellPlace>(kCellPlaces);
    by_mask_ = cutter.take<std::uint32_t>(mask_slots(max_archetypes));
    component_of_type_.fill(kNoComponent);
    // Memory that was never touched is zero, which is what all others begin with.
    for (QueryCache& query : queries_) {
        query.matches = cutter.take<QueryMatch>(max_archetypes).data();
        query.ready = cutter.take<ReadyMatch>(ready_places(max_archetypes)).data();
        query.match_of = cutter.take<std::uint16_t>(max_archetypes).data();
    }
    OURO_ASSERT(cutter.used() <= outside.size, "a world's tables fit into what they were counted to take");
}

Status WorldCore::begin(const WorldOptions& options, MemoryBlock outside) noexcept {
    const auto root = heap_.make_root<WorldHeader>(kRoot);
    if (!root) return root.status();
    WorldHeader& header = heap_.edit(*root);
    const auto components = heap_.allocate(kMaxComponents * sizeof(ComponentRecord), 64);
    const auto slots = heap_.allocate_unclear(std::size_t{options.max_entities} * sizeof(EntitySlot),
                                              ImageHeap::kMaxAlignment);
    const auto archetypes =
        heap_.allocate_unclear(std::size_t{options.max_archetypes} * sizeof(ArchetypeRecord), 64);
    for (const auto& block : {components, slots, archetypes})
        if (!block) return block.status();
    header.magic = WorldHeader::kMagic;
    header.version = WorldHeader::kVersion;
    header.structures_hash = header.layout_hash = kStructuresHash;
    // The tick before, and the one before that, are none.
    header.tick = 2;
    header.max_entities = options.max_entities;
    header.max_archetypes = options.max_archetypes;
    header.components = heap_.offset_of(components->data);
    header.entities = heap_.offset_of(slots->data);
    header.archetypes = heap_.offset_of(archetypes->data);
    header_ = &header;
    take_places();
    carve(outside, options);
    const auto entity = add_component_of_type(type_number<Entity>(), kEntityDescription);
    if (!entity) return entity.status();
    const auto prefab = add_component_of_type(type_number<Prefab>(), description_of<Prefab>());
    if (!prefab) return prefab.status();
    OURO_ASSERT(*prefab == kPrefabComponent, "a world's own components have the first numbers");
    return Status::ok;
}

void WorldCore::take_places() noexcept {
    slots_ = reinterpret_cast<EntitySlot*>(at(header_->entities));
    archetypes_ = reinterpret_cast<ArchetypeRecord*>(at(header_->archetypes));
    components_ = reinterpret_cast<ComponentRecord*>(at(header_->components));
    max_archetypes_ = header_->max_archetypes;
}

Status WorldCore::attach(const WorldOptions& options, MemoryBlock outside) noexcept {
    const auto root = heap_.root<WorldHeader>(kRoot);
    if (!root) return root.status();
    header_ = &const_cast<WorldHeader&>(heap_.get(*root));
    if (header_->magic != WorldHeader::kMagic || header_->version != WorldHeader::kVersion)
        return Status::wrong_format;
    if (header_->structures_hash != kStructuresHash) return Status::wrong_layout;
    take_places();
    carve(outside, options);
    types_[type_number<Entity>()] = KnownType(kEntityDescription);
    types_[type_number<Prefab>()] = KnownType(description_of<Prefab>());
    return check();
}

void WorldCore::end_tick() noexcept {
    declare_header();
    ++header_->tick;
    if (header_->tick % kAgingTicks == 0) [[unlikely]]
        age_marks();
}

void WorldCore::take_back_tick() noexcept {
    declare_header();
    --header_->tick;
}

ComponentId WorldCore::find_component(std::string_view name) const noexcept {
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        if (components_[id].name.view() == name) return static_cast<ComponentId>(id);
    return kNoComponent;
}

Expected<ComponentId> WorldCore::add_component(const ComponentDescription& description) noexcept {
    if (!is_there()) return Status::not_found;
    if (const ComponentId known = find_component(description.name); known != kNoComponent) {
        const bool is_same =
            is_of(components_[known], KnownType(description)) &&
            (description.kind != ComponentKind::sparse || sparse_table(known).role == description.role);
        return is_same ? Expected<ComponentId>(known) : Status::wrong_layout;
    }
    if (header_->component_count == kMaxComponents) return Status::capacity_exhausted;
    expect_registration(description.name);
    ComponentRecord record{};
    if (description.name.empty() || record.name.assign(description.name) != Status::ok)
        return Status::bad_argument;
    record.layout_hash = description.layout_hash;
    record.bytes = description.bytes;
    record.alignment = static_cast<std::uint16_t>(description.alignment);
    record.heat = description.heat;
    record.kind = description.kind;
    record.toggles = description.toggles ? 1 : 0;
    record.field_count = static_cast<std::uint16_t>(description.fields.size());
    if (record.field_count != 0) {
        const auto fields = heap_.allocate(record.field_count * sizeof(FieldRecord), 16);
        if (!fields) return fields.status();
        record.fields = heap_.offset_of(fields->data);
        declare(fields->data, fields->size);
        write_fields(description.fields, reinterpret_cast<FieldRecord*>(fields->data));
    }
    const auto id = static_cast<ComponentId>(header_->component_count);
    if (record.kind == ComponentKind::sparse) {
        const Status status = add_sparse_table(record, id, description.role);
        if (status != Status::ok) {
            if (record.fields != 0)
                heap_.deallocate({at(record.fields), record.field_count * sizeof(FieldRecord)});
            return status;
        }
    }
    declare_header();
    ++header_->component_count;
    heap_.edit(components_[id]) = record;
    header_->registry_hash = combine_hash(header_->registry_hash, hash_name(description.name));
    header_->layout_hash = fold_layout(header_->layout_hash, record, at(record.fields));
    return id;
}

Expected<ComponentId> WorldCore::add_component_of_type(std::uint32_t type,
                                                       const ComponentDescription& description) noexcept {
    if (const Status status = check_name(type, description); status != Status::ok) return status;
    const auto id = add_component(description);
    if (!id) return id;
    const KnownType own(description);
    // In a time that was rolled back, the name may have been that of another type.
    for (const KnownType& other : types_)
        if (other.name == own.name && !other.is_like(own)) forget_types();
    types_[type] = own;
    find_ids_again();
    return id;
}

Expected<ComponentId> WorldCore::find_component_of_type(std::uint32_t type,
                                                        const ComponentDescription& own) noexcept {
    if (!is_there()) return Status::not_found;
    const ComponentId id = find_component(own.name);
    const KnownType known(own);
    const bool is_noted = types_[type].name == known.name && types_[type].is_like(known);
    // Nothing is written, as others may look at once.
    if (is_noted && id == kNoComponent) return id;
    if (id != kNoComponent) return add_component_of_type(type, own);
    if (const Status status = check_name(type, own); status != Status::ok) return status;
    // It is found as soon as somebody makes it known.
    types_[type] = known;
    return id;
}

// wrong_layout when the name is that of another type which would be taken for this one. The image has names
// only: whoever reads one of the two would get the other, and systems that write them would run at once.
Status WorldCore::check_name(std::uint32_t type, const ComponentDescription& own) noexcept {
    const KnownType known(own);
    clash_ = {};
    for (std::uint32_t other = 1; other < types_.size(); ++other) {
        if (other == type || types_[other].name != own.name) continue;
        clash_ = {types_[other].type, own.type};
        if (types_[other].is_like(known)) return Status::wrong_layout;
    }
    return Status::ok;
}

// Whether a type of this program was looked for by the name.
bool WorldCore::is_taken(std::string_view name) const noexcept {
    for (const KnownType& type : types_)
        if (type.name == name) return true;
    return false;
}

std::uint64_t WorldCore::hash_of_registry() const noexcept {
    std::uint64_t hash = 0;
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        hash = combine_hash(hash, hash_name(components_[id].name.view()));
    return hash;
}

// Requires: the fields of all components lie in the image.
std::uint64_t WorldCore::hash_of_layout() const noexcept {
    std::uint64_t hash = header_->structures_hash;
    for (std::uint32_t id = 0; id < header_->component_count; ++id)
        hash = fold_layout(hash, components_[id], at(components_[id].fields));
    return hash;
}

// Types keep their names, whatever numbers these have had.
ComponentId WorldCore::find_type(const KnownType& type) const noexcept {
    const ComponentId id = type.name.empty() ? kNoComponent : find_component(type.name);
    return id == kNoComponent || is_of(components_[id], type) ? id : kNoComponent;
}

void WorldCore::find_ids_again() const noexcept {
    for (std::uint32_t type = 0; type < ComponentFamily::kLimit; ++type)
        component_of_type_[type] = find_type(types_[type]);
    events_.find_ids(component_of_type_);
    known_registry_ = header_->registry_hash;
}

void WorldCore::forget_types() noexcept {
    for (SpawnPlan& plan : plans_)
        plan = {};
    for (QueryCache& query : queries_)
        query.registry_hash = query.known_hash = 0;
    forget_places();
}

void WorldCore::forget_places() noexcept {
    for (SpawnPlan& plan : plans_)
        plan.epoch = 0;
    for (MovePlan& plan : move_plans_)
        plan.epoch = 0;
    for (CellPlace& place : cell_places_)
        place.forget();
}

}  // namespace ouro::detail
