#include <ouro/ecs/detail/sparse_set.hpp>
#include <ouro/ecs/names.hpp>

namespace ouro {
namespace detail {

void WorldCore::forget_name(const SparseSet& names, std::uint32_t row) noexcept {
    const auto& map = *reinterpret_cast<const NameMap*>(at(header_->names));
    heap_.bind(map).erase(names.cell<Name>(row).text);
}

Status WorldCore::make_name_map() noexcept {
    if (header_->names != 0) return Status::ok;
    const auto map = heap_.make<NameMap>();
    if (!map) return map.status();
    declare_header();
    header_->names = map->offset();
    return Status::ok;
}

bool WorldCore::has_sound_names(const SparseTable& table) const noexcept {
    if (header_->names == 0) return table.rows.row_count == 0;
    if (!heap_.can_have(header_->names, sizeof(NameMap))) return false;
    if (reinterpret_cast<const NameMap*>(at(header_->names))->check(heap_) != Status::ok) return false;
    auto& core = const_cast<WorldCore&>(*this);
    const auto map = core.heap_.bind(*reinterpret_cast<const NameMap*>(at(header_->names)));
    if (map.size() != table.rows.row_count) return false;
    const SparseSet names(core, const_cast<SparseTable&>(table));
    for (std::uint32_t row = 0; row < names.size(); ++row) {
        const Entity* const found = map.find(names.cell<Name>(row).text);
        if (found == nullptr || *found != names.entity(row)) return false;
    }
    return true;
}

}  // namespace detail

namespace {

auto name_map(detail::WorldCore& core) noexcept {
    return core.heap().bind(*reinterpret_cast<const NameMap*>(core.at(core.header().names)));
}

// A world that was loaded or attached may have names of which this program has set none: they are found
// without making the type known, as others may look at once. kNoComponent when there are none.
ComponentId names_in(const detail::WorldCore& core) noexcept {
    const ComponentId known = core.id_of<Name>();
    if (known != kNoComponent || core.header().names == 0) return known;
    const ComponentId found = core.find_component(component_name<Name>());
    const bool is_right = found != kNoComponent && core.component(found).kind == ComponentKind::sparse &&
                          core.component(found).bytes == sizeof(Name);
    return is_right ? found : kNoComponent;
}

}  // namespace

Status set_name(World& world, Entity entity, std::string_view name) noexcept {
    detail::WorldCore& core = world.core();
    core.expect_free(entity);
    if (!core.is_alive(entity)) return Status::stale_handle;
    FixedString<31> text;
    if (name.empty() || text.assign(name) != Status::ok) return Status::bad_argument;
    const auto id = core.component<Name>();
    if (!id) return id.status();
    if (const Status status = core.make_name_map(); status != Status::ok) return status;
    auto map = name_map(core);
    if (const Entity* const owner = map.find(text); owner != nullptr)
        return *owner == entity ? Status::ok : Status::address_in_use;
    detail::SparseSet names(core, *id);
    const std::uint32_t slot = detail::slot_index(entity);
    if (const Status status = names.reserve(slot); status != Status::ok) return status;
    if (const Status status = map.set(text, entity); status != Status::ok) return status;
    if (const std::uint32_t row = names.find(slot); row != 0) {
        map.erase(names.cell<Name>(row - 1).text);
        names.edit<Name>(row - 1).text = text;
        return Status::ok;
    }
    const auto row = names.add(entity);
    OURO_ASSERT(row.has_value(), "there is room for what was reserved");
    names.cell<Name>(*row).text = text;
    return Status::ok;
}

Status clear_name(World& world, Entity entity) noexcept {
    detail::WorldCore& core = world.core();
    core.expect_free(entity);
    if (!core.is_alive(entity)) return Status::stale_handle;
    const ComponentId id = names_in(core);
    if (id == kNoComponent) return Status::not_found;
    detail::SparseSet names(core, id);
    const std::uint32_t slot = detail::slot_index(entity);
    const std::uint32_t row = names.find(slot);
    if (row == 0) return Status::not_found;
    core.forget_name(names, row - 1);
    names.remove(slot);
    return Status::ok;
}

Entity find_named(World& world, std::string_view name) noexcept {
    detail::WorldCore& core = world.core();
    FixedString<31> text;
    if (core.header().names == 0 || text.assign(name) != Status::ok) return {};
    const Entity* const found = name_map(core).find(text);
    return found == nullptr ? Entity() : *found;
}

std::string_view name_of(World& world, Entity entity) noexcept {
    detail::WorldCore& core = world.core();
    detail::expect_access<Name>(core, entity, false);
    const ComponentId id = names_in(core);
    if (id == kNoComponent || !core.is_alive(entity)) return {};
    const detail::SparseSet names(core, id);
    const std::uint32_t row = names.find(detail::slot_index(entity));
    return row == 0 ? std::string_view() : names.cell<Name>(row - 1).text.view();
}

}  // namespace ouro
