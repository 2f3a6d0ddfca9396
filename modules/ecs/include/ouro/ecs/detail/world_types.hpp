#pragma once

#include <ouro/ecs/detail/world_core.hpp>

// The components of types.
namespace ouro::detail {

template <class T>
ComponentId WorldCore::id_of() const noexcept {
    // Types that nobody asked for yet have the number zero, which is no component's.
    return id_of_type(TypeNumbers<ComponentFamily>::known<T>());
}

// Makes it known where it is not.
template <class T>
Expected<ComponentId> WorldCore::component() noexcept {
    static_assert(require_component<T>());
    const ComponentId known = id_of<T>();
    if (known != kNoComponent) [[likely]]
        return check_kind(known, kComponentKind<T>);
    return add_component_of_type(type_number<T>(), description_of<T>());
}

// Makes nothing known: kNoComponent when it is not. Looking changes no byte of the image. For one thread at a
// time, unless the type was looked for before.
template <class T>
Expected<ComponentId> WorldCore::known_component() noexcept {
    static_assert(require_component<T>());
    const ComponentId known = id_of<T>();
    if (known != kNoComponent) [[likely]]
        return check_kind(known, kComponentKind<T>);
    return find_component_of_type(type_number<T>(), description_of<T>());
}

// Another thing of that name, such as a resource, is no component of entities.
inline Expected<ComponentId> WorldCore::check_kind(ComponentId id, ComponentKind kind) noexcept {
    if (components_[id].kind == kind) [[likely]]
        return id;
    clash_ = {};
    return Status::wrong_layout;
}

}  // namespace ouro::detail
