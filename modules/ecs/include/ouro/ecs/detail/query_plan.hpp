#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/ecs/detail/query_access.hpp>
#include <ouro/ecs/detail/row_bits.hpp>
#include <ouro/ecs/detail/row_filter.hpp>
#include <ouro/ecs/detail/type_number.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/query_terms.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro::detail {

// The part of a query that its types alone decide.
template <class... Terms>
struct QueryPlan {
    static constexpr std::size_t kColumns = (std::size_t{0} + ... + (kHasColumn<Terms> ? 1 : 0));
    static_assert(kColumns <= kMaxQueryTerms, "a query hands out twelve components at most");
    static_assert((kIsHandedOutOnce<Terms, Terms...> && ...),
                  "a query hands out a component that is written once only: name it in one of T&, const T&, "
                  "Mut<T> and Optional<...>");
    // Whether rows are passed over one by one.
    static constexpr bool kFiltersRows =
        ((TermTraits<Terms>::kToggles || TermTraits<Terms>::kWantsOff ||
          kColumnRole<Terms> == TermRole::changed || kColumnRole<Terms> == TermRole::changed_now) ||
         ...);
    static constexpr bool kHasSparse = (kIsSparseTerm<Terms> || ...);
    static constexpr bool kWrites = ((kColumnRole<Terms> == TermRole::writes) || ...);
    // Whether an optional component may be there in some rows of an archetype, and not in others.
    static constexpr bool kHasSwitched = (TermTraits<Terms>::kIsNullWhenOff || ...);
    // Whether a loop over all rows finds its cells by ReadyMatch.
    static constexpr bool kIsReadied = !kFiltersRows && !kHasSparse && !kHasSwitched &&
                                       kColumns <= kReadyTerms &&
                                       ((kColumnRole<Terms> != TermRole::may_write) && ...);
    // Prefabs are found by those only that ask for them.
    static constexpr bool kNamesPrefab =
        (std::is_same_v<typename TermTraits<Terms>::Component, Prefab> || ...);

    // Which of the columns is a term's.
    static constexpr std::array<std::size_t, sizeof...(Terms) + 1> kSlots = [] {
        std::array<std::size_t, sizeof...(Terms) + 1> slots{};
        std::size_t column = 0;
        std::size_t at = 0;
        ((slots[at++] = column, column += kHasColumn<Terms> ? 1 : 0), ...);
        return slots;
    }();

    [[nodiscard]] static QueryShape shape(WorldCore& core) noexcept {
        QueryShape made;
        made.required.add(kEntityComponent);
        const auto take = [&]<class Term>() {
            using Traits = TermTraits<Term>;
            const auto id = component_id<typename Traits::Component>(core);
            if (kIsSparseTerm<Term>) return;
            if (kHasColumn<Term>) made.terms[made.term_count++] = id;
            if (id == kNoComponent) {
                // Nobody has it: what excludes all archetypes is what they all have.
                if (Traits::kRequired) made.excluded.add(kEntityComponent);
                return;
            }
            if (Traits::kRequired) made.required.add(id);
            if (Traits::kRole == TermRole::excludes && !Traits::kWantsOff) made.excluded.add(id);
        };
        (take.template operator()<Terms>(), ...);
        if (!kNamesPrefab) made.excluded.add(kPrefabComponent);
        return made;
    }

    // The world's own memory of this query, with the shape that is right now.
    [[nodiscard]] static QueryCache& cache(WorldCore& core) noexcept {
        const std::uint32_t number = TypeNumbers<QueryFamily>::of<Types<Terms...>>();
        QueryCache& cache = core.cache_of(number);
        if (cache.is_shaped_by(core.header().registry_hash)) [[likely]]
            return cache;
        const FindingScope alone(core.finding());
        cache.make_shape = &shape;
        const std::uint64_t hash = core.header().registry_hash;
        // Went back to before it was made: there are no archetypes, and no component has a number.
        if (core.is_there() && !cache.is_shaped_by(hash)) cache.take_shape(shape(core), hash);
        return cache;
    }

