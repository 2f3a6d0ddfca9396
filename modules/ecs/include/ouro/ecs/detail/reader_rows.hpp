#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro::detail {

// Some rows of what a term hands out, copied.
template <class Term, std::uint32_t kRows, bool kHandsOut>
struct ReaderCells {
    using T = typename TermTraits<Term>::Component;

    Status gather(const WorldReader& reader, std::uint64_t offset, std::uint32_t count, bool has_column,
                  std::uint64_t off_rows = 0) noexcept {
        is_there = has_column;
        off = off_rows;
        if (!has_column) return Status::ok;
        return reader.read(offset, std::as_writable_bytes(std::span(rows).first(count)));
    }
    [[nodiscard]] auto argument(std::uint32_t row) const noexcept {
        if constexpr (TermTraits<Term>::kRequired)
            return std::tuple<const T&>(rows[row]);
        else
            return std::tuple<const T*>(is_there && (off >> row & 1) == 0 ? &rows[row] : nullptr);
    }

    std::array<T, kRows> rows;
    bool is_there = false;
    // Rows that are switched off.
    std::uint64_t off = 0;
};
template <class Term, std::uint32_t kRows>
struct ReaderCells<Term, kRows, false> {
    static Status gather(const WorldReader&, std::uint64_t, std::uint32_t, bool, std::uint64_t = 0) noexcept {
        return Status::ok;
    }
    [[nodiscard]] static std::tuple<> argument(std::uint32_t) noexcept { return {}; }
};

// What a query over bytes asks for, by the numbers of that world.
template <std::size_t kTerms>
struct ReaderShape {
    ComponentMask required;
    ComponentMask excluded;
    std::array<ComponentId, kTerms + 1> ids{};
    // Of the sparse terms.
    std::array<SparseTable, kTerms + 1> tables{};
    // One of the components is not there.
    bool is_empty = false;

    [[nodiscard]] bool wants(const ArchetypeRecord& archetype) const noexcept {
        return archetype.mask.has_all(required) && !archetype.mask.has_any(excluded);
    }
};

// Goes through a world row by row, as sparse terms need it: they are no part of an archetype.
template <class... Terms>
class ReaderJoin {
public:
    using Shape = ReaderShape<sizeof...(Terms)>;

    static constexpr bool kHasSparse = (kIsSparseTerm<Terms> || ...);
    // By the smallest of the tables that are required, as Query does; else by archetypes.
    static constexpr bool kIsWalked = ((kIsSparseTerm<Terms> && TermTraits<Terms>::kRequired) || ...);

    ReaderJoin(const WorldReader& reader, const Shape& shape) noexcept : reader_(reader), shape_(shape) {}

    template <class Fn>
    [[nodiscard]] Status each(Fn& fn) const noexcept {
        if constexpr (kIsWalked) return each_walked(fn);
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto archetype = reader_.archetype(number);
            if (!archetype) return archetype.status();
            if (!shape_.wants(*archetype)) continue;
            for (std::uint32_t row = 0; row < archetype->row_count; ++row) {
                const auto entity = reader_.entity_at(*archetype, row);
                if (!entity) return entity.status();
                const Status status = visit({*archetype, row, *entity}, fn);
                if (status != Status::ok) return status;
            }
        }
        return Status::ok;
    }

private:
    template <class Term>
    using Cell = ReaderCells<Term, 1, TermTraits<Term>::kHandsOut>;
    struct Row {
        const ArchetypeRecord& archetype;
        std::uint32_t number;
        Entity entity;
    };

    template <class Fn>
    [[nodiscard]] Status each_walked(Fn& fn) const noexcept {
        const ArchetypeRecord& rows = smallest().rows;
        for (std::uint32_t row = 0; row < rows.row_count; ++row) {
            const auto entity = reader_.entity_at(rows, row);
            if (!entity) return entity.status();
            // Of a world that is being written it may be gone.
            const auto slot = reader_.find(*entity);
            if (!slot && slot.status() == Status::stale_handle) continue;
            const auto archetype = slot ? reader_.archetype(slot->archetype) : slot.status();
            if (!archetype) return archetype.status();
            if (!shape_.wants(*archetype)) continue;
            const Status status = visit({*archetype, slot->row, *entity}, fn);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }
    [[nodiscard]] const SparseTable& smallest() const noexcept {
        const SparseTable* found = nullptr;
        std::size_t at = 0;
        const auto take = [&]<class Term>() {
            const SparseTable& table = shape_.tables[at++];
            if constexpr (kIsSparseTerm<Term> && TermTraits<Term>::kRequired)
                if (found == nullptr || table.rows.row_count < found->rows.row_count) found = &table;
        };
        (take.template operator()<Terms>(), ...);
        return *found;
    }

    // Calls fn unless a term passes over the row.
    template <class Fn>
    [[nodiscard]] Status visit(const Row& row, Fn& fn) const noexcept {
        std::tuple<Cell<Terms>...> cells;
        Status status = Status::ok;
        bool is_wanted = true;
        const auto take = [&]<class Term>(std::size_t term, Cell<Term>& cell) {
            if (!is_wanted || status != Status::ok) return;
            const auto passes = take_cell<Term>(term, row, cell);
            status = passes.status();
            is_wanted = passes.value_or(false);
        };
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (take.template operator()<Terms>(I, std::get<I>(cells)), ...);
        }(std::index_sequence_for<Terms...>());
        if (!is_wanted || status != Status::ok) return status;
        const auto arguments =
            std::apply([](const auto&... each) { return std::tuple_cat(each.argument(0)...); }, cells);
        std::apply(fn, arguments);
        return Status::ok;
    }

    template <class Term>
    [[nodiscard]] Expected<bool> take_cell(std::size_t term, const Row& row,
                                           Cell<Term>& cell) const noexcept {
        using Traits = TermTraits<Term>;
        constexpr bool kExcludes = Traits::kRole == TermRole::excludes;
        const ArchetypeRecord* home = &row.archetype;
        std::uint32_t number = row.number;
        auto column = Expected<std::uint32_t>(0U);
        if constexpr (kIsSparseTerm<Term>) {
            const SparseTable& table = shape_.tables[term];
            auto own = Expected<std::uint32_t>(0U);
            if (shape_.ids[term] != kNoComponent)
                own = reader_.sparse_row(table, static_cast<std::uint32_t>(row.entity.index()));
            if (!own) return own.status();
            if (kExcludes || *own == 0) return kExcludes ? *own == 0 : !Traits::kRequired;
            home = &table.rows;
            number = *own - 1;
            column = 2U;
        } else if ((!kExcludes || Traits::kWantsOff) && shape_.ids[term] != kNoComponent) {
            column = reader_.column_of(row.archetype, shape_.ids[term]);
        }
        // A tag, or what is not there and not required.
        if (!column || *column == 0) return column ? Expected<bool>(true) : column.status();
        if constexpr (Traits::kCanBeOff) {
            const auto is_off = reader_.is_disabled(*home, number, *column - 1);
            if (!is_off) return is_off.status();
            if (kExcludes) return *is_off;
            if (*is_off) return !Traits::kRequired;
        }
        const auto offset = reader_.cell_offset(*home, number, *column - 1);
        if (!offset) return offset.status();
        const Status status = cell.gather(reader_, *offset, 1, true);
        return status == Status::ok ? Expected<bool>(true) : status;
    }

    const WorldReader& reader_;
    const Shape& shape_;
};

}  // namespace ouro::detail
