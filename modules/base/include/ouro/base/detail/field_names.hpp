#pragma once

#include <ouro/base/detail/field_list.hpp>
#include <ouro/base/detail/name_text.hpp>

#include <cstddef>
#include <string_view>

// The names of an aggregate's fields. Compilers spell them out where a template is given a field's place.
namespace ouro::detail {

// A place for a T where there is none: the compiler names its fields by their places. Never read.
template <class T>
union Ghost {
    constexpr Ghost() noexcept : none{} {}
    constexpr ~Ghost() {}
    char none;
    T value;
};
template <class T>
inline constexpr Ghost<T> kGhost{};

template <class T>
inline constexpr auto kFieldPlaces = list_fields<count_fields<T>()>(kGhost<T>.value);

template <const volatile void* kPlace>
consteval const char* spell_place() {
    return __PRETTY_FUNCTION__;
}

// What the compiler calls a field's place ends with the field's name, but for a bracket or two.
template <const volatile void* kPlace>
consteval std::string_view name_at() {
    std::string_view text = spell_place<kPlace>();
    while (!text.empty() && !is_name_character(text.back()))
        text.remove_suffix(1);
    std::size_t start = text.size();
    while (start > 0 && is_name_character(text[start - 1]))
        --start;
    return text.substr(start);
}

// Requires: a SimValue with fields, which is no array.
template <class T, std::size_t kIndex>
inline constexpr std::string_view kFieldName = name_at<kFieldPlaces<T>.places[kIndex]>();

}  // namespace ouro::detail
