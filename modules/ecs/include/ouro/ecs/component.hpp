#pragma once

#include <ouro/base/sim_value.hpp>
#include <ouro/base/type_name.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/ecs/relation_options.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ouro {

// A component's number in its world: the order of registration.
using ComponentId = std::uint16_t;
inline constexpr ComponentId kNoComponent = UINT16_MAX;
inline constexpr std::size_t kMaxComponents = 256;
// Every entity has its own name as a component; see Query.
inline constexpr ComponentId kEntityComponent = 0;
// See prefabs.hpp.
inline constexpr ComponentId kPrefabComponent = 1;

// How often a component changes. Those of different heat never share a page, so that a tick that writes what
// is hot copies nothing that is cold.
enum class Heat : std::uint8_t { hot, warm, cold };

// How a component is kept.
enum class ComponentKind : std::uint8_t {
    // In a column of the archetype.
    column,
    // No data: entities have it or not.
    tag,
    // In a table of its own: coming and going moves nothing else. For what few entities have for a short
    // time.
    sparse,
    // One value for the whole world.
    singleton,
};

// Who writes a sparse component, where that is not the program itself: see names.hpp and relations.hpp.
enum class SparseRole : std::uint8_t {
    // The program.
    plain,
    // The names of entities.
    name,
    // Whom an entity is related to.
    link,
    // Who is related to an entity; when it goes, they stay and are unlinked, or go too.
    sources_stay,
    sources_follow,
};

// What a program says of a component, by a specialization before its first use:
//
//     template <>
//     inline constexpr ouro::ComponentOptions ouro::kComponentOptions<Genome> = {.heat = ouro::Heat::cold};
struct ComponentOptions {
    // Empty: the type's own name, without namespaces.
    std::string_view name = {};
    Heat heat = Heat::hot;
    // Each entity can have it switched off, which moves nothing; see World::disable.
    bool toggles = false;
    bool sparse = false;
    bool singleton = false;
    // Of the library's own components.
    SparseRole role = SparseRole::plain;
};

template <class T>
inline constexpr ComponentOptions kComponentOptions{};

// A set of components.
struct ComponentMask {
    static constexpr std::size_t kWords = kMaxComponents / 64;

    std::array<std::uint64_t, kWords> words{};

    constexpr void add(ComponentId id) noexcept { words[id / 64] |= bit(id); }
    constexpr void remove(ComponentId id) noexcept { words[id / 64] &= ~bit(id); }
    [[nodiscard]] constexpr bool has(ComponentId id) const noexcept {
        return (words[id / 64] & bit(id)) != 0;
    }
    [[nodiscard]] constexpr bool has_all(const ComponentMask& others) const noexcept {
        for (std::size_t i = 0; i < kWords; ++i)
            if ((others.words[i] & ~words[i]) != 0) return false;
        return true;
    }
    [[nodiscard]] constexpr bool has_any(const ComponentMask& others) const noexcept {
        for (std::size_t i = 0; i < kWords; ++i)
            if ((others.words[i] & words[i]) != 0) return true;
        return false;
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return !has_any(*this); }
    [[nodiscard]] constexpr std::size_t count() const noexcept {
        std::size_t bits = 0;
        for (const std::uint64_t word : words)
            bits += static_cast<std::size_t>(std::popcount(word));
        return bits;
    }
    constexpr ComponentMask& operator|=(const ComponentMask& others) noexcept {
        for (std::size_t i = 0; i < kWords; ++i)
            words[i] |= others.words[i];
        return *this;
    }
    [[nodiscard]] constexpr ComponentMask without(const ComponentMask& others) const noexcept {
        ComponentMask made;
        for (std::size_t i = 0; i < kWords; ++i)
            made.words[i] = words[i] & ~others.words[i];
        return made;
    }
    friend constexpr bool operator==(const ComponentMask&, const ComponentMask&) noexcept = default;

    // Calls with each id, lowest first.
    template <class Visit>
    constexpr void each(Visit&& visit) const {
        for (std::size_t i = 0; i < kWords; ++i)
            for (std::uint64_t word = words[i]; word != 0; word &= word - 1)
                visit(static_cast<ComponentId>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }

private:
    static constexpr std::uint64_t bit(ComponentId id) noexcept { return std::uint64_t{1} << (id % 64); }
};

// An empty struct is a tag; anything else must be simulation state. Refused with a message that says what to
// use.
template <class T>
inline constexpr bool kIsTag = std::is_empty_v<T> && std::is_trivially_copyable_v<T>;

// How the components of a type are kept.
template <class T>
inline constexpr ComponentKind kComponentKind = kIsTag<T>                        ? ComponentKind::tag
                                                : kComponentOptions<T>.singleton ? ComponentKind::singleton
                                                : kComponentOptions<T>.sparse    ? ComponentKind::sparse
                                                                                 : ComponentKind::column;

// What the component of a type is called in the image.
template <class T>
[[nodiscard]] constexpr std::string_view component_name() noexcept {
    return kComponentOptions<T>.name.empty() ? type_name<T>() : kComponentOptions<T>.name;
}

// How long a name can be: it is part of the image.
inline constexpr std::size_t kMaxComponentName = 47;

// Two types of a program that are called the same in the image, with all namespaces; see World::type_clash.
struct TypeClash {
    // The one that has the name, and the one that was refused.
    std::string_view known;
    std::string_view refused;
};

template <class T>
inline constexpr bool kIsSparse = kComponentKind<T> == ComponentKind::sparse;
// Whether programs may write it as they like.
template <class T>
inline constexpr bool kIsPlain = kComponentOptions<T>.role == SparseRole::plain;

template <class T>
consteval bool require_component() {
    static_assert(std::is_same_v<T, std::remove_cvref_t<T>>, "name a component by its plain type");
    static_assert(!std::is_same_v<T, Entity>, "Entity is each row's own name: make it a field of a struct");
    static_assert(component_name<T>().size() <= kMaxComponentName,
                  "a component's name has 47 bytes at most: give it a shorter one by ComponentOptions::name");
    static_assert(!kComponentOptions<T>.toggles || kComponentKind<T> == ComponentKind::column,
                  "only components in columns can be switched off");
    static_assert(!kRelationOptions<T>.is_declared,
                  "a relation is no component: relate<R>(world, source, target) makes one, and queries find "
                  "sources by Link<R>, targets by Sources<R>");
    constexpr bool kHidesFields =
        std::is_class_v<T> && std::is_trivially_copyable_v<T> && !std::is_aggregate_v<T> && !kIsSimValue<T>;
    static_assert(!kHidesFields || kIsTag<T>,
                  "a component is a plain struct, whose fields can be looked at: leave out its constructors "
                  "and private fields (a field can have a default: float x = 0), or specialize "
                  "kIsSimValue<T> for a class that keeps its promises");
    if constexpr (kIsTag<T> || kHidesFields)
        return true;
    else
        return require_sim_value<T>();
}

}  // namespace ouro
