#pragma once

#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace ouro::detail {

// What a query does about its sparse terms: for each row of the others it finds theirs by the entity's slot.
// When one of them is required, the smallest such table is walked instead of the archetypes: which one
// depends on the state alone, and so does the order.
template <class... Terms>
struct JoinedQuery {
    static constexpr std::size_t kSets = (std::size_t{0} + ... + (kIsSparseTerm<Terms> ? 1 : 0));
    static constexpr bool kIsWalked = ((kIsSparseTerm<Terms> && TermTraits<Terms>::kRequired) || ...);
    // Whether there may be rows that are passed over for what a table says.
    static constexpr bool kSkipsRows =
        kIsWalked || ((kIsSparseTerm<Terms> && TermTraits<Terms>::kRole == TermRole::excludes) || ...);
    // Whether archetypes do not matter.
    static constexpr bool kIsSparseOnly =
        ((kIsSparseTerm<Terms> || std::is_same_v<Terms, Entity>) && ...) && kIsWalked;

    using Tables = std::array<SparseTable*, kSets>;
    // Of each sparse term, the row plus one or zero.
    using Rows = std::array<std::uint32_t, kSets>;

    // Those that the world does not know have no rows.
    [[nodiscard]] static Tables tables(WorldCore& core) noexcept {
        static constinit SparseTable nothing{};
        Tables made{};
        each_set([&]<class Term>(std::size_t set) {
            const ComponentId id = core.template id_of<typename TermTraits<Term>::Component>();
            made[set] = id == kNoComponent ? &nothing : &core.sparse_table(id);
        });
        return made;
    }
    [[nodiscard]] static SparseTable& smallest(const Tables& tables) noexcept {
        SparseTable* found = nullptr;
        each_set([&]<class Term>(std::size_t set) {
            if (!TermTraits<Term>::kRequired) return;
            if (found == nullptr || tables[set]->rows.row_count < found->rows.row_count) found = tables[set];
        });
        return *found;
    }

    // Whether an entity has what the sparse terms ask for.
    [[nodiscard]] static bool find(WorldCore& core, const Tables& tables, Entity entity,
                                   Rows& rows) noexcept {
        bool is_wanted = true;
        each_set([&]<class Term>(std::size_t set) {
            using Traits = TermTraits<Term>;
            const SparseSet own(core, *tables[set]);
            // Nobody has what the world does not know.
            rows[set] = tables[set]->pages == 0 ? 0 : own.find(slot_index(entity));
            if constexpr (Traits::kRole == TermRole::excludes)
                is_wanted &= rows[set] == 0;
            else if constexpr (Traits::kRequired)
                is_wanted &= rows[set] != 0;
            if constexpr (Traits::kRole == TermRole::changed || Traits::kRole == TermRole::changed_now)
                is_wanted =
                    is_wanted && is_changed(own, rows[set] - 1, Traits::kRole == TermRole::changed_now);
        });
        return is_wanted;
    }

    // Calls with what all terms hand out for one row; what is written of the sparse ones is declared.
    template <class Fn, class Cells>
    static void call(WorldCore& core, const Tables& tables, const Rows& rows, Fn& fn, const Cells& cells,
                     std::uint32_t index) noexcept {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            std::apply(fn, std::tuple_cat(argument<Terms, I>(core, tables, rows, cells, index)...));
        }(std::index_sequence_for<Terms...>());
    }

    // Brings the tables that may be written to this tick, so that threads can mark rows at once.
    static void prepare(WorldCore& core, const Tables& tables) noexcept {
        each_set([&]<class Term>(std::size_t set) {
            constexpr TermRole kRole = TermTraits<Term>::kRole;
            if constexpr (kRole == TermRole::writes || kRole == TermRole::may_write) {
                const SparseSet own(core, *tables[set]);
                for (std::uint32_t number = 0; number < own.rows().block_count; ++number)
                    core.planes(own.column(number), rows_of_block(number)).prepare();
            }
        });
    }

    // Room for marks in those that may be written. capacity_exhausted.
    static Status reserve(WorldCore& core, const Tables& tables) noexcept {
        Status status = Status::ok;
        each_set([&]<class Term>(std::size_t set) {
            constexpr TermRole kRole = TermTraits<Term>::kRole;
            if constexpr (kRole == TermRole::writes || kRole == TermRole::may_write) {
                const SparseSet own(core, *tables[set]);
                for (std::uint32_t number = 0; number < own.rows().block_count; ++number)
                    if (status == Status::ok)
                        status = core.planes(own.column(number), rows_of_block(number)).reserve();
            }
        });
        return status;
    }

