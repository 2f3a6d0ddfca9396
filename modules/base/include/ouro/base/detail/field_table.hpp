#pragma once

#include <ouro/base/detail/field_kind_of.hpp>
#include <ouro/base/detail/field_names.hpp>
#include <ouro/base/field_kind.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/base/type_name.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

// How the list of a type's fields is made: first how much room it takes, then the texts, then the list.
namespace ouro::detail {

// Of the fields of one array of structs. Beyond that a list serves nobody and costs time to compile.
inline constexpr std::size_t kMaxListed = 256;

// Whether its fields are named, which those of an array are not.
template <class T>
inline constexpr bool kIsStruct = std::is_void_v<Row<T>> && kHasParts<T>;

// Tell functions the types and the numbers of a struct's fields.
template <class T>
inline constexpr const FieldsOf<T>* kNoFields = nullptr;
template <class T>
inline constexpr std::make_index_sequence<count_fields<T>()> kIndicesOf{};

struct FieldSizes {
    std::size_t fields = 0;
    std::size_t characters = 0;  // of all names, each with its zero

    constexpr void add(FieldSizes other) noexcept {
        fields += other.fields;
        characters += other.characters;
    }
};

template <class T>
consteval FieldSizes sizes_of();
template <class T>
inline constexpr FieldSizes kFieldSizes = sizes_of<T>();

// Whether there is a line for each part of it, rather than one for all.
template <class T>
consteval bool is_listed() {
    if constexpr (kHasParts<Element<T>>)
        return std::is_void_v<Row<T>> || kElements<T> * kFieldSizes<Element<T>>.fields <= kMaxListed;
    else
        return false;
}

constexpr std::size_t count_digits(std::size_t number) noexcept {
    return number < 10 ? 1 : 1 + count_digits(number / 10);
}

// Of a field whose own name has that length.
template <class T>
consteval FieldSizes sizes_under(std::size_t length) {
    if constexpr (!is_listed<T>()) {
        return {1, length + 1};
    } else if constexpr (std::is_void_v<Row<T>>) {
        const FieldSizes inner = kFieldSizes<T>;
        return {inner.fields, inner.characters + inner.fields * (length + 1)};
    } else {
        FieldSizes all;
        for (std::size_t i = 0; i < kRows<T>; ++i)
            all.add(sizes_under<Row<T>>(length + count_digits(i) + 2));
        return all;
    }
}

template <class T, class... Fields, std::size_t... kIndices>
consteval FieldSizes sizes_of_parts(const FieldList<Fields...>*, std::index_sequence<kIndices...>) {
    FieldSizes all;
    (all.add(sizes_under<Fields>(kFieldName<T, kIndices>.size())), ...);
    return all;
}

inline constexpr std::string_view kNameOfAll = "value";

template <class T>
consteval FieldSizes sizes_of() {
    if constexpr (kIsStruct<T>)
        return sizes_of_parts<T>(kNoFields<T>, kIndicesOf<T>);
    else
        return sizes_under<T>(kNameOfAll.size());
}

template <class T>
consteval std::array<FieldInfo, kFieldSizes<T>.fields> infos_of();
// The list itself.
template <class T>
inline constexpr auto kFieldInfos = infos_of<T>();

// A list whose names are not in their final place yet.
template <FieldSizes kSizes>
struct FieldDraft {
    std::array<char, kSizes.characters> text{};
    std::array<FieldInfo, kSizes.fields> infos{};
    std::array<std::uint32_t, kSizes.fields> starts{};
    std::array<char, kSizes.characters> path{};
    FieldSizes used;
    std::size_t depth = 0;

