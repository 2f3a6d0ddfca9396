#pragma once

#include <ouro/base/detail/name_text.hpp>

#include <string_view>

namespace ouro {

namespace detail {

template <class T>
consteval std::string_view spell_type() {
    return __PRETTY_FUNCTION__;
}

// Where the compiler puts a type's name among the rest: found by one that we know.
inline constexpr std::size_t kNameStart = spell_type<double>().find("double");
inline constexpr std::size_t kNameRest = spell_type<double>().size() - std::string_view("double").size();
static_assert(kNameStart != std::string_view::npos, "the compiler does not say what a template was given");

template <class T>
consteval auto make_type_name() {
    constexpr std::string_view spelled = spell_type<T>();
    NameText<spelled.size() - kNameRest> name;
    name.append_type(spelled.substr(kNameStart, spelled.size() - kNameRest));
    return name;
}

template <class T>
inline constexpr auto kTypeName = make_type_name<T>();

}  // namespace detail

// The name of a type as its declaration has it, without the namespaces and classes that it is in:
// "Position", "Link<ChildOf>", "array<f32, 4>". Numbers are named by their width: "u8", "i32", "f64"; "bool"
// and "char" are what they are. Arguments of templates that are types, integers or enumerators are part of
// the name, without those that are as the template's defaults. The text is the same for every compiler and
// platform, ends with a zero and lives as long as the program. Types without a name (lambdas) are called as
// the compiler likes.
template <class T>
[[nodiscard]] consteval std::string_view type_name() noexcept {
    return detail::kTypeName<T>.view();
}

// The same with all that it is in, as the compiler at hand spells it: for messages that tell types apart.
template <class T>
[[nodiscard]] consteval std::string_view full_type_name() noexcept {
    constexpr std::string_view spelled = detail::spell_type<T>();
    return spelled.substr(detail::kNameStart, spelled.size() - detail::kNameRest);
}

}  // namespace ouro
