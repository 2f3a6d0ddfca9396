#pragma once

#include <ouro/ecs/detail/joined_query.hpp>
#include <ouro/ecs/detail/past_rows.hpp>
#include <ouro/ecs/detail/past_since.hpp>
#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/query_terms.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

namespace detail {

// What a term hands out of one row.
template <class Term>
struct PastCell {
    using T = typename TermTraits<Term>::Component;
    static constexpr bool kHandsOut = TermTraits<Term>::kHandsOut;

    void read(const PastWorld& past, std::uint32_t data, std::uint32_t index) noexcept {
        if constexpr (kHandsOut) {
            value = past.read<T>(data + std::uint64_t{index} * sizeof(T));
            is_there = true;
        }
    }
    [[nodiscard]] auto argument() const noexcept {
        if constexpr (!kHandsOut)
            return std::tuple<>();
        else if constexpr (TermTraits<Term>::kRequired)
            return std::tuple<const T&>(value);
        else
            return std::tuple<const T*>(is_there ? &value : nullptr);
    }

    T value{};
    bool is_there = false;
};

}  // namespace detail

// The entities of a past tick that had certain components. Terms are those of Query that do not write;
// Changed asks for what was changed in that tick or in the one before, ChangedNow in that tick. Entities come
// in the order in which Query handed them out then. Belongs to one thread together with its PastWorld, the
// other queries of that and all copies.
template <class... Terms>
class PastQuery {
    using Plan = detail::QueryPlan<Terms...>;
    using Join = detail::JoinedQuery<Terms...>;
    static_assert(((detail::TermTraits<Terms>::kRole != detail::TermRole::writes &&
                    detail::TermTraits<Terms>::kRole != detail::TermRole::may_write) &&
                   ...),
                  "the past cannot be written: use const T&");
    // Rows are copied where they lie in pieces, so many at a time: whole words of change bits.
    static constexpr std::uint32_t kRows = 64;

public:
    explicit PastQuery(const PastWorld& past) noexcept : past_(past) {
        shape_.required.add(kEntityComponent);
        std::size_t term = 0;
        (take_term<Terms>(term++), ...);
        if (!Plan::kNamesPrefab) shape_.excluded.add(kPrefabComponent);
    }

    template <class Fn>
    void each(Fn&& fn) const noexcept {
        if constexpr (Plan::kHasSparse) return each_joined(fn);
        visit_runs([&](const auto& rows, std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t row = begin; row < end; ++row)
                std::apply([&](const auto&... cells) { detail::call_past_row(fn, row, cells...); }, rows);
        });
    }
    // With spans of at most 64 rows.
    template <class Fn>
    void chunks(Fn&& fn) const noexcept {
        static_assert(!Plan::kHasSparse, "sparse components do not lie beside the others: use each");
        visit_runs([&](const auto& rows, std::uint32_t begin, std::uint32_t end) {
            while (begin < end) {
                const std::uint32_t to = std::apply(
                    [&](const auto&... cells) { return end_of_alike(begin, end, cells...); }, rows);
                std::apply([&](const auto&... cells) { fn(cells.span(begin, to)...); }, rows);
                begin = to;
            }
        });
    }
    [[nodiscard]] std::uint32_t count() const noexcept {
        std::uint32_t total = 0;
        if constexpr (Plan::kHasSparse) {
            each_joined([&](auto&&...) { ++total; });
            return total;
        }
        visit_runs([&](const auto&, std::uint32_t begin, std::uint32_t end) { total += end - begin; });
        return total;
    }
    [[nodiscard]] Entity first() const noexcept {
        Entity found;
        past_->template query<Entity, Terms...>().each([&](Entity entity, auto&&...) {
            if (found.is_null()) found = entity;
        });
        return found;
    }

    // As those of Query, as they would have been right before that tick's commit.
    template <class T, class Fn>
    void each_changed_since(std::uint32_t since, Fn&& fn) const noexcept {
        visit_changed_since<T>(since, [&](const auto& rows, std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t row = begin; row < end; ++row)
                std::apply([&](const auto&... cells) { detail::call_past_row(fn, row, cells...); }, rows);
        });
    }
    template <class T>
    [[nodiscard]] std::uint32_t count_changed_since(std::uint32_t since) const noexcept {
        std::uint32_t total = 0;
        visit_changed_since<T>(
            since, [&](const auto&, std::uint32_t begin, std::uint32_t end) { total += end - begin; });
        return total;
    }

    // What fn gets for one entity; false, and no call, when it was none of the query's.
    template <class Fn>
    bool visit(Entity entity, Fn&& fn) const noexcept {
        const auto slot = past_->find(entity);
        if (!slot || is_empty_) return false;
        const ArchetypeRecord archetype = past_->archetype(slot->archetype);
        return is_wanted(archetype) && visit_row(archetype, slot->row, entity, fn);
    }
    [[nodiscard]] bool has(Entity entity) const noexcept {
        return visit(entity, [](auto&&...) {});
    }

