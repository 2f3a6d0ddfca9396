#pragma once

#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

// Where a singleton's value is, or null; nothing is made.
template <class T>
[[nodiscard]] T* find_resource(const WorldCore& core) noexcept {
    const ComponentId id = core.id_of<T>();
    if (id >= core.header().component_count) return nullptr;
    const ComponentRecord& record = core.component(id);
    if (record.kind != ComponentKind::singleton || record.data == 0) return nullptr;
    return reinterpret_cast<T*>(core.at(record.data));
}

// One that is there: reads nothing that a structural change writes.
template <class T>
[[nodiscard]] T* known_resource(const WorldCore& core) noexcept {
    const std::uint32_t data = core.component(core.id_of<T>()).data;
    OURO_DEBUG_ASSERT(data != 0, "the resource is in the world");
    return reinterpret_cast<T*>(core.at(data));
}

template <class T>
[[gnu::noinline]] Status make_resource(WorldCore& core) noexcept {
    static_assert(require_component<T>());
    static_assert(!kIsTag<T>, "a resource has a value");
    static_assert(!kComponentOptions<T>.sparse && !kComponentOptions<T>.toggles,
                  "a component of entities is no resource");
    return core.add_resource(type_number<T>(), description_of<T>()).status();
}

// The same, made with a value of zero where there is none; null when that is not possible.
template <class T>
[[nodiscard]] T* resource_cell(WorldCore& core) noexcept {
    if (T* const found = find_resource<T>(core); found != nullptr) [[likely]]
        return found;
    return make_resource<T>(core) == Status::ok ? find_resource<T>(core) : nullptr;
}

// A singleton that is about to be written.
template <class T>
void declare_resource(WorldCore& core, T& value) noexcept {
    core.declare(&value, sizeof(T));
    const ComponentRecord& record = core.component(core.id_of<T>());
    if (record.changed_tick != core.now()) core.heap().edit(record).changed_tick = core.now();
}

}  // namespace ouro::detail
