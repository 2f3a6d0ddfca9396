#pragma once

#include <ouro/base/field_kind.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Of which kind a field is, and of what arrays are made.
namespace ouro {

template <std::size_t kCapacity>
class FixedString;

namespace detail {

template <class T>
inline constexpr bool kIsText = false;
template <std::size_t kCapacity>
inline constexpr bool kIsText<FixedString<kCapacity>> = true;

template <class T>
inline constexpr unsigned kHandleIndexBits = 0;
template <class Tag, class Word, unsigned kIndexBits>
inline constexpr unsigned kHandleIndexBits<Handle<Tag, Word, kIndexBits>> = kIndexBits;

template <class T>
inline constexpr bool kIsOffset = false;
template <class T>
inline constexpr bool kIsOffset<OffsetPtr<T>> = true;

// What an array of arrays has in the end.
template <class T>
struct ElementOf {
    using Type = T;
};
template <class T, std::size_t kSize>
struct ElementOf<T[kSize]> : ElementOf<T> {};
template <class T, std::size_t kSize>
struct ElementOf<std::array<T, kSize>> : ElementOf<T> {};
template <class T>
using Element = typename ElementOf<T>::Type;

template <class T>
inline constexpr std::size_t kElements = sizeof(T) / sizeof(Element<T>);

// How many elements the outermost of its dimensions has.
template <class T>
inline constexpr std::size_t kRows = 1;
template <class T, std::size_t kSize>
inline constexpr std::size_t kRows<T[kSize]> = kSize;
template <class T, std::size_t kSize>
inline constexpr std::size_t kRows<std::array<T, kSize>> = kSize;

template <class T>
struct RowOf {
    using Type = void;
};
template <class T, std::size_t kSize>
struct RowOf<T[kSize]> {
    using Type = T;
};
template <class T, std::size_t kSize>
struct RowOf<std::array<T, kSize>> {
    using Type = T;
};
template <class T>
using Row = typename RowOf<T>::Type;

// Requires: no array.
template <class T>
inline constexpr bool kHasParts = std::is_class_v<T> && !kIsSimValue<T>;

template <class T>
consteval FieldKind kind_of() {
    if constexpr (std::is_enum_v<T>)
        return kind_of<std::underlying_type_t<T>>();
    else if constexpr (std::is_same_v<T, bool>)
        return FieldKind::boolean;
    else if constexpr (kIsOneOf<T, char, char8_t, char16_t, char32_t>)
        return FieldKind::character;
    else if constexpr (std::is_integral_v<T>)
        return std::is_signed_v<T> ? FieldKind::signed_integer : FieldKind::unsigned_integer;
    else if constexpr (std::is_floating_point_v<T>)
        return FieldKind::floating;
    else if constexpr (kIsText<T>)
        return FieldKind::text;
    else if constexpr (kHandleIndexBits<T> != 0)
        return FieldKind::handle;
    else
        return kIsOffset<T> ? FieldKind::offset : FieldKind::opaque;
}

}  // namespace detail
}  // namespace ouro
