#pragma once

#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/world_core.hpp>

#include <array>
#include <cstddef>

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

// What is read of one that nobody has written yet.
template <class T>
[[nodiscard]] const T* zero_resource() noexcept {
    alignas(T) static constexpr std::array<std::byte, sizeof(T)> kZero{};
    return reinterpret_cast<const T*>(kZero.data());
}

// One that was looked for: reads nothing that a structural change writes.
template <class T>
[[nodiscard]] const T* known_resource(const WorldCore& core) noexcept {
    const ComponentId id = core.id_of<T>();
    const std::uint32_t data = id == kNoComponent ? 0 : core.component(id).data;
    return data == 0 ? zero_resource<T>() : reinterpret_cast<const T*>(core.at(data));
}

template <class T>
consteval bool can_be_resource() {
    static_assert(require_component<T>());
    static_assert(!kIsTag<T>, "a resource has a value");
    static_assert(!kComponentOptions<T>.sparse && !kComponentOptions<T>.toggles,
                  "a component of entities is no resource");
    return true;
}

template <class T>
[[gnu::noinline]] Status make_resource(WorldCore& core) noexcept {
    static_assert(can_be_resource<T>());
    return core.add_resource(type_number<T>(), description_of<T>()).status();
}

// Whether the world has it, or could: nothing is made.
template <class T>
[[gnu::noinline]] Status look_for_resource(WorldCore& core) noexcept {
    static_assert(can_be_resource<T>());
    ComponentDescription description = description_of<T>();
    description.kind = ComponentKind::singleton;
    return core.find_component_of_type(type_number<T>(), description).status();
}

// For reading, made nowhere; null when the world cannot have it.
template <class T>
[[nodiscard]] const T* read_resource(WorldCore& core) noexcept {
    if (const T* const found = find_resource<T>(core); found != nullptr) [[likely]]
        return found;
    return look_for_resource<T>(core) == Status::ok ? known_resource<T>(core) : nullptr;
}

// For writing, made with a value of zero where there is none; null when that is not possible.
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
