#pragma once

#include <ouro/ecs/detail/relation_lists.hpp>
#include <ouro/ecs/relation_options.hpp>
#include <ouro/ecs/world.hpp>

#include <cstddef>
#include <cstdint>

// Named relations between entities: a relation is a type, and each entity has at most one target in it, any
// number of sources.
//
//     struct OwnedBy {};
//     template <>
//     inline constexpr ouro::RelationOptions ouro::kRelationOptions<OwnedBy> = {.sources =
//     ouro::OnTargetGone::stay};
//
//     relate<ChildOf>(world, wheel, car);
//     each_source<ChildOf>(world, car, [](Entity part) { ... });     // in the order in which they came
//     world.destroy(car);                                            // the wheel goes too
//
// Links and lists lie in the image, as sparse components that queries can read: Link<R> of sources,
// Sources<R> of targets. Relating moves no other component, and makes no archetypes, however many parents
// there are.
namespace ouro {

// The hierarchy: what is destroyed takes its children along.
struct ChildOf {};
template <>
inline constexpr RelationOptions kRelationOptions<ChildOf> = {.sources = OnTargetGone::follow};

// Of a source: its target, and its neighbours among the target's sources, as slots plus one.
template <class R>
struct Link {
    Entity target;
    std::uint32_t previous;
    std::uint32_t next;
};
// Of a target: its first and last source, as slots plus one.
template <class R>
struct Sources {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t count;
    std::uint32_t unused;
};

template <class R>
inline constexpr ComponentOptions kComponentOptions<Link<R>> = {.sparse = true, .role = SparseRole::link};
template <class R>
inline constexpr ComponentOptions kComponentOptions<Sources<R>> = {
    .sparse = true,
    .role = kRelationOptions<R>.sources == OnTargetGone::follow ? SparseRole::sources_follow
                                                                : SparseRole::sources_stay};

namespace detail {

// Null when the relation was never used.
template <class R>
[[nodiscard]] SparseTable* links_of(WorldCore& core) noexcept {
    ComponentId id = core.id_of<Link<R>>();
    // A world that was loaded or attached may have what this program has related nothing in. It is found
    // without making the type known, as others may look at once.
    if (id == kNoComponent && core.header().first_sparse != 0) [[unlikely]] {
        id = core.find_component(component_name<Link<R>>());
        if (id != kNoComponent &&
            (core.component(id).kind != ComponentKind::sparse || core.is_taken(component_name<Link<R>>())))
            return nullptr;
    }
    if (id >= core.header().component_count) return nullptr;
    SparseTable& table = core.sparse_table(id);
    return table.partner == 0 ? nullptr : &table;
}

}  // namespace detail

// Makes `target` the one of `source`, as the last of its sources, instead of another that it may have. Fails
// with stale_handle; bad_argument when the target is the source, or leads to it and cycles are not allowed;
// capacity_exhausted. Then nothing has changed.
template <class R>
Status relate(World& world, Entity source, Entity target) noexcept {
    detail::WorldCore& core = world.core();
    core.expect_free(source);
    if (!core.is_alive(source) || !core.is_alive(target)) return Status::stale_handle;
    if (source == target) return Status::bad_argument;
    const auto links = core.component<Link<R>>();
    if (!links) return links.status();
    const auto sources = core.component<Sources<R>>();
    if (!sources) return sources.status();
    detail::RelationLists::pair(core, core.sparse_table(*links), core.sparse_table(*sources));
    detail::RelationLists lists(core, core.sparse_table(*links));
    // Nobody leads to one that has no sources.
    if (!kRelationOptions<R>.allows_cycles && lists.first_source(detail::slot_index(source)) != 0 &&
        lists.leads_to(target, source))
        return Status::bad_argument;
    const Status status = lists.reserve(detail::slot_index(source), detail::slot_index(target));
    if (status == Status::ok) lists.link(source, target);
    return status;
}

// stale_handle; not_found when it has no target.
template <class R>
Status unrelate(World& world, Entity source) noexcept {
    detail::WorldCore& core = world.core();
    core.expect_free(source);
    if (!core.is_alive(source)) return Status::stale_handle;
    SparseTable* const links = detail::links_of<R>(core);
    if (links == nullptr || !detail::SparseSet(core, *links).has(source)) return Status::not_found;
    detail::RelationLists(core, *links).unlink(detail::slot_index(source));
    return Status::ok;
}

// Null when it has none, or is gone.
template <class R>
[[nodiscard]] Entity target(World& world, Entity source) noexcept {
    detail::WorldCore& core = world.core();
    SparseTable* const links = detail::links_of<R>(core);
    if (links == nullptr || !core.is_alive(source)) return {};
    return detail::RelationLists(core, *links).target(detail::slot_index(source));
}

// How many it has.
template <class R>
[[nodiscard]] std::uint32_t count_sources(World& world, Entity target) noexcept {
    detail::WorldCore& core = world.core();
    SparseTable* const links = detail::links_of<R>(core);
    if (links == nullptr || !core.is_alive(target)) return 0;
    return detail::RelationLists(core, *links).count(detail::slot_index(target));
}

// Calls with each source, in the order in which they were related. The one that it is called with may be
// destroyed, related otherwise or unrelated; no other one of the same target.
template <class R, class Fn>
void each_source(World& world, Entity target, Fn&& fn) noexcept {
    detail::WorldCore& core = world.core();
    SparseTable* const links = detail::links_of<R>(core);
    if (links == nullptr || !core.is_alive(target)) return;
    const detail::RelationLists lists(core, *links);
    for (std::uint32_t next = lists.first_source(detail::slot_index(target)); next != 0;) {
        const std::uint32_t source = next - 1;
        next = lists.next_source(source);
        fn(core.entity_at(source));
    }
}

}  // namespace ouro
