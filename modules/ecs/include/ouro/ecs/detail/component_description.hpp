#pragma once

#include <ouro/base/field_info.hpp>
#include <ouro/ecs/component.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// What a component is, as its type says.
struct ComponentDescription {
    std::string_view name;
    // With all namespaces: for messages.
    std::string_view type = {};
    std::uint32_t bytes = 0;
    std::uint32_t alignment = 1;
    std::uint64_t layout_hash = 0;
    std::span<const FieldInfo> fields = {};
    Heat heat = Heat::hot;
    ComponentKind kind = ComponentKind::column;
    bool toggles = false;
    SparseRole role = SparseRole::plain;
};

template <class T>
[[nodiscard]] ComponentDescription description_of() noexcept {
    constexpr ComponentOptions kOptions = kComponentOptions<T>;
    ComponentDescription made;
    made.name = component_name<T>();
    made.type = full_type_name<T>();
    made.heat = kOptions.heat;
    made.toggles = kOptions.toggles;
    made.kind = kComponentKind<T>;
    made.role = kOptions.role;
    if constexpr (!kIsTag<T>) {
        made.bytes = sizeof(T);
        made.alignment = alignof(T);
        made.fields = fields_of<T>();
        made.layout_hash = layout_hash_of<T>();
    }
    return made;
}

// What a world remembers of a type that was registered: which record is its own, if there is one. Names alone
// would not do, as two types can have the same one.
struct KnownType {
    std::string_view name;
    std::string_view type = {};
    std::uint64_t layout_hash = 0;
    std::uint32_t bytes = 0;
    ComponentKind kind = ComponentKind::column;

    KnownType() noexcept = default;
    explicit KnownType(const ComponentDescription& description) noexcept
        : name(description.name),
          type(description.type),
          layout_hash(description.layout_hash),
          bytes(description.bytes),
          kind(description.kind) {}

    [[nodiscard]] bool is_like(const KnownType& other) const noexcept {
        return layout_hash == other.layout_hash && bytes == other.bytes && kind == other.kind;
    }
};

}  // namespace ouro::detail
