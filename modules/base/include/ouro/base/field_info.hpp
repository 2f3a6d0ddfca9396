#pragma once

#include <ouro/base/detail/field_table.hpp>
#include <ouro/base/field_kind.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/base/sim_value.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// What a simulation value is made of, found by the compiler: nobody has to write it down a second time. For
// inspectors, files that outlive a version of the program, and peers that must agree.
namespace ouro {

// The fields of a type, those of fields included, in the order of their places. All bytes of a value belong
// to one of them, and each to one only.
//
//     struct Body { Vec2 at; Cell cells[2]; float weights[3]; };
//     for (const FieldInfo& field : fields_of<Body>()) ...   // at.x, at.y, cells[0].id, cells[1].id, weights
//
// An array of numbers, texts, handles or offsets is one field with a count. An array of structs is listed
// element by element, up to detail::kMaxListed fields; a larger one is one opaque field with a count. A type
// that is no struct has one field named "value", and so do its elements: "value[1].id". A type without
// fields, such as a tag, has none here. The names end with a zero; they and the span live as long as the
// program, and are the same for every compiler and platform.
//
// Requires: a SimValue or an empty type; others do not compile, with a message that says why.
template <class T>
[[nodiscard]] constexpr std::span<const FieldInfo> fields_of() noexcept {
    if constexpr (std::is_empty_v<T>) {
        return {};
    } else {
        static_assert(require_sim_value<T>());
        if constexpr (SimValue<T>)
            return detail::kFieldInfos<T>;
        else
            return {};
    }
}

// Tells whether bytes that were written as a T can be read as one: a hash over the names, kinds, offsets and
// sizes of all fields, which changes with each of them and is the same for every compiler and platform. The
// type's own name does not count; that of an opaque field's type does.
// Requires: as fields_of().
template <class T>
[[nodiscard]] constexpr std::uint64_t layout_hash_of() noexcept {
    if constexpr (std::is_empty_v<T>) {
        return combine_hash(0, 0);
    } else {
        static_assert(require_sim_value<T>());
        if constexpr (SimValue<T>)
            return detail::kLayoutHash<T>;
        else
            return 0;
    }
}

}  // namespace ouro
