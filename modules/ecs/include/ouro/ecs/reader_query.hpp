#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/field_info.hpp>
#include <ouro/ecs/detail/reader_rows.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

// What Query is for one's own world, for one that is read as bytes: the live world of another process, a
// file. Terms are `const T&`, `Optional<const T&>`, `Entity`, With and Without, of columns, tags and sparse
// components. Prefabs are passed over unless they are asked for, and entities come in the order in which
// Query hands them out.
//
//     const auto reader = WorldReader::open(image->bytes());
//     ReaderQuery<Entity, const Position&>(*reader).each([](Entity entity, const Position& position) { ...
//     });
//
// Values are copies. In a world that is being written they are of this moment, some of them of one tick and
// some of the next; ask WorldReader::has_moved_on behind the loop, where that matters.
template <class... Terms>
class ReaderQuery {
    template <class Term>
    using Traits = detail::TermTraits<Term>;
    static_assert(((Traits<Terms>::kRole == detail::TermRole::reads ||
                    Traits<Terms>::kRole == detail::TermRole::filters ||
                    Traits<Terms>::kRole == detail::TermRole::excludes) &&
                   ...),
                  "only const T&, Optional<const T&>, Entity, With<T> and Without<T> are read out of bytes");
    static constexpr std::uint32_t kRows = 64;
    static constexpr std::size_t kTerms = sizeof...(Terms);
    static constexpr bool kNamesPrefab = (std::is_same_v<typename Traits<Terms>::Component, Prefab> || ...);
    using Indices = std::index_sequence_for<Terms...>;
    using Join = detail::ReaderJoin<Terms...>;
    using Shape = typename Join::Shape;

public:
    // Refers to the reader, which outlives it.
    explicit ReaderQuery(const WorldReader& reader) noexcept : reader_(&reader) {}

    // Calls fn with what the terms hand out, for each entity. Fails with wrong_layout (a component of that
    // name has other fields, or is kept in another way) and corrupt_data, and was called for some then.
    template <class Fn>
    Status each(Fn&& fn) const noexcept {
        const Status status = visit_all(fn);
        // A number that leads nowhere: the world moved on between two looks, or is damaged.
        return status == Status::out_of_range ? Status::corrupt_data : status;
    }
    // As each fails.
    [[nodiscard]] Expected<std::uint32_t> count() const noexcept {
        std::uint32_t total = 0;
        const Status status = each([&](auto&&...) { ++total; });
        if (status != Status::ok) return status;
        return total;
    }

private:
    // Where a term's cells are in a block.
    struct Places {
        std::array<std::uint32_t, kTerms + 1> columns{};
        std::array<BlockColumn, kTerms + 1> blocks{};
        std::array<std::uint32_t, kTerms + 1> bytes{};
    };
    template <class Term>
    using Cells = detail::ReaderCells<Term, kRows, Traits<Term>::kHandsOut>;

