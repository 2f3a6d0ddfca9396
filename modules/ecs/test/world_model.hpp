#pragma once

#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// What a world should be, in maps.
struct ModelEntity {
    template <class T>
    struct Part {
        std::optional<T> value;
        // The last tick in which it was changed.
        std::uint64_t changed = 0;
    };
    Part<Position> position;
    Part<Velocity> velocity;
    Part<Health> health;
    Part<Genome> genome;
    Part<Alert> alert;
    bool is_frozen = false;
    bool is_alert_off = false;

    template <class T>
    Part<T>& part() {
        if constexpr (std::is_same_v<T, Position>) return position;
        if constexpr (std::is_same_v<T, Velocity>) return velocity;
        if constexpr (std::is_same_v<T, Health>) return health;
        if constexpr (std::is_same_v<T, Genome>) return genome;
        if constexpr (std::is_same_v<T, Alert>) return alert;
    }
    // It came into another archetype.
    void touch_all(std::uint64_t tick) {
        position.changed = velocity.changed = health.changed = genome.changed = alert.changed = tick;
    }
};

struct WorldModel {
    std::map<std::uint64_t, ModelEntity> entities;
    std::uint64_t tick = 10;
};

// Does the same to a world and to the model, with commits, rollbacks and branches in between.
class WorldCampaign {
public:
    WorldCampaign(EcsRig& rig, std::uint64_t seed) : rig_(rig), random_(seed) { commit(); }

    void run(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i)
            step();
        if (!testing::Test::HasFailure()) commit();
    }

