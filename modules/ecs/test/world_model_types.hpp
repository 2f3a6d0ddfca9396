#pragma once

#include <ouro/ecs/component.hpp>
#include <ouro/ecs/relations.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

// What the entities of the campaign have: columns of all sizes, tags, sparse components, relations,
// resources. Every value is made of one number, which is all that the model keeps of it.
namespace ouro::testing_support {

struct Mite {
    std::uint8_t bits;
};
struct Spot {
    float x;
    float y;
};
struct Force {
    std::array<std::uint32_t, 3> words;
};
struct Gene {
    std::array<std::uint64_t, 8> words;
};
struct Alarm {
    std::uint32_t level;
};
struct Ward {
    std::array<std::uint64_t, 2> words;
};
struct Still {};
struct Loud {};
struct Flame {
    std::uint32_t heat;
};
struct Daze {
    std::uint32_t ticks;
    std::uint32_t depth;
};
struct Scar {
    std::array<std::uint64_t, 8> words;
};

struct Tally {
    std::uint32_t count;
    std::uint32_t sum;
};
struct Weather {
    std::array<std::uint64_t, 40> words;
};

// Those that look at something go on without it; those that lean on something fall with it, in circles too.
struct LooksAt {};
struct LeansOn {};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Gene> = {
    .heat = ouro::Heat::cold};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Alarm> = {.toggles =
                                                                                                     true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Ward> = {
    .heat = ouro::Heat::warm, .toggles = true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Flame> = {.sparse =
                                                                                                     true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Daze> = {.sparse =
                                                                                                    true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Scar> = {
    .heat = ouro::Heat::cold, .sparse = true};
template <>
inline constexpr ouro::RelationOptions ouro::kRelationOptions<ouro::testing_support::LeansOn> = {
    .sources = ouro::OnTargetGone::follow, .allows_cycles = true};

namespace ouro::testing_support {

using ModelKinds = std::tuple<Mite, Spot, Force, Gene, Alarm, Ward, Still, Loud, Prefab, Flame, Daze, Scar>;
inline constexpr unsigned kKinds = std::tuple_size_v<ModelKinds>;
using ModelRelations = std::tuple<ChildOf, LooksAt, LeansOn>;
inline constexpr unsigned kRelations = std::tuple_size_v<ModelRelations>;

template <class T, class List>
inline constexpr unsigned kPlaceIn = 0;
template <class T, class... Ts>
inline constexpr unsigned kPlaceIn<T, std::tuple<Ts...>> = [] {
    unsigned place = 0;
    unsigned found = sizeof...(Ts);
    ((std::is_same_v<T, Ts> ? void(found = place++) : void(++place)), ...);
    return found;
}();
template <class T>
inline constexpr unsigned kKindOf = kPlaceIn<T, ModelKinds>;
template <class T>
inline constexpr std::uint32_t kBitOf = std::uint32_t{1} << kKindOf<T>;
template <class R>
inline constexpr unsigned kRelationOf = kPlaceIn<R, ModelRelations>;

// Calls fn.operator()<T>() for the type at a place of the list.
template <class List, class Fn>
void with_type(unsigned place, Fn&& fn) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((I == place ? fn.template operator()<std::tuple_element_t<I, List>>() : void()), ...);
    }(std::make_index_sequence<std::tuple_size_v<List>>());
}
template <class Fn>
void with_kind(unsigned kind, Fn&& fn) {
    with_type<ModelKinds>(kind, fn);
}
template <class List, class Fn>
constexpr void each_type(Fn&& fn) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (fn.template operator()<std::tuple_element_t<I, List>>(), ...);
    }(std::make_index_sequence<std::tuple_size_v<List>>());
}

inline constexpr std::uint32_t kSparseKinds = kBitOf<Flame> | kBitOf<Daze> | kBitOf<Scar>;

// What of a number a component can hold.
template <class T>
constexpr std::uint32_t kept_of(std::uint32_t number) {
    if constexpr (kIsTag<T>) return 0;
    if constexpr (std::is_same_v<T, Mite>) return number & 0xFF;
    return number;
}
template <class T>
T value_of(std::uint32_t number) {
    T value{};
    if constexpr (std::is_same_v<T, Spot>) {
        value = {static_cast<float>(number & 0xFFFF), static_cast<float>(number >> 16)};
    } else if constexpr (std::is_same_v<T, Mite>) {
        value.bits = static_cast<std::uint8_t>(number);
    } else if constexpr (!kIsTag<T>) {
        std::array<std::uint32_t, sizeof(T) / 4> words;
        for (std::uint32_t i = 0; i < words.size(); ++i)
            words[i] = number ^ i * 0x9E3779B9U;
        std::memcpy(&value, words.data(), sizeof(T));
    }
    return value;
}
template <class T>
std::uint32_t number_in(const T& value) {
    if constexpr (std::is_same_v<T, Spot>)
        return static_cast<std::uint32_t>(value.x) | static_cast<std::uint32_t>(value.y) << 16;
    if constexpr (std::is_same_v<T, Mite>) return value.bits;
    std::uint32_t number = 0;
    if constexpr (sizeof(T) >= 4) std::memcpy(&number, &value, sizeof(number));
    return number;
}
template <class T>
bool is_value_of(const T& value, std::uint32_t number) {
    const T expected = value_of<T>(number);
    return std::memcmp(&value, &expected, sizeof(T)) == 0;
}
// What a sweep makes of a value.
template <class T>
std::uint32_t next_of(std::uint32_t number) {
    return kept_of<T>(number * 5 + 3);
}

// A name is one of so many; zero is none.
inline constexpr std::uint32_t kNames = 64;

}  // namespace ouro::testing_support
