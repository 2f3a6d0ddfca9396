#pragma once

#include <ouro/base/type_name.hpp>
#include <ouro/ecs/detail/row_bits.hpp>
#include <ouro/ecs/detail/system_access.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/query_terms.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

// What the terms of a query need and touch, by their types alone.
namespace ouro::detail {

// Terms that need a column, in their order; the others are part of the shape only.
template <class Term>
inline constexpr bool kHasColumn =
    (TermTraits<Term>::kHandsOut && !kIsSparseTerm<Term>) || TermTraits<Term>::kToggles ||
    TermTraits<Term>::kWantsOff || kColumnRole<Term> == TermRole::changed ||
    kColumnRole<Term> == TermRole::changed_now;

// What a query with these terms reads and writes: in the columns of its archetypes, or in tables of sparse
// components. The entities of a table are of any archetype.
template <bool kOfSparse, class... Terms>
[[nodiscard]] Access access_of() noexcept {
    Access access;
    access.has_entities = true;
    const auto take = [&]<class Term>() {
        using Component = typename TermTraits<Term>::Component;
        constexpr TermRole kRole = TermTraits<Term>::kRole;
        // Each row has its name, and nobody writes it.
        if constexpr (kIsSparseTerm<Term> == kOfSparse && !std::is_same_v<Component, Entity>) {
            if constexpr (kRole == TermRole::writes || kRole == TermRole::may_write)
                access.writes.add<Component>();
            else if constexpr (kRole != TermRole::filters && kRole != TermRole::excludes)
                access.reads.add<Component>();
            if constexpr (!kOfSparse && TermTraits<Term>::kRequired) access.required.add<Component>();
            // Entities of one archetype may be switched otherwise: they share words of marks.
            if constexpr (!kOfSparse && kRole == TermRole::excludes && !TermTraits<Term>::kWantsOff)
                access.excluded.add<Component>();
        }
    };
    (take.template operator()<Terms>(), ...);
    if constexpr (!kOfSparse && !(std::is_same_v<typename TermTraits<Terms>::Component, Prefab> || ...))
        access.excluded.add<Prefab>();
    return access;
}

// The name of the component of one of the terms, for messages.
template <class... Terms>
[[nodiscard]] std::string_view name_among(std::uint32_t type) noexcept {
    std::string_view name;
    const auto look = [&]<class Component>() {
        if (type_number<Component>() == type) name = type_name<Component>();
    };
    (look.template operator()<typename TermTraits<Terms>::Component>(), ...);
    return name;
}

// Refuses what each_changed_since cannot answer.
template <class T, class... Terms>
consteval void require_since() {
    static_assert((!kIsSparseTerm<Terms> && ...),
                  "sparse components keep no ticks for this: use Changed<T>, or compare ticks by "
                  "diff_worlds");
    // A filter such as With<T> declares no reading: others may write T meanwhile.
    static_assert(
        ((std::is_same_v<typename TermTraits<Terms>::Component, T> && TermTraits<Terms>::kRequired &&
          TermTraits<Terms>::kRole != TermRole::filters) ||
         ...),
        "what shall have changed is one of the query's own components: T&, const T&, Mut<T> or Changed<T>");
    static_assert(!kIsTag<T>, "a tag has no value that could change");
}

// Rows of an optional component that are about to be written: those that are not switched off.
inline void declare_switched(const BlockPlace& place, BlockColumn& column, std::uint32_t begin,
                             std::uint32_t end, std::size_t bytes) noexcept {
    ChangePlanes planes = place.core->planes(column, rows_of_block(place.number));
    visit_set_runs(
        begin, end, [&](std::uint32_t word) { return ~planes.disabled_word(word); },
        [&](std::uint32_t from, std::uint32_t to) {
            planes.mark_range(from, to);
            place.core->declare(place.core->at(column.data) + from * bytes, (to - from) * bytes);
        });
}

}  // namespace ouro::detail
