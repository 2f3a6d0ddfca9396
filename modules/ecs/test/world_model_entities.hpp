#pragma once

#include "world_model_run.hpp"

#include <ouro/ecs/batches.hpp>

#include <vector>

namespace ouro::testing_support {

// Operations on single entities, or on some that are named.
class EntityOperations {
public:
    explicit EntityOperations(ModelRun& run) : run_(run) {}

    void spawn() {
        if (run_.is_crowded()) return destroy();
        switch (run_.below(12)) {
            case 0:
                return spawn_with<Mite>();
            case 1:
                return spawn_with<Spot, Force>();
            case 2:
                return spawn_with<Gene, Still, Flame>();
            case 3:
                return spawn_with<Alarm, Spot, Daze>();
            case 4:
                return spawn_with<Ward, Alarm, Mite>();
            case 5:
                return spawn_with<Loud>();
            case 6:
                return spawn_with<>();
            case 7:
                return spawn_with<Spot, Force, Gene, Alarm, Ward, Mite, Still, Loud>();
            case 8:
                return spawn_with<Scar, Flame, Daze>();
            case 9:
                return spawn_with<Spot, Prefab, Alarm, Flame>();
            case 10:
                return clone_one();
            default:
                return run_.one_in(8) ? spawn_tree() : spawn_some();
        }
    }

    void destroy() {
        const Entity entity = run_.pick();
        const bool is_there = model().find(entity) != nullptr;
        run_.expect(world().destroy(entity) == (is_there ? Status::ok : Status::stale_handle), "destroy",
                    entity);
        if (is_there) run_.counts().followers += model().destroy(entity) - 1;
        // Twice is once.
        if (run_.one_in(4))
            run_.expect(world().destroy(entity) == Status::stale_handle, "destroy again", entity);
        run_.compare(entity);
    }
    void destroy_some() {
        pick_some(1 + run_.below(20));
        std::uint32_t destroyed = 0;
        for (const Entity entity : some_) {
            if (model().find(entity) == nullptr) continue;
            model().destroy(entity);
            ++destroyed;
        }
        run_.expect(world().destroy(some_) == destroyed, "destroy of some");
        run_.expect(world().stats().entities == model().live, "what is left");
    }

    void add() {
        const Entity entity = run_.pick();
        const std::uint32_t number = run_.number();
        with_kind(run_.below(kKinds), [&]<class T>() { add_one<T>(entity, number); });
        run_.compare(entity);
    }
    void remove() {
        const Entity entity = run_.pick();
        with_kind(run_.below(kKinds), [&]<class T>() { remove_one<T>(entity); });
        run_.compare(entity);
    }
    void edit() {
        const Entity entity = run_.pick();
        const std::uint32_t number = run_.number();
        with_kind(run_.below(kKinds), [&]<class T>() {
            if constexpr (!kIsTag<T>) edit_one<T>(entity, number);
        });
        run_.compare(entity);
    }
    void toggle() {
        const Entity entity = run_.pick();
        run_.one_in(2) ? toggle_one<Alarm>(entity) : toggle_one<Ward>(entity);
        run_.compare(entity);
    }

    // Of some that are named, dead ones and doubles among them.
    void change_some() {
        pick_some(1 + run_.below(30));
        const std::uint32_t number = run_.number();
        with_kind(run_.below(kKinds), [&]<class T>() {
            if (run_.one_in(2)) {
                if (!run_.succeeds(add_to(world(), some_, value_of<T>(number)), "add_to")) return;
                for (const Entity entity : some_)
                    if (ModelEntity* const own = model().find(entity)) give<T>(*own, number);
            } else {
                if (!run_.succeeds(remove_from<T>(world(), some_), "remove_from")) return;
                for (const Entity entity : some_)
                    if (ModelEntity* const own = model().find(entity)) take<T>(*own);
            }
        });
        for (const Entity entity : some_)
            run_.compare(entity);
    }

    void write_resource() {
        const std::uint32_t number = run_.number() | 1;
        if (run_.one_in(2))
            write<Tally>(model().tally, number);
        else
            write<Weather>(model().weather, number);
    }

    // --- what an operation means to the model
    template <class T>
    void give(ModelEntity& own, std::uint32_t number) {
        const std::uint32_t tick = model().tick;
        if (!own.has<T>() && !kIsSparse<T>) own.move(tick);
        own.kinds |= kBitOf<T>;
        own.set_value(kKindOf<T>, kept_of<T>(number), tick);
    }
    template <class T>
    bool take(ModelEntity& own) {
        if (!own.has<T>()) return false;
        own.kinds &= ~kBitOf<T>;
        own.off &= ~kBitOf<T>;
        if (!kIsSparse<T>) own.move(model().tick);
        return true;
    }
    template <class... Ts>
    bool take_spawned(Entity id, [[maybe_unused]] std::uint32_t number) {
        if (!run_.expect(model().spawn(id, (0U | ... | kBitOf<Ts>)), "the name of a new entity", id))
            return false;
        [[maybe_unused]] ModelEntity& own = *model().find(id);
        ((own.values[kKindOf<Ts>] = kept_of<Ts>(number)), ...);
        return true;
    }

private:
    World& world() { return run_.world(); }
    WorldModel& model() { return run_.model(); }
    void pick_some(std::uint32_t count) {
        some_.clear();
        for (std::uint32_t i = 0; i < count; ++i)
            some_.push_back(run_.pick());
    }