private:
    // Which of the tables is a term's, and which of the cells.
    template <bool kOfSparse>
    static constexpr auto kPlaces = [] {
        std::array<std::size_t, sizeof...(Terms)> places{};
        std::size_t next = 0;
        std::size_t at = 0;
        ((places[at++] = next,
          next += kIsSparseTerm<Terms> == kOfSparse && (kOfSparse || TermTraits<Terms>::kHandsOut) ? 1 : 0),
         ...);
        return places;
    }();

    template <class Visit>
    static void each_set(Visit&& visit) noexcept {
        std::size_t set = 0;
        const auto one = [&]<class Term>() {
            if constexpr (kIsSparseTerm<Term>) visit.template operator()<Term>(set++);
        };
        (one.template operator()<Terms>(), ...);
    }

    template <class Term, std::size_t I, class Cells>
    [[nodiscard]] static auto argument(WorldCore& core, const Tables& tables, const Rows& rows,
                                       const Cells& cells, std::uint32_t index) noexcept {
        if constexpr (!TermTraits<Term>::kHandsOut) {
            return std::tuple<>();
        } else if constexpr (kIsSparseTerm<Term>) {
            constexpr std::size_t kSet = kPlaces<true>[I];
            const SparseSet own(core, *tables[kSet]);
            return std::tuple<decltype(sparse_argument<Term>(own, 0))>(
                sparse_argument<Term>(own, rows[kSet]));
        } else {
            const auto& own = std::get<kPlaces<false>[I]>(cells);
            return std::tuple<decltype(TermTraits<Term>::argument(own, 0))>(
                TermTraits<Term>::argument(own, index));
        }
    }

    template <class Term>
    [[nodiscard]] static decltype(auto) sparse_argument(const SparseSet& set, std::uint32_t row) noexcept {
        using Traits = TermTraits<Term>;
        using T = typename Traits::Component;
        if constexpr (Traits::kRole == TermRole::may_write) {
            const RowPlace place = place_of_row(row - 1);
            return Mut<T>(set.core(), set.column(place.block), place.block, place.index);
        } else if constexpr (Traits::kRequired && Traits::kRole == TermRole::writes) {
            return (set.template edit<T>(row - 1));
        } else if constexpr (Traits::kRequired) {
            return static_cast<const T&>(set.template cell<T>(row - 1));
        } else if constexpr (Traits::kRole == TermRole::writes) {
            return row == 0 ? nullptr : &set.template edit<T>(row - 1);
        } else {
            return static_cast<const T*>(row == 0 ? nullptr : &set.template cell<T>(row - 1));
        }
    }

    [[nodiscard]] static bool is_changed(const SparseSet& set, std::uint32_t row, bool only_now) noexcept {
        WorldCore& core = set.core();
        const RowPlace place = place_of_row(row);
        const ChangePlanes planes = core.planes(set.column(place.block), rows_of_block(place.block));
        const std::uint32_t word = place.index / 64;
        const std::uint64_t bits = (only_now ? planes.changed_now_word(word) : planes.changed_word(word)) |
                                   rows_that_came(set.rows(), core.now(), only_now, row / 64 * 64);
        return (bits >> (place.index % 64) & 1) != 0;
    }
};

}  // namespace ouro::detail