private:
    struct Kept {
        WorldModel model;
        std::vector<std::byte> bytes;
        std::vector<Entity> names;
    };

    World& world() { return rig_.world(); }
    Entity any() {
        return names_.empty() ? Entity() : names_[random_.below(static_cast<std::uint32_t>(names_.size()))];
    }
    ModelEntity* find(Entity entity) {
        const auto found = model_.entities.find(entity.bits());
        return found == model_.entities.end() ? nullptr : &found->second;
    }
    float number() { return static_cast<float>(random_.below(1'000)); }

    void step() {
        const std::uint32_t choice = random_.below(1'000);
        if (choice < 220) return spawn();
        if (choice < 390) return destroy();
        if (choice < 600) return add();
        if (choice < 740) return remove();
        if (choice < 900) return edit();
        if (choice < 960) return toggle();
        if (choice < 985) return sweep();
        if (choice < 997) return commit();
        go_back();
    }

    template <class... Ts>
    void spawn_these(const Ts&... values) {
        const auto made = world().spawn(values...);
        if (!made) {
            ASSERT_EQ(made.status(), Status::capacity_exhausted);
            return;
        }
        ModelEntity entity;
        [[maybe_unused]] const auto set = [&]<class T>(const T& value) {
            if constexpr (std::is_same_v<T, Frozen>)
                entity.is_frozen = true;
            else
                entity.part<T>().value = value;
        };
        (set(values), ...);
        entity.touch_all(model_.tick);
        ASSERT_TRUE(model_.entities.emplace(made->bits(), entity).second) << "a name was given twice";
        names_.push_back(*made);
    }

    void spawn() {
        if (names_.size() > 3'000) return destroy();
        switch (random_.below(6)) {
            case 0:
                return spawn_these(Position{number(), 1});
            case 1:
                return spawn_these(Position{number(), 2}, Velocity{1, 2, number()});
            case 2:
                return spawn_these(Health{7}, Genome{{random_.next()}}, Frozen{});
            case 3:
                return spawn_these(Alert{random_.below(9)}, Position{number(), 0});
            case 4:
                return spawn_these(Frozen{});
            default:
                return spawn_these();
        }
    }

    void destroy() {
        const Entity entity = any();
        const bool is_there = find(entity) != nullptr;
        ASSERT_EQ(world().destroy(entity), is_there ? Status::ok : Status::stale_handle);
        model_.entities.erase(entity.bits());
        // Stale names stay for a while.
        if (!names_.empty() && random_.below(2) == 0) {
            names_[random_.below(static_cast<std::uint32_t>(names_.size()))] = names_.back();
            names_.pop_back();
        }
    }

    template <class T>
    void add_one(const T& value) {
        const Entity entity = any();
        ModelEntity* const model = find(entity);
        const auto added = world().add(entity, value);
        if (model == nullptr) {
            ASSERT_EQ(added.status(), Status::stale_handle);
            return;
        }
        ASSERT_TRUE(added) << status_name(added.status());
        if constexpr (std::is_same_v<T, Frozen>) {
            if (!model->is_frozen) model->touch_all(model_.tick);
            model->is_frozen = true;
        } else {
            if (!model->template part<T>().value) model->touch_all(model_.tick);
            model->template part<T>() = {value, model_.tick};
        }
    }
    void add() {
        switch (random_.below(6)) {
            case 0:
                return add_one(Position{number(), 3});
            case 1:
                return add_one(Velocity{number(), 3, 4});
            case 2:
                return add_one(Health{static_cast<std::int32_t>(random_.below(50))});
            case 3:
                return add_one(Genome{{random_.next(), 2}});
            case 4:
                return add_one(Alert{random_.below(50)});
            default:
                return add_one(Frozen{});
        }
    }

    template <class T>
    void remove_one() {
        const Entity entity = any();
        ModelEntity* const model = find(entity);
        const Status status = world().remove<T>(entity).status();
        if (model == nullptr) {
            ASSERT_EQ(status, Status::stale_handle);
            return;
        }
        bool was_there = false;
        if constexpr (std::is_same_v<T, Frozen>) {
            was_there = std::exchange(model->is_frozen, false);
        } else {
            was_there = model->template part<T>().value.has_value();
            model->template part<T>().value.reset();
        }
        if (std::is_same_v<T, Alert>) model->is_alert_off = false;
        ASSERT_EQ(status, was_there ? Status::ok : Status::not_found);
        if (was_there) model->touch_all(model_.tick);
    }
    void remove() {
        switch (random_.below(6)) {
            case 0:
                return remove_one<Position>();
            case 1:
                return remove_one<Velocity>();
            case 2:
                return remove_one<Health>();
            case 3:
                return remove_one<Genome>();
            case 4:
                return remove_one<Alert>();
            default:
                return remove_one<Frozen>();
        }
    }

    void edit() {
        const Entity entity = any();
        ModelEntity* const model = find(entity);
        Position* const position = world().edit<Position>(entity);
        ASSERT_EQ(position != nullptr, model != nullptr && model->position.value.has_value());
        if (position == nullptr) return;
        position->x += 1;
        model->position.value->x += 1;
        model->position.changed = model_.tick;
    }

    void toggle() {
        const Entity entity = any();
        ModelEntity* const model = find(entity);
        const bool is_off = random_.below(2) == 0;
        const auto done = is_off ? world().disable<Alert>(entity) : world().enable<Alert>(entity);
        if (model == nullptr) {
            ASSERT_EQ(done.status(), Status::stale_handle);
        } else if (!model->alert.value) {
            ASSERT_EQ(done.status(), Status::not_found);
        } else {
            ASSERT_TRUE(done);
            model->is_alert_off = is_off;
        }
    }

    // Whole queries that write.
    void sweep() {
        const std::uint64_t tick = model_.tick;
        if (random_.below(2) == 0) {
            Query<Velocity&, Without<Frozen>>(world()).each([](Velocity& velocity) { velocity.x += 2; });
            for (auto& [name, entity] : model_.entities) {
                if (!entity.velocity.value || entity.is_frozen) continue;
                entity.velocity.value->x += 2;
                entity.velocity.changed = tick;
            }
            return;
        }
        Query<Mut<Health>, const Alert&>(world()).each([](Mut<Health> health, const Alert& alert) {
            if (alert.level % 2 == 0) health.edit().points -= 1;
        });
        for (auto& [name, entity] : model_.entities) {
            if (!entity.health.value || !entity.alert.value || entity.is_alert_off) continue;
            if (entity.alert.value->level % 2 != 0) continue;
            entity.health.value->points -= 1;
            entity.health.changed = tick;
        }
    }

    template <class T>
    void compare(Entity entity, ModelEntity& model) {
        const T* const value = world().get<T>(entity);
        const auto& expected = model.part<T>().value;
        ASSERT_EQ(value != nullptr, expected.has_value());
        if (value == nullptr) return;
        ASSERT_EQ(std::memcmp(value, &*expected, sizeof(T)), 0);
    }
    template <class T>
    void compare_changes() {
        std::map<std::uint64_t, int> seen;
        Query<Entity, ChangedNow<T>>(world()).each([&](Entity entity) { seen[entity.bits()] |= 1; });
        Query<Entity, Changed<T>>(world()).each([&](Entity entity) { seen[entity.bits()] |= 2; });
        for (auto& [name, entity] : model_.entities) {
            const auto& part = entity.template part<T>();
            if (!part.value || (std::is_same_v<T, Alert> && entity.is_alert_off)) continue;
            // More rows may be visited than were changed, but never fewer.
            const std::uint64_t age = model_.tick - part.changed;
            ASSERT_TRUE(age > 0 || (seen[name] & 1) != 0) << Entity::from_bits(name).index();
            ASSERT_TRUE(age > 1 || (seen[name] & 2) != 0) << Entity::from_bits(name).index();
        }
    }

    void compare_all() {
        ASSERT_EQ(world().stats().entities, model_.entities.size());
        for (auto& [name, entity] : model_.entities) {
            const Entity handle = Entity::from_bits(name);
            ASSERT_TRUE(world().is_alive(handle));
            ASSERT_EQ(world().has<Frozen>(handle), entity.is_frozen);
            compare<Position>(handle, entity);
            compare<Velocity>(handle, entity);
            compare<Health>(handle, entity);
            compare<Genome>(handle, entity);
            compare<Alert>(handle, entity);
            ASSERT_EQ(world().is_enabled<Alert>(handle), entity.alert.value && !entity.is_alert_off);
        }
        compare_changes<Position>();
        compare_changes<Velocity>();
        compare_changes<Health>();
        compare_changes<Alert>();
    }

    void commit() {
        compare_all();
        if (testing::Test::HasFailure()) return;
        const Tick tick = rig_.commit();
        ++model_.tick;
        kept_[tick] = {model_, rig_.bytes(), names_};
        kept_.erase(kept_.begin(), kept_.lower_bound(rig_.ring().oldest()));
        compare_all();
    }

    void go_back() {
        const Tick newest = rig_.ring().newest();
        const Tick tick =
            newest - random_.below(static_cast<std::uint32_t>(newest - kept_.begin()->first + 1));
        if (random_.below(2) == 0 && tick != newest) {
            const auto future = rig_.ring().branch(tick);
            ASSERT_TRUE(future) << status_name(future.status());
            ASSERT_TRUE(rig_.ring().drop(*future));
        } else {
            ASSERT_TRUE(rig_.ring().rollback(tick));
        }
        ASSERT_TRUE(rig_.bytes() == kept_.at(tick).bytes) << "tick " << tick;
        kept_.erase(kept_.upper_bound(tick), kept_.end());
        model_ = kept_.at(tick).model;
        names_ = kept_.at(tick).names;
        compare_all();
        ASSERT_EQ(world().check(), Status::ok);
    }

    EcsRig& rig_;
    Random random_;
    WorldModel model_;
    std::vector<Entity> names_;
    std::map<Tick, Kept> kept_;
};

}  // namespace ouro::testing_support