    template <class... Ts>
    void spawn_with() {
        const std::uint32_t number = run_.number();
        const auto made = world().spawn(value_of<Ts>(number)...);
        if (!run_.succeeds(made.status(), "spawn")) return;
        if (take_spawned<Ts...>(*made, number)) run_.compare(*made);
    }
    void spawn_some() {
        const std::uint32_t count = run_.one_in(10) ? run_.below(150) : run_.below(20);
        if (run_.one_in(2))
            spawn_many_with<Spot, Alarm, Loud>(count);
        else
            spawn_many_with<Gene, Mite>(count);
    }
    template <class... Ts>
    void spawn_many_with(std::uint32_t count) {
        const std::uint32_t number = run_.number();
        some_.clear();
        const auto fill = [&](Entity entity, Ts&... cells) {
            ((cells = value_of<Ts>(number)), ...);
            some_.push_back(entity);
        };
        const auto made = world().template spawn_many<Ts...>(count, fill);
        if (!run_.succeeds(made.status(), "spawn_many")) return;
        run_.expect(some_.size() == count, "how many were spawned");
        for (const Entity entity : some_)
            if (take_spawned<Ts...>(entity, number)) run_.compare(entity);
    }

    void clone_one() {
        const Entity entity = run_.pick();
        const bool is_from_prefab = run_.one_in(2);
        const auto made = is_from_prefab ? spawn_from(world(), entity) : clone(world(), entity);
        if (model().find(entity) == nullptr) {
            run_.expect(made.status() == Status::stale_handle, "a clone of nothing", entity);
            return;
        }
        if (!run_.succeeds(made.status(), "clone", entity)) return;
        if (!run_.expect(model().clone(entity, *made, is_from_prefab), "the name of a clone", *made)) return;
        run_.compare(*made);
    }
    void spawn_tree() {
        const Entity entity = run_.pick();
        if (model().find(entity) == nullptr || count_tree(entity) > 40) return clone_one();
        const auto made = spawn_tree_from(world(), entity);
        if (!run_.succeeds(made.status(), "spawn_tree_from", entity)) return;
        take_tree(entity, *made, {});
    }
    std::uint32_t count_tree(Entity root) {
        std::uint32_t count = 1;
        for (const Entity child : model().sources_of(kRelationOf<ChildOf>, *model().find(root)))
            if (count <= 40) count += count_tree(child);
        return count;
    }
    // Both trees side by side: the names of the new one are the world's, everything else is the model's.
    void take_tree(Entity from, Entity copy, Entity parent) {
        const auto children = model().sources_of(kRelationOf<ChildOf>, *model().find(from));
        if (!run_.expect(model().clone(from, copy, true), "the name of a tree's part", copy)) return;
        if (ModelEntity* const own = model().find(parent))
            model().link(kRelationOf<ChildOf>, *model().find(copy), *own);
        ++run_.counts().tree_parts;
        std::vector<Entity> copies;
        each_source<ChildOf>(world(), copy, [&](Entity child) { copies.push_back(child); });
        if (!run_.expect(copies.size() == children.size(), "the children of a tree's part", copy)) return;
        for (std::size_t i = 0; i < copies.size() && !run_.has_failed(); ++i)
            take_tree(children[i], copies[i], copy);
        run_.compare(copy);
    }

    template <class T>
    void add_one(Entity entity, std::uint32_t number) {
        const Status status = world().add(entity, value_of<T>(number)).status();
        ModelEntity* const own = model().find(entity);
        if (own == nullptr) {
            // Where there is no room for the component itself, that is said first.
            run_.expect(status == Status::stale_handle ||
                            (run_.shape().is_tight && status == Status::capacity_exhausted),
                        "add to nothing", entity);
        } else if (run_.succeeds(status, "add", entity)) {
            give<T>(*own, number);
        }
    }
    template <class T>
    void remove_one(Entity entity) {
        const Status status = world().template remove<T>(entity).status();
        ModelEntity* const own = model().find(entity);
        if (own == nullptr || !own->has<T>()) {
            run_.expect(status == (own == nullptr ? Status::stale_handle : Status::not_found),
                        "remove of nothing", entity);
        } else if (run_.succeeds(status, "remove", entity)) {
            take<T>(*own);
        }
    }
    template <class T>
    void edit_one(Entity entity, std::uint32_t number) {
        T* const value = world().template edit<T>(entity);
        ModelEntity* const own = model().find(entity);
        const bool is_there = own != nullptr && own->has<T>();
        if (!run_.expect((value != nullptr) == is_there, "edit", entity) || !is_there) return;
        *value = value_of<T>(number);
        own->set_value(kKindOf<T>, kept_of<T>(number), model().tick);
    }
    template <class T>
    void toggle_one(Entity entity) {
        const bool is_off = run_.one_in(2);
        const auto done = is_off ? world().template disable<T>(entity) : world().template enable<T>(entity);
        ModelEntity* const own = model().find(entity);
        if (own == nullptr || !own->has<T>()) {
            run_.expect(done.status() == (own == nullptr ? Status::stale_handle : Status::not_found),
                        "switching nothing", entity);
        } else if (run_.succeeds(done.status(), "switching", entity)) {
            own->off = is_off ? own->off | kBitOf<T> : own->off & ~kBitOf<T>;
        }
    }
    template <class T>
    void write(std::uint32_t& own, std::uint32_t number) {
        T* const value = world().template edit_resource<T>();
        if (value == nullptr) {
            ++run_.counts().refusals;
            run_.expect(run_.shape().is_tight, "edit_resource");
            return;
        }
        *value = value_of<T>(number);
        own = number;
        run_.compare_resource<T>(own);
    }

    ModelRun& run_;
    std::vector<Entity> some_;
};

}  // namespace ouro::testing_support
