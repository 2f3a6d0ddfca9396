#pragma once

#include "world_model_run.hpp"

#include <ouro/ecs/past_world.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ouro::testing_support {

// Compares a world of the past with the model's copy of that time.
class PastComparison {
public:
    explicit PastComparison(ModelRun& run) : run_(run) {}

    void compare(const PastWorld& past, WorldModel& then) {
        run_.expect(past.entity_count() == then.live, "how many entities there were");
        for (int i = 0; i < 8 && !then.handles.empty(); ++i)
            compare_entity(past, then,
                           then.handles[run_.below(static_cast<std::uint32_t>(then.handles.size()))]);
        // What came later was not there.
        compare_entity(past, then, run_.pick());
        switch (run_.below(8)) {
            case 0:
                return compare_columns(past, then);
            case 1:
                return compare_chunks(past, then);
            case 2:
                return compare_optional(past, then);
            case 3:
                return compare_sparse(past, then);
            case 4:
                return compare_joined(past, then);
            case 5:
                return compare_since(past, then);
            default:
                return compare_some_changes(past, then);
        }
    }

private:
    void compare_entity(const PastWorld& past, WorldModel& then, Entity entity) {
        const ModelEntity* const own = then.find(entity);
        if (!run_.expect(past.is_alive(entity) == (own != nullptr), "is_alive of the past", entity)) return;
        each_type<ModelKinds>([&]<class T>() {
            run_.expect(past.has<T>(entity) == (own != nullptr && own->has<T>()), "has of the past", entity);
            if constexpr (!kIsTag<T>) {
                const auto value = past.get<T>(entity);
                if (own == nullptr || !own->has<T>())
                    run_.expect(value.status() == (own == nullptr ? Status::stale_handle : Status::not_found),
                                "get of nothing in the past", entity);
                else
                    run_.expect(value && is_value_of(*value, own->value<T>()), "get of the past", entity);
            }
        });
    }

    void begin(WorldModel& then) {
        ++round_;
        visited_ = 0;
        seen_.resize(std::max(seen_.size(), then.slots.size()));
    }
    const ModelEntity* visit(WorldModel& then, Entity entity) {
        const ModelEntity* const own = then.find(entity);
        if (!run_.expect(own != nullptr, "a query of the past visits what was not there", entity))
            return nullptr;
        std::uint32_t& seen = seen_[static_cast<std::size_t>(entity.index())];
        run_.expect(seen != round_, "a query of the past visits an entity twice", entity);
        seen = round_;
        ++visited_;
        return own;
    }
    template <class T>
    void expect_value(const ModelEntity& own, const T& value) {
        run_.expect(is_value_of(value, own.value<T>()), "a value in a query of the past", own.id);
    }
    void end(WorldModel& then, std::uint32_t all, std::uint32_t none, std::uint32_t counted) {
        const auto shows = [&](const ModelEntity& own) { return own.shows(all, none | kBitOf<Prefab>); };
        const std::uint32_t expected = then.count(shows);
        run_.expect(visited_ == expected && counted == expected, "what a query of the past visits");
    }

