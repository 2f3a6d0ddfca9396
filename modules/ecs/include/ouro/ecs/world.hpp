#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/resource_cell.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>
#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/ecs/world_refusal.hpp>
#include <ouro/ecs/world_stats.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

class PastWorld;

// Entities and their components, all of it in a segment of a StateRing: rows, names, free lists and change
// marks are rolled back with everything else, and can be read at any past tick.
//
//     auto world = World::create(ring, {.segment = "world"});
//     const Entity ada = *world->spawn(Position{1, 2}, Velocity{0, 1});
//     Query<Position&, const Velocity&>(*world).each([](Position& p, const Velocity& v) { p.x += v.x; });
//     world->commit();
//
// A component is a plain struct of fixed-width fields, or an empty one: a tag; kComponentOptions says more of
// it. A world knows it from its first use on, or from component<T>(). What cannot be a component is refused
// when it is compiled.
//
// Structural changes (spawn, destroy, add, remove) and commits are for one thread at a time, while nobody
// iterates; systems record them as commands. The ring may be rolled back at any time between: the world needs
// not be told. Before the tick in which it was made there is no world: whatever would change it is not_found
// then, nobody is alive, and nothing is written. Create it again to go on from there.
class World {
public:
    // Fails with not_found (no such segment), bad_argument (no entities or too many archetypes, or the
    // segment is process-bound or not declared), address_in_use (a world or a heap lies there already:
    // attach, or see ImageHeapOptions::replaces), capacity_exhausted (the segment is too small for the
    // tables), and as os::reserve does. What exactly was asked for, and what there is, is said in the
    // refusal, where one is given; see world_refusal.hpp.
    [[nodiscard]] static Expected<World> create(StateRing& ring, const WorldOptions& options = {},
                                                WorldRefusal* refusal = nullptr) noexcept;
    // The world in a segment of an image that was loaded, after verifying all of it: a damaged one is
    // corrupt_data, whatever is wrong with it, and nothing has changed. Fails with not_found (no such
    // segment, or no world in it), bad_argument (as create), wrong_format, wrong_layout (structures of
    // another version of this library), corrupt_data, and as os::reserve does. Its components must be
    // registered again: by name, and wrong_layout when they have changed.
    [[nodiscard]] static Expected<World> attach(StateRing& ring, std::string_view segment = "world") noexcept;

    World(World&& other) noexcept
        : outside_(std::move(other.outside_)), core_(std::exchange(other.core_, nullptr)) {}
    World& operator=(World&& other) noexcept {
        outside_ = std::move(other.outside_);
        core_ = std::exchange(other.core_, nullptr);
        return *this;
    }

    // Makes a component known, or finds it. Fails with wrong_layout (another of that name is there: of
    // another size, with other fields, or kept in another way; or another type of this program has that name
    // here, such as `ice::Cooldown` beside `fire::Cooldown`: see type_clash), bad_argument (no name),
    // capacity_exhausted, and not_found (see above).
    template <class T>
    Expected<ComponentId> component() noexcept {
        return core_->component<T>();
    }
    // Of the last wrong_layout: which two types of this program have one name, as names have no namespaces.
    // Give one of them another by ComponentOptions::name. Empty when it was for something else.
    [[nodiscard]] const TypeClash& type_clash() const noexcept { return core_->clash(); }

    // An entity with these components. Fails with capacity_exhausted (no slot, no archetype, no room), and as
    // component does; then nothing has changed. Inlined, as the result of a call comes through memory in
    // wasm32: that was a quarter of the time.
    template <class... Ts>
    [[gnu::always_inline]] Expected<Entity> spawn(const Ts&... values) noexcept {
        expect_free({});
        if constexpr ((!kIsSparse<Ts> && ...)) {
            const detail::SpawnPlan& plan = known_plan<Ts...>();
            std::uint32_t index = 0;
            Entity entity;
            if (core_->append(plan, entity, index)) [[likely]] {
                [[maybe_unused]] std::size_t at = 0;
                (write_cell(plan.cells[at++], index, values), ...);
                const Expected<Entity> made(entity);
                core_->declare_appended(entity);
                return made;
            }
        }
        return spawn_first(values...);
    }

