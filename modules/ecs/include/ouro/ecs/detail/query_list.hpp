#pragma once

#include <ouro/ecs/detail/block_key.hpp>
#include <ouro/ecs/query.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

// How a query visits one entity, and those of a list: some at a time, in three steps, each of which asks the
// processor for what the next one reads.
namespace ouro {

template <class... Terms>
bool Query<Terms...>::find_archetype(std::uint32_t number, Finder& finder) const noexcept {
    // Brings the shape up to date.
    static_cast<void>(core_->matches_of(*cache_));
    const ArchetypeRecord& archetype = core_->archetype(number);
    const detail::QueryShape& shape = cache_->shape;
    finder.match.archetype = number;
    finder.is_wanted = archetype.mask.has_all(shape.required) && !archetype.mask.has_any(shape.excluded);
    if (!finder.is_wanted) return false;
    for (std::uint32_t term = 0; term < shape.term_count; ++term)
        finder.match.columns[term] =
            static_cast<std::uint8_t>(core_->column_of(archetype, shape.terms[term]));
    return true;
}

template <class... Terms>
template <class Tables, class Visit>
bool Query<Terms...>::visit_row(Entity entity, const Tables& tables, Finder& finder,
                                Visit&& visit) const noexcept {
    if (!core_->is_alive(entity)) return false;
    const EntitySlot slot = core_->slot_of(entity);
    if (slot.archetype == finder.match.archetype ? !finder.is_wanted
                                                 : !find_archetype(slot.archetype, finder))
        return false;
    const ArchetypeRecord& archetype = core_->archetype(slot.archetype);
    const RowPlace at = place_of_row(slot.row);
    Row row{{core_, core_->block(archetype, at.block), at.block}, finder.match, at.index, {}};
    if (!Join::find(*core_, tables, entity, row.sparse)) return false;
    bool is_there = false;
    Plan::visit_runs(row.place, archetype, row.match, at.index, at.index + 1,
                     [&](std::uint32_t, std::uint32_t) {
                         is_there = true;
                         visit(row);
                     });
    return is_there;
}

template <class... Terms>
template <class Fn>
std::uint32_t Query<Terms...>::visit(std::span<const Entity> entities, Fn&& fn) const noexcept {
    constexpr std::size_t kAtOnce = 32;
    std::uint32_t count = 0;
    if constexpr (!Plan::kIsReadied) {
        for (const Entity entity : entities)
            count += visit(entity, fn) ? 1U : 0U;
    } else {
        const detail::IterationScope scope(*core_);
        // Brings what is known of archetypes up to date.
        static_cast<void>(core_->matches_of(*cache_));
        using Cells = decltype(Plan::cells(std::declval<const detail::BlockPlace&>(),
                                           std::declval<const detail::QueryMatch&>()));
        // Cells of some are on their way while those before them are visited.
        std::array<std::array<Cells, kAtOnce>, 2> found;
        std::size_t turn = 0, waiting = 0;
        const auto call_waiting = [&] {
            for (std::size_t i = 0; i < waiting; ++i)
                std::apply([&](const auto&... cells) { Plan::call_row(fn, 0, cells...); }, found[turn][i]);
            count += static_cast<std::uint32_t>(std::exchange(waiting, 0));
        };
        const auto prefetch_slots = [&](std::size_t from) {
            const std::size_t end = std::min(entities.size(), from + kAtOnce);
            for (std::size_t i = from; i < end; ++i)
                core_->prefetch_slot(entities[i]);
        };
        prefetch_slots(0);
        for (std::size_t begin = 0; begin < entities.size();) {
            const std::size_t run = find_run(entities.subspan(begin));
            if (run != 0) {
                call_waiting();
                visit_run(entities[begin], run, fn);
                begin += run;
                count += static_cast<std::uint32_t>(run);
                continue;
            }
            prefetch_slots(begin + kAtOnce);
            const std::size_t end = std::min(entities.size(), begin + kAtOnce);
            const std::size_t rows = find_cells(entities.subspan(begin, end - begin), found[1 - turn].data());
            call_waiting();
            turn = 1 - turn;
            waiting = rows;
            begin = end;
        }
        call_waiting();
    }
    return count;
}

// How many entities, from the first on, are in rows that lie behind each other as their names do, such as
// they were made. Zero where that is not worth it.
template <class... Terms>
std::size_t Query<Terms...>::find_run(std::span<const Entity> entities) const noexcept {
    constexpr std::size_t kWorth = 4;
    const std::size_t count = core_->count_run(entities);
    if (count < kWorth) return 0;
    EntitySlot slot{};
    if (!core_->find_slot(entities[0], slot)) return 0;
    if (cache_->match_of_archetype(slot.archetype) == nullptr) return 0;
    const RowPlace at = place_of_row(slot.row);
    return std::min(count, std::size_t{rows_of_block(at.block) - at.index});
}

// Requires: there is one.
template <class... Terms>
template <class Fn>
void Query<Terms...>::visit_run(Entity first, std::size_t count, Fn& fn) const noexcept {
    const EntitySlot slot = core_->slot_of(first);
    const detail::QueryMatch& match = *cache_->match_of_archetype(slot.archetype);
    const RowPlace at = place_of_row(slot.row);
    const auto end = static_cast<std::uint32_t>(at.index + count);
    const detail::BlockPlace place{core_, core_->block(core_->archetype(slot.archetype), at.block), at.block};
    if constexpr (Plan::kWrites) Plan::declare(place, match, at.index, end, UINT32_MAX);
    call(fn, Plan::cells(place, match), at.index, end);
}

// Of those that are the query's; what is written is declared. Nothing here is guessed from the archetype
// before: a wrong guess would wait for the slot's memory.
template <class... Terms>
template <class Cells>
std::size_t Query<Terms...>::find_cells(std::span<const Entity> entities, Cells* found) const noexcept {
    const detail::RowPlacer placer;
    std::size_t count = 0;
    for (const Entity entity : entities) {
        EntitySlot slot{};
        if (!core_->find_slot(entity, slot)) continue;
        const detail::QueryMatch* const match = cache_->match_of_archetype(slot.archetype);
        if (match == nullptr) continue;
        const RowPlace at = placer.place(slot.row);
        const detail::BlockPlace place{core_, core_->block(core_->archetype(slot.archetype), at.block),
                                       at.block};
        if constexpr (Plan::kWrites) Plan::declare(place, *match, at.index, at.index + 1, UINT32_MAX);
        found[count] = Plan::row_cells(place, *match, at.index);
        std::apply([](const auto&... cells) { (__builtin_prefetch(cells), ...); }, found[count]);
        ++count;
    }
    return count;
}

}  // namespace ouro
