#pragma once

#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world.hpp>

#include <cstdint>
#include <span>

// Changes to many entities at once: those in a list, or those of a query. All or none. Where a query takes
// whole archetypes, these are moved and destroyed as wholes, column by column.
//
//     destroy_all(Query<With<Bullet>, Without<Flying>>(world));
//     add_to_all(Query<const Position&, Without<Frozen>>(world), Frozen{});
//     remove_from<Frozen>(world, selected);
//
// A query that writes `T&` marks nothing here.
namespace ouro {

// Destroys all entities of a query; returns how many it were, without those that followed them.
template <class... Terms>
std::uint32_t destroy_all(const Query<Terms...>& query) noexcept {
    detail::WorldCore& core = query.core();
    std::uint32_t destroyed = 0;
    core.expect_free({});
    if constexpr (Query<Terms...>::kTakesWholes) {
        for (const detail::QueryMatch& match : query.matches()) {
            destroyed += core.archetype(match.archetype).row_count;
            core.destroy_all(match.archetype);
        }
    } else {
        query.drain([&](Entity entity) {
            core.destroy(entity);
            ++destroyed;
        });
    }
    return destroyed;
}

namespace detail {

// Room for adding or removing a component, of each entity that visit_all calls with.
template <class T, class VisitAll>
[[nodiscard]] Status plan_batch(WorldCore& core, ComponentId id, bool adds, VisitAll&& visit_all) noexcept {
    Status status = Status::ok;
    std::uint32_t count = 0;
    visit_all([&](Entity entity) {
        if (status != Status::ok || !core.is_alive(entity)) return;
        if constexpr (kIsSparse<T>) {
            ++count;
        } else {
            const std::uint32_t archetype = core.slot_of(entity).archetype;
            if (core.archetype(archetype).mask.has(id) != adds)
                status = core.plan_move(archetype, id, adds, 1);
        }
    });
    if constexpr (kIsSparse<T>)
        return adds ? SparseSet(core, id).reserve_many(count, core.header().used_slots) : status;
    else
        return status == Status::ok ? core.reserve_planned() : status;
}

// Rows of an archetype from one on, which are declared.
template <class T>
void fill_rows(WorldCore& core, std::uint32_t number, ComponentId id, std::uint32_t first,
               const T& value) noexcept {
    const ArchetypeRecord& archetype = core.archetype(number);
    const unsigned column = core.column_of(archetype, id);
    for (std::uint32_t row = first; row < archetype.row_count; ++row) {
        const RowPlace place = place_of_row(row);
        core.cell<T>(core.block(archetype, place.block)[column - 1], place.index) = value;
    }
}

// There is room.
template <class T>
void add_if_none(WorldCore& core, Entity entity, ComponentId id, const T& value) noexcept {
    if constexpr (kIsSparse<T>) {
        SparseSet set(core, id);
        if (set.has(entity)) return;
        const auto row = set.add(entity);
        OURO_ASSERT(row.has_value(), "there is room for what was reserved");
        set.cell<T>(*row) = value;
    } else {
        const std::uint32_t from = core.slot_of(entity).archetype;
        if (core.archetype(from).mask.has(id)) return;
        const auto plan = core.move_plan(from, id, true);
        const auto row = core.move(entity, **plan);
        OURO_ASSERT(row.has_value(), "there is room for what was reserved");
        if constexpr (!kIsTag<T>) core.cell_of_row<T>((*plan)->target, (*plan)->column, *row) = value;
    }
}

template <class T>
void remove_if_there(WorldCore& core, Entity entity, ComponentId id) noexcept {
    if constexpr (kIsSparse<T>) {
        SparseSet set(core, id);
        if (set.has(entity)) set.remove<T>(slot_index(entity));
    } else {
        const std::uint32_t from = core.slot_of(entity).archetype;
        if (!core.archetype(from).mask.has(id)) return;
        const auto plan = core.move_plan(from, id, false);
        [[maybe_unused]] const auto row = core.move(entity, **plan);
        OURO_ASSERT(row.has_value(), "there is room for what was reserved");
    }
}

// Each archetype of a query that has the component, or has it not, into its neighbour.
template <class T, class Moved, class... Terms>
[[nodiscard]] Status move_wholes(const Query<Terms...>& query, ComponentId id, bool adds,
                                 Moved&& moved) noexcept {
    WorldCore& core = query.core();
    // Neighbours may be new matches: they are not asked again.
    const std::size_t count = query.matches().size();
    const auto is_moved = [&](std::size_t i) {
        const ArchetypeRecord& archetype = core.archetype(query.matches()[i].archetype);
        return archetype.row_count != 0 && archetype.mask.has(id) != adds;
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_moved(i)) continue;
        const std::uint32_t number = query.matches()[i].archetype;
        const Status status = core.plan_move(number, id, adds, core.archetype(number).row_count);
        if (status != Status::ok) return status;
    }
    if (const Status status = core.reserve_planned(); status != Status::ok) return status;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_moved(i)) continue;
        const std::uint32_t number = query.matches()[i].archetype;
        const auto target = core.neighbour(number, id, adds);
        OURO_ASSERT(target.has_value(), "a neighbour that was planned is there");
        const std::uint32_t first = core.archetype(*target).row_count;
        core.move_all(number, *target);
        moved(*target, first);
    }
    return Status::ok;
}

}  // namespace detail