    [[nodiscard]] static auto cells(const BlockPlace& place, const QueryMatch& match) noexcept {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple_cat(cells_of<Terms, kSlots[I]>(place, match)...);
        }(std::index_sequence_for<Terms...>());
    }

    // Of the archetype's first block. Requires: kIsReadied, and the match is ready.
    [[nodiscard]] static auto ready_cells(const WorldCore& core, const ReadyMatch& match) noexcept {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple_cat(ready_cells_of<Terms, kSlots[I]>(core, match)...);
        }(std::index_sequence_for<Terms...>());
    }
    // Whatever is known of it; nothing is wrong with addresses that are not right any more.
    static void prefetch(const WorldCore& core, const ReadyMatch& match) noexcept {
        each_term([&]<class Term>(std::size_t slot) {
            if constexpr (TermTraits<Term>::kHandsOut) {
                const std::byte* const cells = core.at(match.ready_cells(slot));
                __builtin_prefetch(cells);
                __builtin_prefetch(cells + 64);
            }
        });
    }

    // The same beginning with a row. Requires: kIsReadied.
    [[nodiscard]] static auto row_cells(const BlockPlace& place, const QueryMatch& match,
                                        std::uint32_t row) noexcept {
        return std::apply(
            [row](auto... first) { return std::tuple(first == nullptr ? first : first + row...); },
            cells(place, match));
    }

    template <class Fn, class... Cells>
    static void call_row(Fn& fn, std::uint32_t index, const Cells&... cells) noexcept {
        call_with<HandedOut>(fn, index, cells...);
    }

    // Rows that are about to be visited, of `used` in the block: those that are written are declared.
    static void declare(const BlockPlace& place, const QueryMatch& match, std::uint32_t begin,
                        std::uint32_t end, std::uint32_t used) noexcept {
        each_term([&]<class Term>(std::size_t slot) {
            if constexpr (kColumnRole<Term> == TermRole::writes) {
                if (match.columns[slot] == 0) return;
                BlockColumn& column = place.columns[match.columns[slot] - 1];
                constexpr std::size_t kBytes = sizeof(typename TermTraits<Term>::Component);
                if constexpr (TermTraits<Term>::kIsNullWhenOff)
                    if (column.has_disabled != 0) return declare_switched(place, column, begin, end, kBytes);
                // Marks are state: where rows are asked one by one, those of a long run are bits.
                if (begin == 0 && end == used && (!kFiltersRows || used <= 64))
                    return place.core->declare_all(column, place.number, used, kBytes);
                place.core->planes(column, rows_of_block(place.number)).mark_range(begin, end);
                place.core->declare(place.core->at(column.data) + begin * kBytes, (end - begin) * kBytes);
            }
        });
    }
    // Whether all rows of what is written count as changed already.
    [[nodiscard]] static bool is_changed([[maybe_unused]] const BlockColumn* columns,
                                         [[maybe_unused]] const QueryMatch& match,
                                         [[maybe_unused]] std::uint32_t now) noexcept {
        bool is_changed = true;
        each_term([&]<class Term>(std::size_t slot) {
            if constexpr (kColumnRole<Term> == TermRole::writes) {
                if (!TermTraits<Term>::kRequired && match.columns[slot] == 0) return;
                is_changed &= is_all_changed(columns[match.columns[slot] - 1], now);
            }
        });
        return is_changed;
    }
    // The same for columns that were prepared, from several threads at once.
    static void declare_cells(const BlockPlace& place, const QueryMatch& match, std::uint32_t begin,
                              std::uint32_t end) noexcept {
        declare(place, match, begin, end, UINT32_MAX);
    }
    static void prepare(const BlockPlace& place, const QueryMatch& match) noexcept {
        each_term([&]<class Term>(std::size_t slot) {
            constexpr TermRole kRole = kColumnRole<Term>;
            constexpr bool kSingly = kFiltersRows || kHasSparse;
            if constexpr (kRole == TermRole::may_write || (kRole == TermRole::writes && kSingly)) {
                if (match.columns[slot] == 0) return;
                BlockColumn& column = place.columns[match.columns[slot] - 1];
                place.core->planes(column, rows_of_block(place.number)).prepare();
            }
        });
    }

    // Room for marks in whatever may be written, so that none is asked for later. capacity_exhausted.
    static Status reserve(const BlockPlace& place, const QueryMatch& match) noexcept {
        Status status = Status::ok;
        each_term([&]<class Term>(std::size_t slot) {
            constexpr TermRole kRole = kColumnRole<Term>;
            if constexpr (kRole == TermRole::may_write || kRole == TermRole::writes) {
                if (match.columns[slot] == 0 || status != Status::ok) return;
                BlockColumn& column = place.columns[match.columns[slot] - 1];
                if (column.planes == 0)
                    status = place.core->planes(column, rows_of_block(place.number)).reserve();
            }
        });
        return status;
    }

    // Runs of rows that pass the filters.
    template <class Visit>
    static void visit_runs(const BlockPlace& place, const ArchetypeRecord& archetype, const QueryMatch& match,
                           std::uint32_t begin, std::uint32_t end, Visit&& visit) noexcept {
        visit_rows(place, archetype, match, begin, end, visit,
                   [&](std::uint32_t row) { visit(row, row + 1); });
    }
    // The same, with one(row) for those that stand alone. Which rows pass is asked for some hundred rows
    // before they are visited.
    template <class Run, class One>
    static void visit_rows(const BlockPlace& place, const ArchetypeRecord& archetype, const QueryMatch& match,
                           std::uint32_t begin, std::uint32_t end, Run&& run,
                           [[maybe_unused]] One&& one) noexcept {
        if constexpr (!kFiltersRows) {
            run(begin, end);
        } else {
            const auto filters = filters_of(place, archetype, match);
            // One row or two are called with singly in any case, and marked so.
            bool is_open = end - begin > 2;
            for (const RowFilter& filter : filters) {
                if (filter.is_closed(end)) return;
                is_open = is_open && filter.is_open();
            }
            if (is_open) return run(begin, end);
            visit_set_rows(
                begin, end,
                [&](std::uint32_t word) {
                    std::uint64_t bits = ~std::uint64_t{0};
                    for (const RowFilter& filter : filters)
                        bits &= filter.word(word);
                    return bits;
                },
                run, one);
        }
    }

    // With spans of rows in which the same components are there.
    template <class Fn, class Cells>
    static void call_spans(Fn& fn, const Cells& cells, std::uint32_t begin, std::uint32_t end) noexcept {
        while (begin < end) {
            const std::uint32_t to = end_of_alike(cells, begin, end);
            std::apply([&](auto... first) { fn(span(first, begin, to)...); }, cells);
            begin = to;
        }
    }