    // So many at once, filled by fill(Ts&...) or fill(Entity, Ts&...), which gets memory that was not written
    // yet. All or none: fails as spawn does.
    template <class... Ts, class Fill>
    Expected<void> spawn_many(std::uint32_t count, Fill&& fill) noexcept;
    // So many that are alike.
    template <class... Ts>
    Expected<void> spawn_copies(std::uint32_t count, const Ts&... values) noexcept {
        return spawn_many<Ts...>(count, [&](Ts&... cells) { ((cells = values), ...); });
    }

    [[nodiscard]] bool is_alive(Entity entity) const noexcept {
        core_->expect_not_replaced();
        return core_->is_alive(entity);
    }
    // stale_handle.
    Status destroy(Entity entity) noexcept {
        expect_free(entity);
        if (!is_alive(entity)) return Status::stale_handle;
        core_->destroy(entity);
        return Status::ok;
    }
    // How many of them were alive.
    std::uint32_t destroy(std::span<const Entity> entities) noexcept;

    // Null when the entity is gone or has no such component. Of many entities at once: Query::visit.
    template <class T>
    [[nodiscard]] const T* get(Entity entity) const noexcept {
        static_assert(!kIsTag<T>, "a tag has no value: ask has<T>(entity)");
        core_->expect_not_replaced();
        detail::expect_access<T>(*core_, entity, false);
        if constexpr (kIsSparse<T>) {
            if (!core_->is_alive(entity)) return nullptr;
            const ComponentId id = core_->id_of<T>();
            const std::uint32_t row = find_sparse(entity, id);
            return row == 0 ? nullptr : &detail::SparseSet(*core_, id).cell<T>(row - 1);
        } else {
            detail::KnownCell known;
            if (core_->find_known_cell<T>(entity, known)) [[likely]]
                return reinterpret_cast<const T*>(known.data);
            return find<T>(entity);
        }
    }
    // The same for writing: counts as changed, and is declared. One thread at a time; systems on several
    // write through queries.
    template <class T>
    [[nodiscard]] T* edit(Entity entity) noexcept {
        static_assert(!kIsTag<T>, "a tag has no value");
        core_->expect_not_replaced();
        static_assert(kIsPlain<T>, "names and relations are written by their own functions");
        detail::expect_access<T>(*core_, entity, true);
        detail::expect_no_loop();
        if constexpr (kIsSparse<T>) {
            if (!core_->is_alive(entity)) return nullptr;
            const ComponentId id = core_->id_of<T>();
            const std::uint32_t row = find_sparse(entity, id);
            return row == 0 ? nullptr : &detail::SparseSet(*core_, id).edit<T>(row - 1);
        } else {
            detail::KnownCell known;
            if (!core_->find_known_cell<T>(entity, known)) [[unlikely]]
                return find_to_edit<T>(entity);
            core_->declare_known(known, sizeof(T));
            return reinterpret_cast<T*>(known.data);
        }
    }
    template <class T>
    [[nodiscard]] bool has(Entity entity) const noexcept {
        core_->expect_not_replaced();
        const ComponentId id = core_->id_of<T>();
        if constexpr (kIsSparse<T>)
            return is_alive(entity) && find_sparse(entity, id) != 0;
        else
            return id != kNoComponent && is_alive(entity) &&
                   core_->archetypes()[core_->slot_of(entity).archetype].mask.has(id);
    }

    // Gives an entity a component, or another value. Fails with stale_handle, and as spawn does.
    template <class T>
    Expected<void> add(Entity entity, const T& value = {}) noexcept;
    // stale_handle; not_found when it has none; capacity_exhausted.
    template <class T>
    Expected<void> remove(Entity entity) noexcept;

    // To queries a component that is switched off is not there; has, get and edit find it. Moves nothing, and
    // is no change of its value. Fails with
    // stale_handle, not_found (the entity has none), bad_argument (its options do not say `toggles`).
    template <class T>
    Expected<void> disable(Entity entity) noexcept {
        return set_disabled(entity, core_->id_of<T>(), true);
    }
    template <class T>
    Expected<void> enable(Entity entity) noexcept {
        return set_disabled(entity, core_->id_of<T>(), false);
    }
    template <class T>
    [[nodiscard]] bool is_enabled(Entity entity) const noexcept;

