#pragma once

#include "world_model_entities.hpp"

#include <ouro/ecs/observers.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <utility>

namespace ouro::testing_support {

// What observers are told adds up: whoever came was not there, whoever goes was, and when everything is told,
// those who are there by that are those of the model.
class ObserverOperations {
public:
    ObserverOperations(ModelRun& run, EntityOperations& entities, bool is_watching)
        : run_(run), entities_(entities), is_watching_(is_watching) {}

    // To be called for each world anew.
    void begin() {
        if (!is_watching_) return;
        each_type<Watched>([&]<class T>() { watch<T>(); });
        run_.expect_ok(on_change<Spot>(run_.world(), [this](World&, Entity e) { note_change<Spot>(e); }),
                       "on_change");
        run_.expect_ok(on_change<Daze>(run_.world(), [this](World&, Entity e) { note_change<Daze>(e); }),
                       "on_change");
        // One that acts: what it does, the model does too.
        const auto put_out = [this](World& world, Entity entity) {
            ModelEntity* const own = run_.model().find(entity);
            if (run_.is_in_schedule() || entity.index() % 4 != 0 || own == nullptr || !own->has<Flame>())
                return;
            run_.expect(world.remove<Flame>(entity).has_value(), "what an observer removes", entity);
            entities_.take<Flame>(*own);
            ++run_.counts().reactions;
        };
        run_.expect_ok(on_add<Flame>(run_.world(), put_out), "on_add");
        rebuild();
    }
    void deliver() {
        if (!is_watching_) return;
        run_.expect_ok(run_.world().deliver_events(), "deliver_events");
        compare();
    }
    // A tick has ended.
    void after_commit() {
        if (!is_watching_) return;
        compare();
        compare_changes<Spot>();
        compare_changes<Daze>();
        forget_changes();
    }
    // The world is another one than it was.
    void rebuild() {
        if (!is_watching_) return;
        each_type<Watched>([&]<class T>() { those_with<T>() = present<T>(); });
        forget_changes();
    }

private:
    using Watched = std::tuple<Spot, Alarm, Still, Flame, Scar>;
    using Entities = std::set<std::uint64_t>;

    static std::uint64_t key_of(Entity entity) { return entity.index() << 32 | entity.generation(); }
    template <class T>
    Entities& those_with() {
        return there_[kPlaceIn<T, Watched>];
    }
    template <class T>
    Entities& changed() {
        return changed_[std::is_same_v<T, Spot> ? 0 : 1];
    }
    template <class T>
    Entities present() {
        Entities all;
        run_.model().each([&](const ModelEntity& own) {
            if (own.has<T>()) all.insert(key_of(own.id));
        });
        return all;
    }

    template <class T>
    void watch() {
        run_.expect_ok(on_add<T>(run_.world(),
                                 [this](World&, Entity entity) {
                                     ++run_.counts().events;
                                     run_.expect(those_with<T>().insert(key_of(entity)).second,
                                                 "who came was there", entity);
                                 }),
                       "on_add");
        if constexpr (kIsTag<T>) {
            run_.expect_ok(on_remove<T>(run_.world(), [this](World&, Entity entity) { lose<T>(entity); }),
                           "on_remove");
        } else {
            run_.expect_ok(on_remove<T>(run_.world(),
                                        [this](World&, Entity entity, const T& last) {
                                            run_.expect(is_value_of(last, number_in(last)), "the last value",
                                                        entity);
                                            lose<T>(entity);
                                        }),
                           "on_remove");
        }
    }
    template <class T>
    void lose(Entity entity) {
        ++run_.counts().events;
        run_.expect(those_with<T>().erase(key_of(entity)) == 1, "who went was not there", entity);
    }
    template <class T>
    void note_change(Entity entity) {
        ++run_.counts().events;
        run_.expect(changed<T>().insert(key_of(entity)).second, "a change is told once", entity);
    }

    void compare() {
        each_type<Watched>([&]<class T>() {
            run_.expect(those_with<T>() == present<T>(), "those who are there by what observers were told");
        });
    }
    // All that changed in the tick that has ended; more may count as changed.
    template <class T>
    void compare_changes() {
        const std::uint32_t tick = run_.model().tick - 1;
        std::size_t count = 0;
        run_.model().each([&](const ModelEntity& own) {
            if (!own.has<T>()) return;
            const bool is_told = changed<T>().contains(key_of(own.id));
            count += is_told ? 1 : 0;
            if (own.changed[kKindOf<T>] == tick) run_.expect(is_told, "a change that was not told", own.id);
        });
        run_.expect(count == changed<T>().size(), "a change of what is not there");
    }
    void forget_changes() {
        for (Entities& all : changed_)
            all.clear();
    }

    ModelRun& run_;
    EntityOperations& entities_;
    bool is_watching_;
    std::array<Entities, std::tuple_size_v<Watched>> there_;
    std::array<Entities, 2> changed_;
};

}  // namespace ouro::testing_support
