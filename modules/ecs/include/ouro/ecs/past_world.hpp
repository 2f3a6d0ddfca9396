#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/detail/past_rows.hpp>
#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/past_reader.hpp>
#include <ouro/streams/tick_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

template <class... Terms>
class PastQuery;

// A world as it was at a tick: to be read from any thread, while the simulation goes on. One thread at a time
// uses it; the world outlives it, and its components were registered before.
//
//     const auto past = world.at(tick);
//     past->query<Entity, const Position&>().each([](Entity entity, const Position& position) { ... });
//     const auto health = past->get<Health>(ada);      // Expected<Health>: a copy
class PastWorld {
public:
    PastWorld(TickView view, const WorldHeader& header) noexcept : view_(std::move(view)), header_(header) {}

    [[nodiscard]] Tick tick() const noexcept { return view_.tick(); }
    [[nodiscard]] const TickView& view() const noexcept { return view_; }
    [[nodiscard]] const WorldHeader& header() const noexcept { return header_; }
    [[nodiscard]] std::uint32_t entity_count() const noexcept { return header_.live_entities; }

    [[nodiscard]] bool is_alive(Entity entity) const noexcept { return slot(entity).has_value(); }
    // A copy. stale_handle when it was not there, not_found when it had no such component.
    template <class T>
    [[nodiscard]] Expected<T> get(Entity entity) const noexcept {
        static_assert(kComponentKind<T> == ComponentKind::column, "only columns are read by entity");
        const auto offset = cell_offset(entity, id_of<T>(), sizeof(T));
        if (!offset) return offset.status();
        return PastReader(view_).load<T>(*offset);
    }
    template <class T>
    [[nodiscard]] bool has(Entity entity) const noexcept {
        const auto place = slot(entity);
        const ComponentId id = id_of<T>();
        return place && id != kNoComponent && archetype(place->archetype).mask.has(id);
    }

    // What Query is for the present. Terms that write are refused.
    template <class... Terms>
    [[nodiscard]] PastQuery<Terms...> query() const noexcept {
        return PastQuery<Terms...>(*this);
    }

    // kNoComponent when there was none at that tick. Its number may have been another than today.
    [[nodiscard]] ComponentId find_component(std::string_view name) const noexcept;
    template <class T>
    [[nodiscard]] ComponentId id_of() const noexcept {
        if constexpr (std::is_same_v<T, Entity>)
            return kEntityComponent;
        else
            return find_component(component_name<T>());
    }
    // Requires: it was there.
    [[nodiscard]] ArchetypeRecord archetype(std::uint32_t number) const noexcept {
        return read<ArchetypeRecord>(header_.archetypes + std::uint64_t{number} * sizeof(ArchetypeRecord));
    }
    [[nodiscard]] BlockColumn block_column(const ArchetypeRecord& archetype, std::uint32_t block,
                                           unsigned column) const noexcept {
        return read<BlockColumn>(archetype.blocks[block] + std::uint64_t{column} * sizeof(BlockColumn));
    }
    // Of a component, plus one; zero: the archetype had no such column.
    [[nodiscard]] unsigned column_of(const ArchetypeRecord& archetype, ComponentId id) const noexcept {
        return id < archetype.column_map_bytes ? read<std::uint8_t>(std::uint64_t{archetype.column_map} + id)
                                               : 0U;
    }
    template <class T>
    [[nodiscard]] T read(std::uint64_t offset) const noexcept {
        const auto value = PastReader(view_).load<T>(offset);
        OURO_ASSERT(value.has_value(), "what a world refers to lies in the image");
        return *value;
    }

private:
    // stale_handle.
    [[nodiscard]] Expected<EntitySlot> slot(Entity entity) const noexcept;
    [[nodiscard]] Expected<std::uint64_t> cell_offset(Entity entity, ComponentId id,
                                                      std::size_t bytes) const noexcept;

    TickView view_;
    WorldHeader header_;
};

// The entities of a past tick that had certain components. Terms are those of Query that do not write;
// Changed asks for what was changed in that tick or in the one before, ChangedNow in that tick.
template <class... Terms>
class PastQuery {
    using Plan = detail::QueryPlan<Terms...>;
    static_assert(((detail::TermTraits<Terms>::kRole != detail::TermRole::writes &&
                    detail::TermTraits<Terms>::kRole != detail::TermRole::may_write) &&
                   ...),
                  "the past cannot be written: use const T&");
    // Rows are copied where they lie in pieces, so many at a time: whole words of change bits.
    static constexpr std::uint32_t kRows = 64;

public:
    // Refers to the past world, which outlives it.
    explicit PastQuery(const PastWorld& past) noexcept : past_(&past) {
        shape_.required.add(kEntityComponent);
        (take_term<Terms>(), ...);
    }