    constexpr void push(std::string_view part) noexcept {
        for (const char c : part)
            path[depth++] = c;
    }
    constexpr void push_index(std::size_t index) noexcept {
        push("[");
        const std::size_t digits = count_digits(index);
        for (std::size_t i = digits; i > 0; --i, index /= 10)
            path[depth + i - 1] = static_cast<char>('0' + index % 10);
        depth += digits;
        push("]");
    }
    // Named by the path so far, with the name of the field inside, if there is one.
    constexpr void add(std::string_view inside, FieldInfo info) noexcept {
        const std::size_t start = used.characters;
        for (std::size_t i = 0; i < depth; ++i)
            text[used.characters++] = path[i];
        if (!inside.empty()) text[used.characters++] = '.';
        for (const char c : inside)
            text[used.characters++] = c;
        starts[used.fields] = static_cast<std::uint32_t>(start);
        infos[used.fields++] = info;
        ++used.characters;
    }
};

// Adds what is named by the draft's path.
template <class T, FieldSizes kSizes>
constexpr void draft_under(FieldDraft<kSizes>& draft, std::uint32_t offset) noexcept {
    if constexpr (!is_listed<T>()) {
        using E = Element<T>;
        draft.add({}, {{}, kind_of<E>(), offset, sizeof(E), static_cast<std::uint32_t>(kElements<T>)});
    } else if constexpr (std::is_void_v<Row<T>>) {
        for (const FieldInfo& inner : kFieldInfos<T>)
            draft.add(inner.name, {{}, inner.kind, offset + inner.offset, inner.element_bytes, inner.count});
    } else {
        const std::size_t depth = draft.depth;
        for (std::size_t i = 0; i < kRows<T>; ++i) {
            draft.push_index(i);
            draft_under<Row<T>>(draft, offset + static_cast<std::uint32_t>(i * sizeof(Row<T>)));
            draft.depth = depth;
        }
    }
}

template <class T, FieldSizes kSizes>
constexpr void draft_named(FieldDraft<kSizes>& draft, std::string_view name, std::uint32_t offset) noexcept {
    draft.depth = 0;
    draft.push(name);
    draft_under<T>(draft, offset);
}

// Where each field begins: behind the one before it, as there is no padding.
template <class... Fields>
constexpr std::array<std::uint32_t, sizeof...(Fields)> offsets_of(const FieldList<Fields...>*) noexcept {
    std::array<std::uint32_t, sizeof...(Fields)> offsets{sizeof(Fields)...};
    std::uint32_t next = 0;
    for (std::uint32_t& offset : offsets)
        next += std::exchange(offset, next);
    return offsets;
}

template <class T, class Draft, class... Fields, std::size_t... kIndices>
constexpr void draft_parts(Draft& draft, const FieldList<Fields...>* list,
                           std::index_sequence<kIndices...>) noexcept {
    const auto offsets = offsets_of(list);
    (draft_named<Fields>(draft, kFieldName<T, kIndices>, offsets[kIndices]), ...);
}

template <class T>
consteval auto draft_of() {
    FieldDraft<kFieldSizes<T>> draft;
    if constexpr (kIsStruct<T>)
        draft_parts<T>(draft, kNoFields<T>, kIndicesOf<T>);
    else
        draft_named<T>(draft, kNameOfAll, 0);
    return draft;
}
template <class T>
inline constexpr auto kFieldDraft = draft_of<T>();
template <class T>
inline constexpr auto kFieldText = kFieldDraft<T>.text;

template <class T>
consteval std::array<FieldInfo, kFieldSizes<T>.fields> infos_of() {
    auto infos = kFieldDraft<T>.infos;
    for (std::size_t i = 0; i < infos.size(); ++i)
        infos[i].name = kFieldText<T>.data() + kFieldDraft<T>.starts[i];
    return infos;
}

template <class T>
consteval std::uint64_t layout_hash();
template <class T>
inline constexpr std::uint64_t kLayoutHash = layout_hash<T>();

template <class T, class... Fields, std::size_t... kIndices>
consteval std::uint64_t layout_hash_of_parts(const FieldList<Fields...>* list,
                                             std::index_sequence<kIndices...>) {
    const auto offsets = offsets_of(list);
    std::uint64_t hash = sizeof(T);
    ((hash = combine_hash(hash, hash_name(kFieldName<T, kIndices>)),
      hash = combine_hash(hash, offsets[kIndices]), hash = combine_hash(hash, kLayoutHash<Fields>)),
     ...);
    return hash;
}

template <class T>
consteval std::uint64_t layout_hash() {
    if constexpr (kIsStruct<T>) {
        return layout_hash_of_parts<T>(kNoFields<T>, kIndicesOf<T>);
    } else if constexpr (!std::is_void_v<Row<T>>) {
        return combine_hash(kLayoutHash<Row<T>>, kRows<T>);
    } else {
        const std::uint64_t hash = combine_hash(static_cast<std::uint64_t>(kind_of<T>()), sizeof(T));
        if constexpr (kind_of<T>() == FieldKind::opaque)
            return combine_hash(hash, hash_name(type_name<T>()));
        else
            return combine_hash(hash, kHandleIndexBits<T>);
    }
}

}  // namespace ouro::detail
