#pragma once

#include <ouro/ecs/relations.hpp>
#include <ouro/ecs/world.hpp>

// Entities made of others. A prefab is an entity with the tag Prefab, which queries pass over unless they ask
// With<Prefab>; what is spawned from it has everything else that it has.
//
//     const Entity orc = *world.spawn(Position{}, Health{10}, Prefab{});
//     const Entity one = *spawn_from(world, orc);
namespace ouro {

// A copy: all components with what is in them, sparse ones and rows that are switched off too; and, as the
// last source of it, whatever the entity is related to. Not its name, which is its own, nor who is related to
// it. Fails with stale_handle and capacity_exhausted; then nothing has changed.
inline Expected<Entity> clone(World& world, Entity entity) noexcept {
    world.core().expect_free(entity);
    if (!world.is_alive(entity)) return Status::stale_handle;
    return world.core().clone(entity, world.core().slot_of(entity).archetype);
}

// The same without the tag Prefab.
inline Expected<Entity> spawn_from(World& world, Entity prefab) noexcept {
    world.core().expect_free(prefab);
    if (!world.is_alive(prefab)) return Status::stale_handle;
    detail::WorldCore& core = world.core();
    std::uint32_t archetype = core.slot_of(prefab).archetype;
    if (core.archetype(archetype).mask.has(kPrefabComponent)) {
        const auto plain = core.neighbour(archetype, kPrefabComponent, false);
        if (!plain) return plain.status();
        archetype = *plain;
    }
    return core.clone(prefab, archetype);
}

// An entity with all its descendants in a relation, each by spawn_from: in the same order, related as they
// are. All or none. Requires: sources follow their targets in it, and it has no cycles.
template <class R = ChildOf>
Expected<Entity> spawn_tree_from(World& world, Entity prefab) noexcept {
    static_assert(kRelationOptions<R>.sources == OnTargetGone::follow && !kRelationOptions<R>.allows_cycles,
                  "trees are of relations in which sources follow their targets");
    detail::WorldCore& core = world.core();
    const auto root = spawn_from(world, prefab);
    SparseTable* const links = detail::links_of<R>(core);
    if (!root || links == nullptr) return root;
    const detail::RelationLists lists(core, *links);
    // Both trees are walked side by side: down where there is a child, otherwise on, over the parents.
    Entity from = prefab;
    Entity copy = *root;
    bool goes_down = true;
    while (goes_down || from != prefab) {
        const std::uint32_t own = detail::slot_index(from);
        const std::uint32_t next = goes_down ? lists.first_source(own) : lists.next_source(own);
        if (next == 0) {
            // Nothing more here.
            if (goes_down) {
                goes_down = false;
            } else {
                from = lists.target(own);
                copy = lists.target(detail::slot_index(copy));
            }
            continue;
        }
        const Entity parent = goes_down ? copy : lists.target(detail::slot_index(copy));
        const Entity child = core.entity_at(next - 1);
        const auto made = spawn_from(world, child);
        const Status status = made ? relate<R>(world, *made, parent) : made.status();
        if (status != Status::ok) {
            if (made) core.destroy(*made);
            core.destroy(*root);
            return status;
        }
        from = child;
        copy = *made;
        goes_down = true;
    }
    return root;
}

}  // namespace ouro
