#pragma once

#include <ouro/base/detail/field_list.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

// Which types can be simulation state: values whose bytes mean the same in every process and on every
// platform that we build for (x86-64 and wasm32), and that can be copied, saved, hashed and rolled back as
// bytes.
namespace ouro {

enum class SimValueFault : std::uint8_t {
    none,
    // Needs more than its bytes to be copied, as everything that owns memory does.
    not_trivially_copyable,
    // A pointer, a pointer to a member, a function.
    address,
    // A reference or a const member: cannot be assigned.
    not_assignable,
    // long, wchar_t, long double, __int128 and others whose width is not the same everywhere.
    platform_width,
    // Bytes that belong to no field, which nobody would write alike; and bit-fields, between which there may
    // be bits of that kind.
    padding,
    // What is in it depends on what nobody can see.
    union_of_types,
    base_class,
    no_fields,
    too_many_fields,
    // Its fields are private: it must say for itself that it is one.
    hidden_fields,
};

// A class whose fields are not public says by a specialization that it is a simulation value: fixed-width
// fields without padding, no address.
//
//     template <>
//     inline constexpr bool ouro::kIsSimValue<Angle> = true;
template <class T>
inline constexpr bool kIsSimValue = false;
template <class T>
inline constexpr bool kIsSimValue<OffsetPtr<T>> = true;
template <class Tag, class Word, unsigned kIndexBits>
inline constexpr bool kIsSimValue<Handle<Tag, Word, kIndexBits>> = true;
// A sequence of random numbers goes back with the state that draws from it; see random.hpp.
class Random;
template <>
inline constexpr bool kIsSimValue<Random> = true;

namespace detail {

template <class T, class... Allowed>
inline constexpr bool kIsOneOf = (std::same_as<T, Allowed> || ...);

// Where std::int64_t is long, that cannot be told apart from a long; wasm32 has another long and refuses it.
template <class T>
inline constexpr bool kHasFixedWidth =
    kIsOneOf<T, bool, char, char8_t, char16_t, char32_t, float, double, std::int8_t, std::uint8_t,
             std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, long long,
             unsigned long long>;
static_assert(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(long long) == 8 && sizeof(bool) == 1);

template <class T>
inline constexpr std::size_t kStandardArraySize = SIZE_MAX;
template <class T, std::size_t kSize>
inline constexpr std::size_t kStandardArraySize<std::array<T, kSize>> = kSize;

template <class T>
consteval SimValueFault fault_of();

template <class... Fields>
consteval SimValueFault fault_among(FieldList<Fields...>) {
    SimValueFault first = SimValueFault::none;
    static_cast<void>(((first = fault_of<Fields>(), first != SimValueFault::none) || ...));
    return first;
}

template <class... Fields>
consteval std::size_t bytes_of_fields(FieldList<Fields...>) {
    return (sizeof(Fields) + ...);
}

template <class T>
consteval SimValueFault fault_of_aggregate() {
    if constexpr (std::is_empty_v<T>) {
        return SimValueFault::no_fields;
    } else if constexpr (kHasBase<T>) {
        return SimValueFault::base_class;
    } else if constexpr (count_fields<T>() > kMaxFields) {
        return SimValueFault::too_many_fields;
    } else if constexpr (count_fields<T>() == 0) {
        return SimValueFault::hidden_fields;
    } else {
        using Fields = FieldsOf<T>;
        if constexpr (std::is_void_v<Fields>)
            return SimValueFault::padding;
        else if constexpr (fault_among(Fields{}) != SimValueFault::none)
            return fault_among(Fields{});
        else
            return bytes_of_fields(Fields{}) == sizeof(T) ? SimValueFault::none : SimValueFault::padding;
    }
}

template <class T>
consteval SimValueFault fault_of_class() {
    if constexpr (!std::is_trivially_copyable_v<T>) {
        return SimValueFault::not_trivially_copyable;
    } else if constexpr (kIsSimValue<T>) {
        return SimValueFault::none;
    } else if constexpr (std::is_union_v<T>) {
        return SimValueFault::union_of_types;
    } else if constexpr (!std::is_copy_assignable_v<T>) {
        return SimValueFault::not_assignable;
    } else if constexpr (!std::is_aggregate_v<T> || requires { std::tuple_size<T>::value; }) {
        return SimValueFault::hidden_fields;
    } else {
        return fault_of_aggregate<T>();
    }
}

template <class T>
consteval SimValueFault fault_of() {
    if constexpr (std::is_reference_v<T> || std::is_const_v<T> || std::is_volatile_v<T>) {
        return SimValueFault::not_assignable;
    } else if constexpr (std::is_bounded_array_v<T>) {
        return fault_of<std::remove_extent_t<T>>();
    } else if constexpr (kStandardArraySize<T> != SIZE_MAX) {
        return kStandardArraySize<T> == 0 ? SimValueFault::no_fields : fault_of<typename T::value_type>();
    } else if constexpr (std::is_enum_v<T>) {
        return fault_of<std::underlying_type_t<T>>();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return kHasFixedWidth<T> ? SimValueFault::none : SimValueFault::platform_width;
    } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
        return fault_of_class<T>();
    } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>) {
        return SimValueFault::address;
    } else {
        return SimValueFault::platform_width;
    }
}

}  // namespace detail

// Why a type is no simulation value; of its fields the first that is none, in the order of their places, then
// the type's own layout. Requires: the type is complete.
template <class T>
inline constexpr SimValueFault kSimValueFault = detail::fault_of<T>();

template <class T>
concept SimValue = kSimValueFault<T> == SimValueFault::none;

// A value that is equal when its bytes are: what can be looked up. Not floating-point numbers, which have two
// zeros.
template <class T>
concept SimKey = SimValue<T> && std::has_unique_object_representations_v<T>;

// For static_assert(require_sim_value<T>()): fails to compile with a message that says what to use instead.
// It is true even so, or the caller's assert would fail too, and say less.
template <class T>
consteval bool require_sim_value() {
    using enum SimValueFault;
    constexpr SimValueFault fault = kSimValueFault<T>;
    static_assert(
        fault != not_trivially_copyable,
        "simulation state is copied as bytes: use SimVec, SimString, SimMap or OffsetPtr instead of types "
        "that own memory, and a struct with named fields instead of std::pair and std::tuple");
    static_assert(fault != address,
                  "an address means nothing in another process: use OffsetPtr<T> or a handle");
    static_assert(
        fault != not_assignable,
        "simulation values are assigned: use OffsetPtr<T> instead of a reference, and no const members");
    static_assert(
        fault != platform_width,
        "the width of this type differs between platforms, or some have no such type: use std::int32_t, "
        "std::uint64_t, float, double");
    static_assert(
        fault != padding,
        "the type has bytes that belong to no field: add an explicit padding field, or order the fields "
        "by size (bit-fields: use an integer and masks; unions and structs without a name: give each field a "
        "place and a name of its own)");
    static_assert(fault != union_of_types, "a union hides what it holds: use a struct with all fields");
    static_assert(fault != base_class, "simulation values have no base classes: make the base a field");
    static_assert(fault != no_fields, "an empty type has nothing to keep: use a flag or leave it out");
    static_assert(fault != too_many_fields,
                  "more fields than can be looked at: group some of them in a struct");
    static_assert(
        fault != hidden_fields,
        "the fields cannot be looked at: make them public, or specialize kIsSimValue for a class that "
        "keeps its promises");
    return true;
}

}  // namespace ouro
