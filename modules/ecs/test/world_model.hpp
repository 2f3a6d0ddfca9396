#pragma once

#include "world_model_types.hpp"

#include <ouro/ecs/entity.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// What an entity should be.
struct ModelEntity {
    struct Link {
        Entity target;
        // Of two sources of a target, the one with the lower number came first.
        std::uint64_t order = 0;
    };

    // Null: the slot is free.
    Entity id;
    // Of the slot's last occupant; zero: there was none.
    std::uint32_t generation = 0;
    // Bits of the kinds that it has, and of those that are switched off.
    std::uint32_t kinds = 0;
    std::uint32_t off = 0;
    std::uint32_t name = 0;
    std::array<std::uint32_t, kKinds> values{};
    // The last tick in which each was changed or came.
    std::array<std::uint32_t, kKinds> changed{};
    std::array<Link, kRelations> links{};
    std::array<std::uint32_t, kRelations> sources{};

    [[nodiscard]] bool is_there() const { return !id.is_null(); }
    template <class T>
    [[nodiscard]] bool has() const {
        return (kinds & kBitOf<T>) != 0;
    }
    template <class T>
    [[nodiscard]] std::uint32_t value() const {
        return values[kKindOf<T>];
    }
    // As queries see it: those that are switched off are not there.
    [[nodiscard]] bool shows(std::uint32_t all, std::uint32_t none = 0) const {
        return is_there() && (kinds & ~off & all) == all && (kinds & ~off & none) == 0;
    }
    void set_value(unsigned kind, std::uint32_t number, std::uint32_t tick) {
        values[kind] = number;
        changed[kind] = tick;
    }
    // It is in another archetype: all that is in columns came in this tick.
    void move(std::uint32_t tick) {
        for (unsigned kind = 0; kind < kKinds; ++kind)
            if ((kSparseKinds >> kind & 1) == 0) changed[kind] = tick;
    }
};

// What a world should be: plain arrays and loops over all of them, and nothing clever.
struct WorldModel {
    std::vector<ModelEntity> slots;
    std::uint32_t live = 0;
    std::uint32_t tick = 0;
    std::uint64_t next_order = 1;
    std::array<Entity, kNames> names{};
    std::uint32_t tally = 0;
    std::uint32_t weather = 0;
    // Names of entities, most of which are alive.
    std::vector<Entity> handles;
    // What was begun and refused may have used up a generation.
    bool skips_generations = false;

    [[nodiscard]] ModelEntity* find(Entity entity) {
        if (entity.is_null() || entity.index() >= slots.size()) return nullptr;
        ModelEntity& found = slots[static_cast<std::size_t>(entity.index())];
        return found.id == entity ? &found : nullptr;
    }
    template <class Fn>
    void each(Fn&& fn) {
        for (ModelEntity& entity : slots)
            if (entity.is_there()) fn(entity);
    }
    template <class Test>
    [[nodiscard]] std::uint32_t count(Test test) {
        std::uint32_t total = 0;
        each([&](const ModelEntity& entity) { total += test(entity) ? 1U : 0U; });
        return total;
    }

    // False when the world gave the name of something else.
    [[nodiscard]] bool spawn(Entity id, std::uint32_t kinds) {
        const auto index = static_cast<std::size_t>(id.index());
        if (id.is_null() || index > slots.size() + 100'000) return false;
        if (index >= slots.size()) slots.resize(index + 1);
        ModelEntity& entity = slots[index];
        const std::uint64_t first = entity.generation + std::uint64_t{1};
        if (entity.is_there() || id.generation() < first) return false;
        if (id.generation() != first && !skips_generations) return false;
        entity = {};
        entity.id = id;
        entity.generation = static_cast<std::uint32_t>(id.generation());
        entity.kinds = kinds;
        entity.changed.fill(tick);
        handles.push_back(id);
        ++live;
        return true;
    }
    // All that the one has, but its name and its sources.
    [[nodiscard]] bool clone(Entity from, Entity id, bool is_from_prefab) {
        const ModelEntity original = *find(from);
        if (!spawn(id, original.kinds & ~(is_from_prefab ? kBitOf<Prefab> : 0))) return false;
        ModelEntity& made = *find(id);
        made.off = original.off;
        made.values = original.values;
        for (unsigned relation = 0; relation < kRelations; ++relation)
            if (ModelEntity* const target = find(original.links[relation].target))
                link(relation, made, *target);
        return true;
    }

    // It, and all that follow it. Returns how many.
    std::uint32_t destroy(Entity entity) {
        std::vector<Entity> doomed{entity};
        std::uint32_t destroyed = 0;
        while (!doomed.empty()) {
            ModelEntity* const one = find(doomed.back());
            doomed.pop_back();
            if (one == nullptr) continue;
            leave(*one, doomed);
            ++destroyed;
        }
        return destroyed;
    }

    // --- relations
    // The sources of a target, in their order.
    [[nodiscard]] std::vector<Entity> sources_of(unsigned relation, const ModelEntity& target) {
        std::vector<std::pair<std::uint64_t, Entity>> found;
        if (target.sources[relation] != 0) {
            each([&](const ModelEntity& source) {
                const ModelEntity::Link& own = source.links[relation];
                if (own.target == target.id) found.emplace_back(own.order, source.id);
            });
        }
        std::ranges::sort(found, {}, [](const auto& pair) { return pair.first; });
        std::vector<Entity> sorted;
        for (const auto& [order, entity] : found)
            sorted.push_back(entity);
        return sorted;
    }
    [[nodiscard]] bool leads_to(unsigned relation, Entity from, Entity to) {
        for (Entity at = from; !at.is_null(); at = find(at)->links[relation].target)
            if (at == to) return true;
        return false;
    }
    void link(unsigned relation, ModelEntity& source, ModelEntity& target) {
        if (source.links[relation].target == target.id) return;
        unlink(relation, source);
        source.links[relation] = {target.id, next_order++};
        ++target.sources[relation];
    }
    void unlink(unsigned relation, ModelEntity& source) {
        if (ModelEntity* const target = find(source.links[relation].target)) --target->sources[relation];
        source.links[relation] = {};
    }

private:
    // Sources that follow are added to the doomed, others lose their links.
    void leave(ModelEntity& one, std::vector<Entity>& doomed) {
        each_type<ModelRelations>([&]<class R>() {
            constexpr unsigned kRelation = kRelationOf<R>;
            unlink(kRelation, one);
            for (const Entity source : sources_of(kRelation, one)) {
                find(source)->links[kRelation] = {};
                if (kRelationOptions<R>.sources == OnTargetGone::follow) doomed.push_back(source);
            }
        });
        if (one.name != 0) names[one.name] = {};
        const std::uint32_t generation = one.generation;
        one = {};
        one.generation = generation;
        --live;
    }
};

}  // namespace ouro::testing_support
