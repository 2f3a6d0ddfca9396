#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

Expected<ComponentId> WorldCore::add_resource(std::uint32_t type, ComponentDescription description) noexcept {
    description.kind = ComponentKind::singleton;
    const auto id = add_component_of_type(type, description);
    if (!id) return id;
    const ComponentRecord& record = components_[*id];
    if (record.data != 0) return id;
    const auto value = heap_.allocate(record.bytes, record.alignment);
    if (!value) return value.status();
    heap_.edit(record).data = heap_.offset_of(value->data);
    return id;
}

}  // namespace ouro::detail