    void compare_columns(const PastWorld& past, WorldModel& then) {
        begin(then);
        const auto query = past.query<Entity, const Force&, const Spot&, Without<Loud>, Without<Ward>>();
        query.each([&](Entity entity, const Force& force, const Spot& spot) {
            const ModelEntity* const own = visit(then, entity);
            if (own == nullptr) return;
            expect_value(*own, force);
            expect_value(*own, spot);
        });
        end(then, kBitOf<Force> | kBitOf<Spot>, kBitOf<Loud> | kBitOf<Ward>, query.count());
    }
    void compare_chunks(const PastWorld& past, WorldModel& then) {
        begin(then);
        const auto query = past.query<const Alarm&, Entity, With<Mite>, Optional<const Ward&>>();
        query.chunks([&](std::span<const Alarm> alarms, std::span<const Entity> entities,
                         std::span<const Ward> wards) {
            for (std::size_t i = 0; i < entities.size(); ++i) {
                const ModelEntity* const own = visit(then, entities[i]);
                if (own == nullptr) continue;
                expect_value(*own, alarms[i]);
                run_.expect(wards.empty() != own->shows(kBitOf<Ward>), "an optional span of the past",
                            own->id);
                if (!wards.empty()) expect_value(*own, wards[i]);
            }
        });
        end(then, kBitOf<Alarm> | kBitOf<Mite>, 0, query.count());
    }
    void compare_optional(const PastWorld& past, WorldModel& then) {
        begin(then);
        const auto query = past.query<const Gene&, Optional<const Ward&>, Entity>();
        query.each([&](const Gene& gene, const Ward* ward, Entity entity) {
            const ModelEntity* const own = visit(then, entity);
            if (own == nullptr) return;
            expect_value(*own, gene);
            run_.expect((ward != nullptr) == own->shows(kBitOf<Ward>), "an optional column of the past",
                        entity);
            if (ward != nullptr) expect_value(*own, *ward);
        });
        end(then, kBitOf<Gene>, 0, query.count());
    }
    void compare_sparse(const PastWorld& past, WorldModel& then) {
        begin(then);
        const auto query = past.query<const Flame&, Entity, Without<Scar>>();
        query.each([&](const Flame& flame, Entity entity) {
            if (const ModelEntity* const own = visit(then, entity)) expect_value(*own, flame);
        });
        end(then, kBitOf<Flame>, kBitOf<Scar>, query.count());
    }
    void compare_joined(const PastWorld& past, WorldModel& then) {
        begin(then);
        const auto query =
            past.query<Entity, const Daze&, const Alarm&, Optional<const Flame&>, Without<Loud>>();
        query.each([&](Entity entity, const Daze& daze, const Alarm& alarm, const Flame* flame) {
            const ModelEntity* const own = visit(then, entity);
            if (own == nullptr) return;
            expect_value(*own, daze);
            expect_value(*own, alarm);
            run_.expect((flame != nullptr) == own->has<Flame>(), "an optional sparse one of the past",
                        entity);
            if (flame != nullptr) expect_value(*own, *flame);
        });
        end(then, kBitOf<Daze> | kBitOf<Alarm>, kBitOf<Loud>, query.count());
    }

    void compare_some_changes(const PastWorld& past, WorldModel& then) {
        switch (run_.below(3)) {
            case 0:
                return compare_changes<Spot>(past, then);
            case 1:
                return compare_changes<Alarm>(past, then);
            default:
                return compare_changes<Flame>(past, then);
        }
    }
    template <class T>
    void compare_changes(const PastWorld& past, WorldModel& then) {
        begin(then);
        past.query<Entity, Changed<T>>().each([&](Entity entity) { visit(then, entity); });
        expect_seen<T>(then, 1);
    }
    // The model's tick is the one that came after.
    void compare_since(const PastWorld& past, WorldModel& then) {
        const std::uint32_t ticks = run_.some_age();
        const std::uint32_t since = then.tick - 1 - ticks;
        const auto compare = [&]<class T>() {
            begin(then);
            const auto query = past.query<Entity, const T&>();
            query.template each_changed_since<T>(since, [&](Entity entity, const T& value) {
                if (const ModelEntity* const own = visit(then, entity)) expect_value(*own, value);
            });
            run_.expect(query.template count_changed_since<T>(since) == visited_, "what since counts");
            expect_seen<T>(then, ticks);
        };
        compare.template operator()<Spot>();
        compare.template operator()<Ward>();
    }
    template <class T>
    void expect_seen(WorldModel& then, std::uint32_t ticks) {
        then.each([&](const ModelEntity& own) {
            const bool is_seen = seen_[static_cast<std::size_t>(own.id.index())] == round_;
            const bool is_visible = own.shows(kBitOf<T>, kBitOf<Prefab>);
            run_.expect(is_visible || !is_seen, "a change of the past of what has none", own.id);
            if (is_visible && then.tick - 1 - own.changed[kKindOf<T>] <= ticks)
                run_.expect(is_seen, "a change of the past was missed", own.id);
        });
    }

    ModelRun& run_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t round_ = 0;
    std::uint32_t visited_ = 0;
};

}  // namespace ouro::testing_support
