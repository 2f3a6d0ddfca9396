#pragma once

#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/detail/row_bits.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace ouro {

// The entities that have certain components, and these components.
//
//     Query<Position&, const Velocity&, Without<Frozen>> moving(world);
//     moving.each([](Position& position, const Velocity& velocity) { position.x += velocity.x; });
//
// Terms: `T&` is written and counts as changed in every row that is visited; `const T&` is read; `Mut<T>`
// counts as changed where it is written; `Optional<T&>`, `Optional<const T&>`; `Entity`; and the filters
// With, Without, Changed and ChangedNow. Rows come in the order of the archetypes and of their rows, which is
// part of the state.
//
// A small value: make it where it is used. What it found is kept by the world, and found again by itself
// after a rollback. While rows are visited, nothing may be spawned, destroyed, added or removed (assert in
// checked builds).
template <class... Terms>
class Query {
    using Plan = detail::QueryPlan<Terms...>;

public:
    explicit Query(World& world) noexcept : Query(world.core()) {}
    explicit Query(detail::WorldCore& core) noexcept : core_(&core), cache_(&Plan::cache(core)) {}

    // Calls fn with what the terms hand out, for each entity.
    template <class Fn>
    void each(Fn&& fn) const noexcept {
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            const auto cells = Plan::cells(place, match);
            const auto run = [&](std::uint32_t begin, std::uint32_t end) {
                Plan::declare(place, match, begin, end, rows);
                call(fn, cells, begin, end);
            };
            Plan::visit_runs(place, archetype, match, 0, rows, run);
        });
    }

    // Calls fn with spans of rows that lie side by side, one span for each term: std::span<T>, or a pointer
    // to the first where that is optional.
    template <class Fn>
    void chunks(Fn&& fn) const noexcept {
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            const auto cells = Plan::cells(place, match);
            Plan::visit_runs(place, archetype, match, 0, rows, [&](std::uint32_t begin, std::uint32_t end) {
                Plan::declare(place, match, begin, end, rows);
                std::apply([&](auto... first) { fn(Plan::span(first, begin, end)...); }, cells);
            });
        });
    }

    // The same as each, shared out to the workers of a pool. Nothing may depend on which thread calls, nor on
    // the order.
    template <class Fn>
    void parallel_each(JobPool& pool, Fn&& fn) const noexcept;

    // What fn gets for one entity; false, and no call, when it is none of the query's.
    template <class Fn>
    bool visit(Entity entity, Fn&& fn) const noexcept;
    [[nodiscard]] bool has(Entity entity) const noexcept {
        return visit(entity, [](auto&&...) {});
    }

    [[nodiscard]] std::uint32_t count() const noexcept {
        std::uint32_t total = 0;
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            Plan::visit_runs(place, archetype, match, 0, rows,
                             [&](std::uint32_t begin, std::uint32_t end) { total += end - begin; });
        });
        return total;
    }
    // The first entity; null when there is none.
    [[nodiscard]] Entity first() const noexcept {
        Entity found;
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            if (!found.is_null()) return;
            Plan::visit_runs(place, archetype, match, 0, rows, [&](std::uint32_t begin, std::uint32_t) {
                if (found.is_null()) found = core_->cell<Entity>(place.columns[0], begin);
            });
        });
        return found;
    }

    // Brings the columns that may be written to this tick, so that threads can mark rows at once.
    void prepare() const noexcept {
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord&,
                         const detail::QueryMatch& match, std::uint32_t) { Plan::prepare(place, match); });
    }

private:
    template <class Fn, class Cells>
    static void call(Fn& fn, const Cells& cells, std::uint32_t begin, std::uint32_t end) noexcept {
        std::apply(
            [&](const auto&... each) {
                for (std::uint32_t index = begin; index < end; ++index)
                    Plan::call_row(fn, index, each...);
            },
            cells);
    }

    template <class Visit>
    void visit_blocks(Visit&& visit) const noexcept {
        const detail::IterationScope scope(*core_);
        for (const detail::QueryMatch& match : core_->matches_of(*cache_)) {
            const ArchetypeRecord& archetype = core_->archetype(match.archetype);
            std::uint32_t left = archetype.row_count;
            for (std::uint32_t number = 0; left != 0; ++number) {
                const std::uint32_t rows = std::min(left, rows_of_block(number));
                visit(detail::BlockPlace{core_, core_->block(archetype, number), number}, archetype, match,
                      rows);
                left -= rows;
            }
        }
    }

    detail::WorldCore* core_;
    detail::QueryCache* cache_;
};

template <class... Terms>
template <class Fn>
bool Query<Terms...>::visit(Entity entity, Fn&& fn) const noexcept {
    if (!core_->is_alive(entity)) return false;
    const EntitySlot slot = core_->slot_of(entity);
    const ArchetypeRecord& archetype = core_->archetype(slot.archetype);
    const detail::QueryShape& shape = cache_->shape;
    if (!archetype.mask.has_all(shape.required) || archetype.mask.has_any(shape.excluded)) return false;
    detail::QueryMatch match{.archetype = slot.archetype};
    for (std::uint32_t term = 0; term < shape.term_count; ++term)
        match.columns[term] = static_cast<std::uint8_t>(core_->column_of(archetype, shape.terms[term]));
    const RowPlace row = place_of_row(slot.row);
    const detail::BlockPlace place{core_, core_->block(archetype, row.block), row.block};
    bool is_there = false;
    Plan::visit_runs(place, archetype, match, row.index, row.index + 1,
                     [&](std::uint32_t begin, std::uint32_t end) {
                         is_there = true;
                         Plan::declare(place, match, begin, end, UINT32_MAX);
                         call(fn, Plan::cells(place, match), begin, end);
                     });
    return is_there;
}

template <class... Terms>
template <class Fn>
void Query<Terms...>::parallel_each(JobPool& pool, Fn&& fn) const noexcept {
    constexpr std::size_t kGrain = 8;
    prepare();
    visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                     const detail::QueryMatch& match, std::uint32_t rows) {
        const auto cells = Plan::cells(place, match);
        const auto run = [&](std::uint32_t begin, std::uint32_t end) {
            Plan::declare_cells(place, match, begin, end);
            call(fn, cells, begin, end);
        };
        if constexpr (!Plan::kFiltersRows) Plan::declare(place, match, 0, rows, rows);
        // Whole words of change bits, so that no two threads share one.
        parallel_for(pool, (rows + 63) / 64, kGrain, [&](std::size_t begin, std::size_t end) {
            const auto first = static_cast<std::uint32_t>(begin * 64);
            const auto last = std::min(rows, static_cast<std::uint32_t>(end * 64));
            if constexpr (Plan::kFiltersRows)
                Plan::visit_runs(place, archetype, match, first, last, run);
            else
                call(fn, cells, first, last);
        });
    });
}

}  // namespace ouro