    template <class Fn>
    [[nodiscard]] Status visit_all(Fn& fn) const noexcept {
        Shape shape;
        if (const Status status = find_components(shape); status != Status::ok) return status;
        if (shape.is_empty) return Status::ok;
        if constexpr (Join::kHasSparse) return Join(*reader_, shape).each(fn);
        for (std::uint32_t number = 0; number < reader_->header().archetype_count; ++number) {
            const auto archetype = reader_->archetype(number);
            if (!archetype) return archetype.status();
            if (!shape.wants(*archetype)) continue;
            const Status status = visit_archetype(*archetype, shape, fn);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }
    [[nodiscard]] Status find_components(Shape& shape) const noexcept {
        shape.required.add(kEntityComponent);
        Status status = Status::ok;
        std::size_t at = 0;
        const auto take = [&]<class Term>() {
            const std::size_t term = at++;
            if (status == Status::ok) status = find_component<Term>(term, shape);
        };
        (take.template operator()<Terms>(), ...);
        // As Query does: prefabs are found by those only that ask for them.
        if (!kNamesPrefab) shape.excluded.add(kPrefabComponent);
        return status;
    }

    template <class Term>
    [[nodiscard]] Status find_component(std::size_t term, Shape& shape) const noexcept {
        using T = typename Traits<Term>::Component;
        if constexpr (std::is_same_v<T, Entity>) {
            shape.ids[term] = kEntityComponent;
            return Status::ok;
        } else {
            const auto id = reader_->find_component(component_name<T>());
            shape.ids[term] = id.value_or(kNoComponent);
            if (!id) {
                shape.is_empty = shape.is_empty || Traits<Term>::kRequired;
                return id.status() == Status::not_found ? Status::ok : id.status();
            }
            const auto record = reader_->component(*id);
            if (!record) return record.status();
            const bool is_same =
                record->kind == kComponentKind<T> &&
                (kIsTag<T> || (record->bytes == sizeof(T) && record->layout_hash == layout_hash_of<T>()));
            if (!is_same) return Status::wrong_layout;
            return take_component<Term>(term, *record, shape);
        }
    }
    template <class Term>
    [[nodiscard]] Status take_component(std::size_t term, const ComponentRecord& record,
                                        Shape& shape) const noexcept {
        if constexpr (detail::kIsSparseTerm<Term>) {
            const auto table = reader_->sparse(record);
            if (!table) return table.status();
            shape.tables[term] = *table;
        } else {
            if (Traits<Term>::kRole == detail::TermRole::excludes && !Traits<Term>::kWantsOff)
                shape.excluded.add(shape.ids[term]);
            if (Traits<Term>::kRequired) shape.required.add(shape.ids[term]);
        }
        return Status::ok;
    }

    template <class Fn>
    [[nodiscard]] Status visit_archetype(const ArchetypeRecord& archetype, const Shape& shape,
                                         Fn& fn) const noexcept {
        Places places;
        for (std::size_t term = 0; term < kTerms; ++term) {
            if (shape.ids[term] == kNoComponent) continue;
            const auto column = reader_->column_of(archetype, shape.ids[term]);
            if (!column) return column.status();
            places.columns[term] = *column;
            if (*column == 0) continue;
            const auto record = reader_->column(archetype, *column - 1);
            if (!record) return record.status();
            places.bytes[term] = record->bytes;
        }
        std::uint32_t left = archetype.row_count;
        for (std::uint32_t block = 0; left != 0; ++block) {
            const std::uint32_t rows = std::min(left, rows_of_block(block));
            const Status status = visit_block(archetype, block, rows, places, fn);
            if (status != Status::ok) return status;
            left -= rows;
        }
        return Status::ok;
    }

    template <class Fn>
    [[nodiscard]] Status visit_block(const ArchetypeRecord& archetype, std::uint32_t block,
                                     std::uint32_t rows, Places& places, Fn& fn) const noexcept {
        for (std::size_t term = 0; term < kTerms; ++term) {
            if (places.columns[term] == 0) continue;
            const auto column = reader_->block_column(archetype, block, places.columns[term] - 1);
            if (!column) return column.status();
            places.blocks[term] = *column;
        }
        std::tuple<Cells<Terms>...> cells;
        for (std::uint32_t begin = 0; begin < rows; begin += kRows) {
            const std::uint32_t count = std::min(kRows, rows - begin);
            std::uint64_t off = 0;
            const Status status = gather(cells, places, block, begin, count, off, Indices());
            if (status != Status::ok) return status;
            for (std::uint32_t row = 0; row < count; ++row)
                if ((off >> row & 1) == 0) call(fn, cells, row);
        }
        return Status::ok;
    }

    template <std::size_t... I>
    [[nodiscard]] Status gather(std::tuple<Cells<Terms>...>& cells, const Places& places, std::uint32_t block,
                                std::uint32_t begin, std::uint32_t count, std::uint64_t& off,
                                std::index_sequence<I...>) const noexcept {
        Status status = Status::ok;
        const auto take = [&]<class Term>(std::size_t term, auto& own) {
            if (status != Status::ok) return;
            const bool has_column = places.columns[term] != 0;
            const BlockColumn& column = places.blocks[term];
            std::uint64_t own_off = 0;
            // The third plane: rows that are switched off.
            if (has_column && Traits<Term>::kCanBeOff && column.has_disabled != 0) {
                const std::uint64_t bit = std::uint64_t{rows_of_block(block)} * 2 + begin;
                own_off = reader_->load<std::uint64_t>(column.planes + bit / 64 * 8).value_or(0U);
            }
            if (Traits<Term>::kToggles) off |= own_off;
            if (Traits<Term>::kWantsOff && has_column) off |= ~own_off;
            const std::uint64_t offset = column.data + std::uint64_t{begin} * places.bytes[term];
            status = own.gather(*reader_, offset, count, has_column, own_off);
        };
        (take.template operator()<Terms>(I, std::get<I>(cells)), ...);
        return status;
    }

    template <class Fn>
    static void call(Fn& fn, const std::tuple<Cells<Terms>...>& cells, std::uint32_t row) noexcept {
        const auto arguments =
            std::apply([&](const auto&... own) { return std::tuple_cat(own.argument(row)...); }, cells);
        std::apply(fn, arguments);
    }

    const WorldReader* reader_;
};

}  // namespace ouro