    template <class Fn>
    void each(Fn&& fn) const noexcept {
        visit_runs([&](const auto& rows, std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t row = begin; row < end; ++row)
                std::apply([&](const auto&... cells) { detail::call_past_row(fn, row, cells...); }, rows);
        });
    }
    // With spans of at most 64 rows.
    template <class Fn>
    void chunks(Fn&& fn) const noexcept {
        visit_runs([&](const auto& rows, std::uint32_t begin, std::uint32_t end) {
            std::apply([&](const auto&... cells) { fn(cells.span(begin, end)...); }, rows);
        });
    }
    [[nodiscard]] std::uint32_t count() const noexcept {
        std::uint32_t total = 0;
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

private:
    template <class Term>
    void take_term() noexcept {
        using Traits = detail::TermTraits<Term>;
        const ComponentId id = past_->template id_of<typename Traits::Component>();
        if (id == kNoComponent) {
            is_empty_ = is_empty_ || Traits::kRequired;
        } else {
            if (Traits::kRequired) shape_.required.add(id);
            if (Traits::kRole == detail::TermRole::excludes) shape_.excluded.add(id);
        }
        if (detail::kHasColumn<Term>) shape_.terms[shape_.term_count++] = id;
    }

    template <class Visit>
    void visit_runs(Visit&& visit) const noexcept {
        if (is_empty_) return;
        for (std::uint32_t number = 0; number < past_->header().archetype_count; ++number) {
            const ArchetypeRecord archetype = past_->archetype(number);
            if (!archetype.mask.has_all(shape_.required) || archetype.mask.has_any(shape_.excluded)) continue;
            std::uint32_t left = archetype.row_count;
            for (std::uint32_t block = 0; left != 0; ++block) {
                const std::uint32_t rows = std::min(left, rows_of_block(block));
                visit_block(archetype, block, rows, visit);
                left -= rows;
            }
        }
    }

    template <class Visit>
    void visit_block(const ArchetypeRecord& archetype, std::uint32_t block, std::uint32_t rows,
                     Visit& visit) const noexcept {
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
            std::uint64_t bits = ~std::uint64_t{0};
            std::size_t slot = 0;
            ((bits &= filter<Terms>(archetype, columns[slot], block, begin),
              slot += detail::kHasColumn<Terms> ? 1 : 0),
             ...);
            detail::visit_set_runs(
                0, count, [&](std::uint32_t) { return bits; },
                [&](std::uint32_t from, std::uint32_t to) {
                    gather(cells, columns, is_there, begin, count);
                    visit(cells, from, to);
                });
        }
    }

    template <class Cells>
    void gather(Cells& cells, const std::array<BlockColumn, detail::kMaxQueryTerms>& columns,
                const std::array<bool, detail::kMaxQueryTerms>& is_there, std::uint32_t begin,
                std::uint32_t count) const noexcept {
        std::apply(
            [&](auto&... each) {
                std::size_t handed = 0;
                const auto take = [&](auto& rows) {
                    const std::size_t slot = kHanded[handed++];
                    rows.gather(past_->view(), columns[slot].data, begin, count, is_there[slot]);
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

    template <class Term>
    [[nodiscard]] std::uint64_t filter(const ArchetypeRecord& archetype, const BlockColumn& column,
                                       std::uint32_t block, std::uint32_t begin) const noexcept {
        using Traits = detail::TermTraits<Term>;
        std::uint64_t bits = ~std::uint64_t{0};
        if constexpr (Traits::kToggles)
            bits &= ~detail::past_disabled(past_->view(), column, rows_of_block(block), begin);
        if constexpr (Traits::kRole == detail::TermRole::changed ||
                      Traits::kRole == detail::TermRole::changed_now) {
            constexpr bool kOnlyNow = Traits::kRole == detail::TermRole::changed_now;
            // The header's tick is the one that came after.
            const std::uint32_t now = past_->header().tick - 1;
            bits &= detail::past_changed(past_->view(), column, rows_of_block(block), begin, now, kOnlyNow) |
                    detail::rows_that_came(archetype, now, kOnlyNow, first_row_of_block(block) + begin);
        }
        return bits;
    }

    const PastWorld* past_;
    detail::QueryShape shape_;
    // One of the components was not there yet.
    bool is_empty_ = false;
};

}  // namespace ouro