    // A value of which there is one for the world, such as its time: zero at first. Its type needs no
    // options; one with `.singleton` can be registered by component<T>() too. Reading makes nothing: until
    // somebody writes it, the zero lies elsewhere. Null when another component has its name or its type, and
    // for writing when there is no room at its first use.
    template <class T>
    [[nodiscard]] const T* resource() noexcept {
        detail::expect_resource<T>(false);
        return detail::read_resource<T>(*core_);
    }
    // The same for writing: declared, and its tick of change is this one.
    template <class T>
    [[nodiscard]] T* edit_resource() noexcept {
        detail::expect_resource<T>(true);
        T* const value = detail::resource_cell<T>(*core_);
        if (value != nullptr) detail::declare_resource(*core_, *value);
        return value;
    }

    // Calls the observers with what happened since the last call; see observers.hpp. Fails with busy (called
    // by an observer), capacity_exhausted (there was no room for all events: those were delivered that there
    // was room for), rate_limited (observers cause ever more: the rest comes with the next call).
    Status deliver_events() noexcept;
    // Ends the tick, as StateRing::commit does, after delivering all events. When either fails, the tick goes
    // on.
    Expected<Tick> commit() noexcept;

    // The world as it was at a tick; see past_world.hpp. Fails as StateRing::view does, and with not_found
    // before the world was made.
    [[nodiscard]] Expected<PastWorld> at(Tick tick) const noexcept;
    // The same for a tick of a future that was left behind and kept.
    [[nodiscard]] Expected<PastWorld> at(KeptFuture future, Tick tick) const noexcept;

    // The tick that is being made, as marks of changes have it: it is in the image, counts on with each
    // commit, goes back with it, and wraps around. Not the ring's number. See Query::each_changed_since.
    [[nodiscard]] std::uint32_t tick() const noexcept { return core_->now(); }
    // How often a file was loaded into it, by this object. Outside the image.
    [[nodiscard]] std::uint64_t loads() const noexcept { return core_->loads(); }

    [[nodiscard]] StateRing& ring() const noexcept { return core_->ring(); }
    // The name of its own.
    [[nodiscard]] std::string_view segment() const noexcept;
    // For components that hold simulation types.
    [[nodiscard]] ImageHeap& heap() noexcept { return core_->heap(); }
    [[nodiscard]] WorldStats stats() const noexcept;
    // Walks everything: ok, or corrupt_data; not_found when the ring went back to before it was made.
    [[nodiscard]] Status check() const noexcept { return core_->check(); }

    [[nodiscard]] detail::WorldCore& core() noexcept { return *core_; }
    [[nodiscard]] const detail::WorldCore& core() const noexcept { return *core_; }

private:
    World(os::Reservation outside, detail::WorldCore* core) noexcept
        : outside_(std::move(outside)), core_(core) {}
    [[nodiscard]] static Expected<World> create_in(StateRing& ring, const WorldOptions& options) noexcept;
    [[nodiscard]] static Expected<World> make(StateRing& ring, const ImageHeap& heap,
                                              const WorldOptions* options) noexcept;
    [[nodiscard]] Expected<PastWorld> seen_in(Expected<TickView> view) const noexcept;

