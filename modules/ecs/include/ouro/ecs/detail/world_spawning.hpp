#pragma once

#include <ouro/ecs/world.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

// How a world spawns what it knows the types of: by a plan that is made once for each combination of them.
namespace ouro {

template <class... Ts>
Status World::make_plan(detail::SpawnPlan& plan) noexcept {
    const std::array<Expected<ComponentId>, sizeof...(Ts)> known = {component<Ts>()...};
    std::array<ComponentId, sizeof...(Ts)> ids{};
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (!known[i]) return known[i].status();
        ids[i] = *known[i];
    }
    return core_->make_plan(plan, ids);
}

template <class... Ts>
detail::SpawnPlan& World::own_plan() const noexcept {
    static_assert(sizeof...(Ts) <= detail::SpawnPlan::kMaxTypes, "spawn with fewer components, then add");
    static_assert(detail::kAreDifferent<Ts...>, "an entity has one component of each type");
    return core_->plan_of(detail::TypeNumbers<detail::SpawnFamily>::of<detail::Types<Ts...>>());
}

template <class... Ts>
const detail::SpawnPlan& World::known_plan() const noexcept {
    return core_->plan_of(detail::TypeNumbers<detail::SpawnFamily>::known<detail::Types<Ts...>>());
}

template <class... Ts>
Status World::check_plan(detail::SpawnPlan& plan) noexcept {
    constexpr bool kHasSparse = (kIsSparse<Ts> || ...);
    const bool has_same_components = !kHasSparse || plan.registry_hash == core_->header().registry_hash;
    if (has_same_components && core_->is_archetype(plan.archetype, plan.chain_hash)) [[likely]]
        return Status::ok;
    return make_plan<Ts...>(plan);
}

template <class... Ts>
Expected<Entity> World::spawn_first(const Ts&... values) noexcept {
    detail::SpawnPlan& plan = own_plan<Ts...>();
    if (const Status status = core_->check_free_slots(1); status != Status::ok) return status;
    if (const Status status = check_plan<Ts...>(plan); status != Status::ok) return status;
    if constexpr ((kIsSparse<Ts> || ...)) {
        Status status = Status::ok;
        (reserve_sparse<Ts>(core_->next_slot(), status), ...);
        if (status != Status::ok) return status;
    }
    const auto entity = core_->spawn_into(plan.archetype);
    if (!entity) return entity;
    const std::uint32_t row = core_->slot_of(*entity).row;
    core_->open_window(plan, row);
    [[maybe_unused]] std::size_t at = 0;
    (write_cell(plan.cells[at++], row % 64, values), ...);
    if constexpr ((kIsSparse<Ts> || ...)) (write_sparse(*entity, values), ...);
    return entity;
}

template <class... Ts, class Fill>
Expected<void> World::spawn_many(std::uint32_t count, Fill&& fill) noexcept {
    expect_free({});
    static_assert((!kIsSparse<Ts> && ...), "spawn many with columns and tags; add what is sparse");
    detail::SpawnPlan& plan = own_plan<Ts...>();
    if (const Status status = core_->check_free_slots(count); status != Status::ok) return status;
    if (const Status status = check_plan<Ts...>(plan); status != Status::ok) return status;
    // Whatever else `fill` spawns.
    const std::uint32_t archetype = plan.archetype;
    const auto columns = plan.columns;
    if (const auto room = core_->reserve(archetype, count); !room) return room;
    while (count != 0) {
        const auto run = core_->spawn_run(archetype, count);
        if (!run) return run.status();
        count -= run->count;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            const auto cells = [&]<class T>(unsigned column) -> T* {
                if constexpr (kIsTag<T>)
                    return nullptr;
                else
                    return &core_->cell<T>(run->columns[column - 1], run->first);
            };
            const std::tuple<Ts*...> first { cells.template operator()<Ts>(columns[I])... };
            const Entity* const names = &core_->cell<Entity>(run->columns[0], run->first);
            for (std::uint32_t i = 0; i < run->count; ++i) {
                if constexpr (std::is_invocable_v<Fill&, Entity, Ts&...>)
                    fill(names[i], detail::cell_or_tag(std::get<I>(first), i)...);
                else
                    fill(detail::cell_or_tag(std::get<I>(first), i)...);
            }
        }(std::index_sequence_for<Ts...>());
    }
    return {};
}

}  // namespace ouro