private:
    template <class Term>
    void take_term(std::size_t term) noexcept {
        using Traits = detail::TermTraits<Term>;
        const ComponentId id = past_->template id_of<typename Traits::Component>();
        ids_[term] = id;
        if (id == kNoComponent) {
            is_empty_ = is_empty_ || Traits::kRequired;
        } else if constexpr (detail::kIsSparseTerm<Term>) {
            tables_[term] = past_->sparse_table(id);
        } else {
            if (Traits::kRequired) shape_.required.add(id);
            if (Traits::kRole == detail::TermRole::excludes && !Traits::kWantsOff) shape_.excluded.add(id);
        }
        if (detail::kHasColumn<Term>) shape_.terms[shape_.term_count++] = id;
    }

    [[nodiscard]] bool is_wanted(const ArchetypeRecord& archetype) const noexcept {
        return archetype.mask.has_all(shape_.required) && !archetype.mask.has_any(shape_.excluded);
    }

    // --- row by row, as sparse terms need it
    template <class Fn>
    void each_joined(Fn&& fn) const noexcept {
        if (is_empty_) return;
        if constexpr (Join::kIsWalked) {
            each_name(smallest().rows, [&](Entity entity, std::uint32_t) { visit(entity, fn); });
            return;
        }
        for (std::uint32_t number = 0; number < past_->header().archetype_count; ++number) {
            const ArchetypeRecord archetype = past_->archetype(number);
            if (!is_wanted(archetype)) continue;
            each_name(archetype,
                      [&](Entity entity, std::uint32_t row) { visit_row(archetype, row, entity, fn); });
        }
    }
    template <class Visit>
    void each_name(const ArchetypeRecord& rows, Visit&& visit) const noexcept {
        for (std::uint32_t row = 0; row < rows.row_count; ++row) {
            const RowPlace place = place_of_row(row);
            const std::uint32_t names = past_->block_column(rows, place.block, 0).data;
            visit(past_->template read<Entity>(names + std::uint64_t{place.index} * sizeof(Entity)), row);
        }
    }
    // Of the tables that are required, as Query chooses.
    [[nodiscard]] const SparseTable& smallest() const noexcept {
        const SparseTable* found = nullptr;
        std::size_t at = 0;
        const auto take = [&]<class Term>() {
            const std::size_t term = at++;
            if constexpr (detail::kIsSparseTerm<Term> && detail::TermTraits<Term>::kRequired)
                if (found == nullptr || tables_[term].rows.row_count < found->rows.row_count)
                    found = &tables_[term];
        };
        (take.template operator()<Terms>(), ...);
        return *found;
    }
    // Requires: a row of an archetype that is wanted.
    template <class Fn>
    bool visit_row(const ArchetypeRecord& archetype, std::uint32_t row, Entity entity,
                   Fn& fn) const noexcept {
        std::tuple<detail::PastCell<Terms>...> cells;
        const bool is_there = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (take_cell<Terms>(I, archetype, row, entity, std::get<I>(cells)) && ...);
        }(std::index_sequence_for<Terms...>());
        if (!is_there) return false;
        const auto arguments =
            std::apply([](const auto&... each) { return std::tuple_cat(each.argument()...); }, cells);
        std::apply(fn, arguments);
        return true;
    }
    // Whether the row passes for the term's sake.
    template <class Term>
    bool take_cell(std::size_t term, const ArchetypeRecord& archetype, std::uint32_t row, Entity entity,
                   detail::PastCell<Term>& cell) const noexcept {
        using Traits = detail::TermTraits<Term>;
        const ArchetypeRecord* rows = &archetype;
        unsigned column = 0;
        if constexpr (detail::kIsSparseTerm<Term>) {
            const std::uint32_t own =
                ids_[term] == kNoComponent ? 0 : past_->sparse_row(tables_[term], entity);
            if (Traits::kRole == detail::TermRole::excludes) return own == 0;
            if (own == 0) return !Traits::kRequired;
            rows = &tables_[term].rows;
            row = own - 1;
            column = 2;
        } else {
            column = past_->column_of(archetype, ids_[term]);
            // A tag, or one that is not required.
            if (column == 0) return true;
        }
        const RowPlace place = place_of_row(row);
        const BlockColumn own = past_->block_column(*rows, place.block, column - 1);
        const std::uint64_t bits = filter<Term>(*rows, own, true, place.block, place.index / 64 * 64);
        if ((bits >> (place.index % 64) & 1) == 0) return false;
        if constexpr (Traits::kIsNullWhenOff)
            if ((off_of<Term>(own, place.block, place.index / 64 * 64) >> (place.index % 64) & 1) != 0)
                return true;
        cell.read(*past_, own.data, place.index);
        return true;
    }

    template <class Visit>
    void visit_runs(Visit&& visit) const noexcept {
        visit_runs(visit, [](const ArchetypeRecord&) {
            return [](std::uint32_t, std::uint32_t) { return ~std::uint64_t{0}; };
        });
    }
    template <class T, class Visit>
    void visit_changed_since(std::uint32_t since, Visit&& visit) const noexcept {
        detail::require_since<T, Terms...>();
        visit_runs(visit, [&](const ArchetypeRecord& archetype) {
            const unsigned column = past_->column_of(archetype, past_->template id_of<T>());
            return [filter = detail::PastSince(*past_, archetype, column, since)](
                       std::uint32_t block, std::uint32_t begin) { return filter.word(block, begin); };
        });
    }
    // As far as words_of(archetype)(block, first row) lets them pass.
    template <class Visit, class WordsOf>
    void visit_runs(Visit&& visit, WordsOf&& words_of) const noexcept {
        if (is_empty_) return;
        for (std::uint32_t number = 0; number < past_->header().archetype_count; ++number) {
            const ArchetypeRecord archetype = past_->archetype(number);
            if (!is_wanted(archetype)) continue;
            const auto words = words_of(archetype);
            std::uint32_t left = archetype.row_count;
            for (std::uint32_t block = 0; left != 0; ++block) {
                const std::uint32_t rows = std::min(left, rows_of_block(block));
                visit_block(archetype, block, rows, visit, words);
                left -= rows;
            }
        }
    }

    template <class Visit, class Words>
    void visit_block(const ArchetypeRecord& archetype, std::uint32_t block, std::uint32_t rows, Visit& visit,
                     const Words& words) const noexcept {
        std::array<BlockColumn, detail::kMaxQueryTerms> columns{};
        std::array<bool, detail::kMaxQueryTerms> is_there{};
        for (std::uint32_t term = 0; term < shape_.term_count; ++term) {
            const unsigned column = past_->column_of(archetype, shape_.terms[term]);
            is_there[term] = column != 0;
            if (column != 0) columns[term] = past_->block_column(archetype, block, column - 1);
        }
        typename detail::PastRowsOf<kRows, Terms...>::Type cells;
        for (std::uint32_t begin = 0; begin < rows; begin += kRows) {
            const std::uint32_t count = std::min(kRows, rows - begin);
            std::uint64_t bits = words(block, begin);
            std::size_t slot = 0;
            std::array<std::uint64_t, detail::kMaxQueryTerms> off{};
            const auto ask = [&]<class Term>() {
                if constexpr (detail::kHasColumn<Term>) {
                    bits &= filter<Term>(archetype, columns[slot], is_there[slot], block, begin);
                    if (is_there[slot]) off[slot] = off_of<Term>(columns[slot], block, begin);
                    ++slot;
                }
            };
            (ask.template operator()<Terms>(), ...);
            detail::visit_set_runs(
                0, count, [&](std::uint32_t) { return bits; },
                [&](std::uint32_t from, std::uint32_t to) {
                    gather(cells, columns, is_there, off, begin, count);
                    visit(cells, from, to);
                });
        }
    }

    template <class Cells>
    void gather(Cells& cells, const std::array<BlockColumn, detail::kMaxQueryTerms>& columns,
                const std::array<bool, detail::kMaxQueryTerms>& is_there,
                const std::array<std::uint64_t, detail::kMaxQueryTerms>& off, std::uint32_t begin,
                std::uint32_t count) const noexcept {
        std::apply(
            [&](auto&... each) {
                [[maybe_unused]] std::size_t handed = 0;
                [[maybe_unused]] const auto take = [&](auto& rows) {
                    const std::size_t slot = kHanded[handed++];
                    rows.gather(past_->view(), columns[slot].data, begin, count, is_there[slot], off[slot]);
                };
                (take(each), ...);
            },
            cells);
    }
    // Of the terms that are handed out, which of the columns is theirs.
    static constexpr std::array<std::size_t, sizeof...(Terms) + 1> kHanded = [] {
        std::array<std::size_t, sizeof...(Terms) + 1> slots{};
        std::size_t handed = 0;
        std::size_t term = 0;
        ((detail::TermTraits<Terms>::kHandsOut ? void(slots[handed++] = Plan::kSlots[term++]) : void(++term)),
         ...);
        return slots;
    }();

    // The end of the rows from `begin` on in which the same components are there.
    template <class... Cells>
    [[nodiscard]] static std::uint32_t end_of_alike(std::uint32_t begin, std::uint32_t end,
                                                    const Cells&... cells) noexcept {
        if constexpr (!Plan::kHasSwitched) return end;
        std::uint32_t row = begin + 1;
        while (row < end && ((cells.is_off(row) == cells.is_off(begin)) && ...))
            ++row;
        return row;
    }
    // Of an optional one, the rows of which it is null.
    template <class Term>
    [[nodiscard]] std::uint64_t off_of([[maybe_unused]] const BlockColumn& column,
                                       [[maybe_unused]] std::uint32_t block,
                                       [[maybe_unused]] std::uint32_t begin) const noexcept {
        if constexpr (detail::TermTraits<Term>::kIsNullWhenOff)
            return detail::past_disabled(past_->view(), column, rows_of_block(block), begin);
        else
            return 0;
    }
    template <class Term>
    [[nodiscard]] std::uint64_t filter(const ArchetypeRecord& archetype, const BlockColumn& column,
                                       bool has_column, std::uint32_t block,
                                       std::uint32_t begin) const noexcept {
        using Traits = detail::TermTraits<Term>;
        std::uint64_t bits = ~std::uint64_t{0};
        if (!has_column) return bits;
        if constexpr (Traits::kWantsOff)
            return detail::past_disabled(past_->view(), column, rows_of_block(block), begin);
        if constexpr (Traits::kToggles)
            bits &= ~detail::past_disabled(past_->view(), column, rows_of_block(block), begin);
        if constexpr (Traits::kRole == detail::TermRole::changed ||
                      Traits::kRole == detail::TermRole::changed_now) {
            constexpr bool kOnlyNow = Traits::kRole == detail::TermRole::changed_now;
            const std::uint32_t next = past_->header().tick;
            bits &= detail::past_changed_before(past_->view(), column, rows_of_block(block), begin, next,
                                                kOnlyNow) |
                    detail::past_came_before(archetype, next, kOnlyNow, first_row_of_block(block) + begin);
        }
        return bits;
    }

    detail::PastHold past_;
    detail::QueryShape shape_;
    // Of each term; and of the sparse ones.
    std::array<ComponentId, sizeof...(Terms) + 1> ids_{};
    std::array<SparseTable, Plan::kHasSparse ? sizeof...(Terms) : 0> tables_{};
    // One of the components was not there yet.
    bool is_empty_ = false;
};

}  // namespace ouro