    template <class... Ts>
    [[nodiscard]] detail::SpawnPlan& own_plan() const noexcept;
    // One that never fits, as long as nobody asked for that.
    template <class... Ts>
    [[nodiscard]] const detail::SpawnPlan& known_plan() const noexcept;
    // Whether it is right now; made if not.
    template <class... Ts>
    [[nodiscard]] Status check_plan(detail::SpawnPlan& plan) noexcept;
    template <class... Ts>
    [[gnu::noinline]] Status make_plan(detail::SpawnPlan& plan) noexcept;
    // The first of 64 rows, and wherever there is more to do than to write.
    template <class... Ts>
    [[gnu::noinline]] Expected<Entity> spawn_first(const Ts&... values) noexcept;
    template <class T>
    static void write_cell(std::byte* cells, std::uint32_t index, const T& value) noexcept {
        if constexpr (!kIsTag<T> && !kIsSparse<T>) reinterpret_cast<T*>(cells)[index] = value;
    }
    // The entity's row plus one, or zero. Requires: alive.
    [[nodiscard]] std::uint32_t find_sparse(Entity entity, ComponentId id) const noexcept {
        if (id >= core_->header().component_count) return 0;
        return detail::SparseSet(*core_, id).find(detail::slot_index(entity));
    }
    template <class T>
    void reserve_sparse(std::uint32_t slot, Status& status) noexcept {
        if constexpr (kIsSparse<T>)
            if (status == Status::ok) status = detail::SparseSet(*core_, core_->id_of<T>()).reserve(slot);
    }
    // Requires: there is room.
    template <class T>
    void write_sparse(Entity entity, const T& value) noexcept {
        if constexpr (kIsSparse<T>) {
            detail::SparseSet set(*core_, core_->id_of<T>());
            const auto row = set.add(entity);
            OURO_ASSERT(row.has_value(), "there is room for what was reserved");
            set.cell<T>(*row) = value;
        }
    }
    template <class T>
    Expected<void> add_sparse(Entity entity, ComponentId id, const T& value) noexcept {
        detail::SparseSet set(*core_, id);
        if (const std::uint32_t row = set.find(detail::slot_index(entity)); row != 0) {
            set.edit<T>(row - 1) = value;
            return {};
        }
        const auto row = set.add(entity);
        if (!row) return row.status();
        set.cell<T>(*row) = value;
        return {};
    }
    Expected<void> set_disabled(Entity entity, ComponentId id, bool is_disabled) noexcept;
    // By all the tables.
    template <class T>
    [[gnu::noinline]] T* find_to_edit(Entity entity) noexcept {
        RowPlace place{};
        BlockColumn* const column = detail::look_up_cell<T>(*core_, entity, place);
        if (column == nullptr) return nullptr;
        core_->declare_cell(*column, place.block, place.index, sizeof(T));
        return &core_->cell<T>(*column, place.index);
    }
    template <class T>
    [[gnu::noinline]] const T* find(Entity entity) const noexcept {
        RowPlace place{};
        const BlockColumn* const column = detail::look_up_cell<T>(*core_, entity, place);
        return column == nullptr ? nullptr : &core_->cell<T>(*column, place.index);
    }
    void expect_free(Entity entity) const noexcept {
        core_->expect_not_replaced();
        core_->expect_free(entity);
    }

    os::Reservation outside_;
    detail::WorldCore* core_ = nullptr;
};

template <class T>
Expected<void> World::add(Entity entity, const T& value) noexcept {
    static_assert(kIsPlain<T>, "names and relations are written by their own functions");
    expect_free(entity);
    // Before the type is made known: what fails for this changes nothing.
    if (!is_alive(entity)) return core_->is_there() ? Status::stale_handle : Status::not_found;
    const auto id = component<T>();
    if (!id) return id.status();
    if constexpr (kIsSparse<T>) return add_sparse(entity, *id, value);
    const EntitySlot slot = core_->slot_of(entity);
    if (!core_->archetype(slot.archetype).mask.has(*id)) {
        const auto plan = core_->move_plan(slot.archetype, *id, true);
        if (!plan) return plan.status();
        const auto row = core_->move(entity, **plan);
        if (!row) return row.status();
        if constexpr (!kIsTag<T>) core_->cell_of_row<T>((*plan)->target, (*plan)->column, *row) = value;
    } else if constexpr (!kIsTag<T>) {
        *edit<T>(entity) = value;
    }
    return {};
}

template <class T>
Expected<void> World::remove(Entity entity) noexcept {
    static_assert(kIsPlain<T>, "names and relations are written by their own functions");
    expect_free(entity);
    const ComponentId id = core_->id_of<T>();
    if (!is_alive(entity)) return Status::stale_handle;
    if constexpr (kIsSparse<T>) {
        if (find_sparse(entity, id) == 0) return Status::not_found;
        detail::SparseSet(*core_, id).remove<T>(detail::slot_index(entity));
        return {};
    }
    const EntitySlot slot = core_->slot_of(entity);
    if (id == kNoComponent || !core_->archetype(slot.archetype).mask.has(id)) return Status::not_found;
    const auto plan = core_->move_plan(slot.archetype, id, false);
    if (!plan) return plan.status();
    const auto row = core_->move(entity, **plan);
    return row ? Expected<void>() : row.status();
}

template <class T>
bool World::is_enabled(Entity entity) const noexcept {
    RowPlace place{};
    if (!is_alive(entity)) return false;
    BlockColumn* const column = core_->find_column(entity, core_->id_of<T>(), place);
    return column != nullptr && !core_->planes(*column, rows_of_block(place.block)).is_disabled(place.index);
}

}  // namespace ouro

#include <ouro/ecs/detail/world_spawning.hpp>
