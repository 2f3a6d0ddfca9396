#pragma once

#include <ouro/ecs/detail/event_log.hpp>
#include <ouro/ecs/world.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

// Functions that are called when components come, go and change: not at once, but where the world says so, in
// the order in which it happened, and for each event in the order in which the observers were made.
//
//     on_add<Burning>(world, [](World& world, Entity entity) { ... });
//     on_remove<Inventory>(world, [](World& world, Entity, const Inventory& last) {
//     world.heap().bind(last.items)... }); on_change<Health>(world, [stats](World& world, Entity entity) {
//     ... }); world.deliver_events();
//
// A schedule delivers at its barriers; commit() delivers what is left, so that a tick takes no event along.
// What was not delivered before a rollback is dropped with its tick. Observers may spawn, destroy, add and
// remove: what that causes comes in a next round. They may not commit (busy) or roll back: the delivery ends
// with `tick_gone` then, and what was left of the tick is dropped.
//
// They are no part of the state: every process that simulates makes the same ones in the same order, once,
// before the first tick. They watch types, whatever numbers these have after a rollback or a load; where the
// world does not know the type, there is nothing to see. A function object is kept as its bytes: up to two
// pointers, trivially copyable.
namespace ouro {

namespace detail {

template <class T, EventKind kKind, class Fn>
Status observe(World& world, const Fn& fn) noexcept {
    static_assert(std::is_trivially_copyable_v<Fn> && sizeof(Fn) <= sizeof(Observer::fn) && alignof(Fn) <= 8,
                  "an observer keeps two pointers at most: hand it one to what it needs");
    static_assert(
        kComponentKind<T> != ComponentKind::singleton,
        "a singleton belongs to no entity, and nobody adds or removes it: ask Res<T>::is_changed()");
    const auto id = world.core().known_component<T>();
    if (!id) return id.status();
    Observer made;
    made.type = type_number<T>();
    made.component = *id;
    made.kind = kKind;
    if constexpr (!std::is_empty_v<Fn>) std::memcpy(made.fn.data(), &fn, sizeof(Fn));
    made.call = [](const void* own, World& own_world, Entity entity,
                   [[maybe_unused]] const std::byte* value) {
        const Fn& call = *static_cast<const Fn*>(own);
        if constexpr (kKind == EventKind::removed && !kIsTag<T>) {
            T last;
            std::memcpy(static_cast<void*>(&last), value, sizeof(T));
            call(own_world, entity, static_cast<const T&>(last));
        } else {
            call(own_world, entity);
        }
    };
    return world.core().events().watch(made);
}

}  // namespace detail

// fn(World&, Entity): the entity has the component now; by the time of the call it may have lost it again, or
// be gone. Replacing a value is no adding. Fails as World::component does, and with capacity_exhausted.
template <class T, class Fn>
Status on_add(World& world, const Fn& fn) noexcept {
    return detail::observe<T, EventKind::added>(world, fn);
}
// fn(World&, Entity, const T& last), of a tag fn(World&, Entity): it was removed, or the entity destroyed.
template <class T, class Fn>
Status on_remove(World& world, const Fn& fn) noexcept {
    return detail::observe<T, EventKind::removed>(world, fn);
}
// fn(World&, Entity): once a tick, by commit(), for each entity of which Changed would say so in this tick:
// what came counts as changed, and so does what is switched off. Changes by those observers themselves are of
// this tick too, and cause no further event. A commit that failed after it had called them is none: the next
// one calls them again.
template <class T, class Fn>
Status on_change(World& world, const Fn& fn) noexcept {
    static_assert(!kIsTag<T>, "a tag does not change: it comes and goes");
    return detail::observe<T, EventKind::changed>(world, fn);
}

}  // namespace ouro