// As World::add for each of them; those that are gone are passed over. Fails with capacity_exhausted, and
// then nothing has changed.
template <class T>
Status add_to(World& world, std::span<const Entity> entities, const T& value = {}) noexcept {
    const auto id = world.component<T>();
    if (!id) return id.status();
    const auto visit_all = [&](auto&& visit) {
        for (const Entity entity : entities)
            visit(entity);
    };
    const Status status = detail::plan_batch<T>(world.core(), *id, true, visit_all);
    if (status != Status::ok) return status;
    for (const Entity entity : entities)
        static_cast<void>(world.add(entity, value));
    return Status::ok;
}
// As World::remove; those that are gone or have none are passed over.
template <class T>
Status remove_from(World& world, std::span<const Entity> entities) noexcept {
    const auto id = world.core().known_component<T>();
    if (!id || *id == kNoComponent) return id.status();
    const auto visit_all = [&](auto&& visit) {
        for (const Entity entity : entities)
            visit(entity);
    };
    const Status status = detail::plan_batch<T>(world.core(), *id, false, visit_all);
    if (status != Status::ok) return status;
    for (const Entity entity : entities)
        static_cast<void>(world.remove<T>(entity));
    return Status::ok;
}

// The same for all entities of a query. Those that have the component already keep what they have.
template <class T, class... Terms>
Status add_to_all(const Query<Terms...>& query, const T& value = {}) noexcept {
    static_assert(kIsPlain<T>, "names and relations are written by their own functions");
    detail::WorldCore& core = query.core();
    core.expect_free({});
    const auto id = core.component<T>();
    if (!id) return id.status();
    if constexpr (Query<Terms...>::kTakesWholes && !kIsSparse<T>) {
        return detail::move_wholes<T>(
            query, *id, true, [&]([[maybe_unused]] std::uint32_t target, [[maybe_unused]] std::uint32_t row) {
                if constexpr (!kIsTag<T>) detail::fill_rows(core, target, *id, row, value);
            });
    } else {
        const auto visit_all = [&](auto&& visit) { query.drain(visit); };
        const Status status = detail::plan_batch<T>(core, *id, true, visit_all);
        if (status != Status::ok) return status;
        query.drain([&](Entity entity) { detail::add_if_none(core, entity, *id, value); });
        return Status::ok;
    }
}
template <class T, class... Terms>
Status remove_from_all(const Query<Terms...>& query) noexcept {
    static_assert(kIsPlain<T>, "names and relations are written by their own functions");
    detail::WorldCore& core = query.core();
    core.expect_free({});
    const auto id = core.known_component<T>();
    if (!id || *id == kNoComponent) return id.status();
    if constexpr (Query<Terms...>::kTakesWholes && !kIsSparse<T>) {
        return detail::move_wholes<T>(query, *id, false, [](std::uint32_t, std::uint32_t) {});
    } else {
        const auto visit_all = [&](auto&& visit) { query.drain(visit); };
        const Status status = detail::plan_batch<T>(core, *id, false, visit_all);
        if (status != Status::ok) return status;
        query.drain([&](Entity entity) { detail::remove_if_there<T>(core, entity, *id); });
        return Status::ok;
    }
}

}  // namespace ouro