private:
    template <class T>
    [[nodiscard]] static auto span(const SwitchedCells<T>& cells, std::uint32_t begin,
                                   std::uint32_t end) noexcept {
        return span(cells.is_there(begin) ? cells.first : nullptr, begin, end);
    }
    template <class Cells>
    [[nodiscard]] static auto span(const Cells& first, std::uint32_t begin, std::uint32_t end) noexcept {
        static_assert(std::is_pointer_v<Cells>, "chunks hand out spans: use T& instead of Mut<T>");
        using Cell = std::remove_pointer_t<Cells>;
        return first == nullptr ? std::span<Cell>() : std::span<Cell>(first + begin, end - begin);
    }

    template <class T>
    [[nodiscard]] static ComponentId component_id(WorldCore& core) noexcept {
        if constexpr (std::is_same_v<T, Entity>) {
            return kEntityComponent;
        } else {
            const auto id = core.template known_component<T>();
            if (!id.has_value()) [[unlikely]]
                component_missing(component_name<T>(), id.status(), core.clash());
            return *id;
        }
    }
    template <class Term, std::size_t kSlot>
    [[nodiscard]] static auto cells_of(const BlockPlace& place, const QueryMatch& match) noexcept {
        if constexpr (TermTraits<Term>::kHandsOut && !kIsSparseTerm<Term>)
            return std::tuple(TermTraits<Term>::cells(place, match.columns[kSlot]));
        else
            return std::tuple<>();
    }

    template <class Term, std::size_t kSlot>
    [[nodiscard]] static auto ready_cells_of(const WorldCore& core, const ReadyMatch& match) noexcept {
        if constexpr (!TermTraits<Term>::kHandsOut) {
            return std::tuple<>();
        } else {
            using Cells = typename TermTraits<Term>::Cells;
            const std::uint32_t offset = match.ready_cells(kSlot);
            const bool is_there = TermTraits<Term>::kRequired || offset != 0;
            return std::tuple<Cells>(is_there ? reinterpret_cast<Cells>(core.at(offset)) : nullptr);
        }
    }

    template <class Visit>
    static void each_term(Visit&& visit) noexcept {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit.template operator()<Terms>(kSlots[I]), ...);
        }(std::index_sequence_for<Terms...>());
    }

    template <class Term>
    using OneIfHandedOut = std::conditional_t<TermTraits<Term>::kHandsOut, Types<Term>, Types<>>;
    template <class... As, class... Bs>
    static Types<As..., Bs...> join(Types<As...>, Types<Bs...>) {
        return {};
    }
    template <class List>
    static List join_all(List) {
        return {};
    }
    template <class A, class B, class... Rest>
    static auto join_all(A a, B b, Rest... rest) {
        return join_all(join(a, b), rest...);
    }
    using HandedOut = decltype(join_all(Types<>{}, OneIfHandedOut<Terms>{}...));

    template <class List>
    struct Caller;
    template <class... Handed>
    struct Caller<Types<Handed...>> {
        template <class Fn, class... Cells>
        static void call(Fn& fn, [[maybe_unused]] std::uint32_t index, const Cells&... cells) noexcept {
            fn(TermTraits<Handed>::argument(cells, index)...);
        }
    };
    template <class List, class Fn, class... Cells>
    static void call_with(Fn& fn, std::uint32_t index, const Cells&... cells) noexcept {
        Caller<List>::call(fn, index, cells...);
    }

    // What passes rows over, one for each such term: two where a component that can be switched off shall
    // have changed.
    static constexpr std::size_t kFilters =
        (std::size_t{0} + ... +
         ((TermTraits<Terms>::kToggles || TermTraits<Terms>::kWantsOff ? 1 : 0) +
          (kColumnRole<Terms> == TermRole::changed ? 1 : 0) +
          (kColumnRole<Terms> == TermRole::changed_now ? 1 : 0)));

    [[nodiscard]] static std::array<RowFilter, kFilters> filters_of(const BlockPlace& place,
                                                                    const ArchetypeRecord& archetype,
                                                                    const QueryMatch& match) noexcept {
        const std::uint32_t first = first_row_of_block(place.number);
        const auto came = [&](bool only_now) {
            const std::uint32_t row = first_that_came(archetype, place.core->now(), only_now);
            return row == UINT32_MAX ? row : row - std::min(row, first);
        };
        const auto planes = [&](std::size_t slot) {
            return place.core->planes(place.columns[match.columns[slot] - 1], rows_of_block(place.number));
        };
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return filters_from(std::tuple_cat(filters_of_term<Terms>(
                [&] { return planes(kSlots[I]); }, came, has_column<Terms>(match, kSlots[I]))...));
        }(std::index_sequence_for<Terms...>());
    }
    template <class Term>
    [[nodiscard]] static bool has_column(const QueryMatch& match, std::size_t slot) noexcept {
        return kHasColumn<Term> && match.columns[kHasColumn<Term> ? slot : 0] != 0;
    }
    template <class Term, class MakePlanes, class Came>
    [[nodiscard]] static auto filters_of_term([[maybe_unused]] MakePlanes&& planes,
                                              [[maybe_unused]] Came&& came,
                                              [[maybe_unused]] bool has_column) noexcept {
        constexpr bool kToggles = TermTraits<Term>::kToggles;
        if constexpr (TermTraits<Term>::kWantsOff) {
            using Bits = ChangePlanes::Bits;
            const Bits off = has_column ? Bits{planes().disabled_bits(), nullptr, 0}
                                        : Bits{nullptr, nullptr, ~std::uint64_t{0}};
            return std::tuple(RowFilter(off, UINT32_MAX));
        } else if constexpr (kColumnRole<Term> == TermRole::changed) {
            const RowFilter changed(planes().changed_bits(), came(false));
            if constexpr (kToggles)
                return std::tuple(RowFilter(planes().disabled_bits()), changed);
            else
                return std::tuple(changed);
        } else if constexpr (kColumnRole<Term> == TermRole::changed_now) {
            const RowFilter changed(planes().changed_now_bits(), came(true));
            if constexpr (kToggles)
                return std::tuple(RowFilter(planes().disabled_bits()), changed);
            else
                return std::tuple(changed);
        } else if constexpr (kToggles) {
            return std::tuple(RowFilter(planes().disabled_bits()));
        } else {
            return std::tuple<>();
        }
    }
    template <class... Filters>
    [[nodiscard]] static std::array<RowFilter, kFilters> filters_from(
        const std::tuple<Filters...>& filters) noexcept {
        return std::apply([](const auto&... each) { return std::array<RowFilter, kFilters>{each...}; },
                          filters);
    }
};

}  // namespace ouro::detail
