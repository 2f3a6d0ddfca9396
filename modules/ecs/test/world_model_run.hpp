#pragma once

#include "ecs_rig.hpp"
#include "world_model.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/prefabs.hpp>
#include <ouro/ecs/relations.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ouro::testing_support {

// What a world of the campaign is like: everything follows from the seed.
struct ModelShape {
    std::uint64_t bytes = std::uint64_t{8} << 20;
    WorldOptions options = {.max_entities = 1'000, .max_archetypes = 700};
    std::uint32_t most_live = 300;
    std::uint32_t steps_in_tick = 100;
    unsigned workers = 0;
    // There is too little of everything: calls are refused, and nothing has changed then.
    bool is_tight = false;
    bool is_watched = false;
};

// What a run has really done, so that a test can ask whether it was enough.
struct ModelCounts {
    std::uint64_t operations = 0;
    // Calls that found no room.
    std::uint64_t refusals = 0;
    std::uint64_t ticks = 0;
    std::uint64_t rollbacks = 0;
    std::uint64_t futures = 0;
    std::uint64_t looks_back = 0;
    std::uint64_t looks_aside = 0;
    std::uint64_t loads = 0;
    // Loads by another version of the program, and worlds that another one took over.
    std::uint64_t migrations = 0;
    std::uint64_t takeovers = 0;
    // What observers were told, and what they did themselves.
    std::uint64_t events = 0;
    std::uint64_t reactions = 0;
    std::uint64_t commands = 0;
    std::uint64_t skipped_commands = 0;
    // Stale names that were used, those that went with others, circles that were refused, parts of trees.
    std::uint64_t stale_names = 0;
    std::uint64_t followers = 0;
    std::uint64_t circles = 0;
    std::uint64_t tree_parts = 0;
    std::uint32_t most_entities = 0;
    std::uint32_t most_archetypes = 0;
};

// A world and the model of it, side by side, and what all operations need.
class ModelRun {
public:
    ModelRun(EcsRig& rig, const ModelShape& shape, std::uint64_t seed)
        : rig_(rig), shape_(shape), random_(seed) {
        model_.skips_generations = shape.is_tight;
        limit_ = shape.most_live;
    }

    [[nodiscard]] World& world() { return rig_.world(); }
    [[nodiscard]] StateRing& ring() { return rig_.ring(); }
    [[nodiscard]] EcsRig& rig() { return rig_; }
    [[nodiscard]] const ModelShape& shape() const { return shape_; }
    [[nodiscard]] WorldModel& model() { return model_; }

    // --- choices
    [[nodiscard]] std::uint32_t below(std::uint32_t bound) { return random_.below(bound); }
    [[nodiscard]] bool one_in(std::uint32_t count) { return random_.below(count) == 0; }
    [[nodiscard]] std::uint32_t number() { return static_cast<std::uint32_t>(random_.next()); }
    // How many ticks ago something was looked at last; now and then longer than marks last.
    [[nodiscard]] std::uint32_t some_age() {
        const std::uint32_t age = below(4);
        if (age < 3) return age;
        return one_in(8) ? std::uint32_t{3} << 30 : below(50);
    }
    // Of an entity that is there, most of the time.
    [[nodiscard]] Entity pick() {
        std::vector<Entity>& handles = model_.handles;
        if (handles.empty()) return {};
        Entity& chosen = handles[below(static_cast<std::uint32_t>(handles.size()))];
        const Entity picked = chosen;
        // Those of the dead are kept for a while.
        if (model_.find(picked) == nullptr && one_in(2)) {
            chosen = handles.back();
            handles.pop_back();
        }
        return picked;
    }
    // Whether rather less than more should be spawned.
    [[nodiscard]] bool is_crowded() const { return model_.live >= limit_; }
    void set_limit(std::uint32_t limit) { limit_ = limit; }

    [[nodiscard]] ModelCounts& counts() { return counts_; }

    // --- for those who keep a state beside the model
    // After each tick that has ended, and after the world became another one.
    std::function<void()> after_commit = [] {};
    std::function<void()> after_jump = [] {};
    // While systems run, the model is behind.
    void set_in_schedule(bool is_in_schedule) { is_in_schedule_ = is_in_schedule; }
    [[nodiscard]] bool is_in_schedule() const { return is_in_schedule_; }

    // --- judgements: false, and the run is over, when the world and the model differ
    bool expect(bool is_right, const char* what, Entity entity = {}) {
        if (is_right) [[likely]]
            return true;
        fail(what, entity);
        return false;
    }
    bool expect_ok(Status status, const char* what) {
        return expect(status == Status::ok, what) || (ADD_FAILURE() << status_name(status), false);
    }
    [[nodiscard]] bool has_failed() const { return has_failed_; }
    // Whether what succeeds in a world with room did; where there is none it may have been refused.
    bool succeeds(Status status, const char* what, Entity entity = {}) {
        if (status == Status::ok) [[likely]]
            return true;
        ++counts_.refusals;
        expect(shape_.is_tight && status == Status::capacity_exhausted, what, entity);
        return false;
    }

    // --- comparisons
    void compare(Entity entity) {
        const ModelEntity* const own = model_.find(entity);
        if (!expect(world().is_alive(entity) == (own != nullptr), "is_alive", entity)) return;
        if (own == nullptr) {
            ++counts_.stale_names;
            expect(world().get<Spot>(entity) == nullptr && !world().has<Still>(entity), "a stale name",
                   entity);
            return;
        }
        each_type<ModelKinds>([&]<class T>() { compare_kind<T>(*own); });
        each_type<ModelRelations>([&]<class R>() {
            expect(target<R>(world(), entity) == own->links[kRelationOf<R>].target, "target", entity);
            expect(count_sources<R>(world(), entity) == own->sources[kRelationOf<R>], "sources", entity);
        });
        compare_name(*own);
    }
    void compare_all() {
        const WorldStats stats = world().stats();
        expect(stats.entities == model_.live, "how many entities there are");
        counts_.most_entities = std::max(counts_.most_entities, stats.entities);
        counts_.most_archetypes = std::max(counts_.most_archetypes, stats.archetypes);
        model_.each([&](const ModelEntity& entity) { compare(entity.id); });
        each_type<ModelRelations>([&]<class R>() { compare_lists<R>(); });
        for (std::uint32_t name = 1; name < kNames; ++name)
            expect(find_named(world(), text_of_name(name)) == model_.names[name], "find_named");
        compare_resource<Tally>(model_.tally);
        compare_resource<Weather>(model_.weather);
    }
    template <class T>
    void compare_resource(std::uint32_t number) {
        const T* const value = world().template resource<T>();
        if (value == nullptr && number == 0 && shape_.is_tight) return;
        if (!expect(value != nullptr, "resource")) return;
        // Zero is what nobody has written yet.
        expect(number == 0 ? number_in(*value) == 0 : is_value_of(*value, number), "a resource's value");
    }

    [[nodiscard]] std::string_view text_of_name(std::uint32_t name) {
        const int length = std::snprintf(name_text_.data(), name_text_.size(), "the name of number %u", name);
        return {name_text_.data(), static_cast<std::size_t>(length)};
    }

private:
    void fail(const char* what, Entity entity) {
        if (has_failed_) return;
        has_failed_ = true;
        ADD_FAILURE() << what << ": seed " << random_.seed() << ", step " << counts_.operations << ", tick "
                      << ring().newest() << ", entity " << entity.index() << " of generation "
                      << entity.generation();
    }

    template <class T>
    void compare_kind(const ModelEntity& own) {
        const bool is_there = own.has<T>();
        if constexpr (kIsTag<T>) {
            expect(world().has<T>(own.id) == is_there, "has", own.id);
        } else {
            const T* const value = world().get<T>(own.id);
            if (!expect((value != nullptr) == is_there, "get", own.id)) return;
            if (value != nullptr)
                expect(is_value_of(*value, own.value<T>()), "the value of a component", own.id);
            if constexpr (kComponentOptions<T>.toggles)
                expect(world().is_enabled<T>(own.id) == (is_there && (own.off & kBitOf<T>) == 0),
                       "is_enabled", own.id);
        }
    }
    void compare_name(const ModelEntity& own) {
        const std::string_view name = name_of(world(), own.id);
        if (own.name == 0)
            expect(name.empty(), "name_of", own.id);
        else
            expect(name == text_of_name(own.name), "name_of", own.id);
    }

    // All lists of sources, with their order.
    template <class R>
    void compare_lists() {
        constexpr unsigned kRelation = kRelationOf<R>;
        auto& links = links_;
        links.clear();
        model_.each([&](const ModelEntity& entity) {
            const ModelEntity::Link& link = entity.links[kRelation];
            if (!link.target.is_null()) links.emplace_back(link.target, link.order, entity.id);
        });
        std::ranges::sort(links);
        std::size_t at = 0;
        while (at < links.size()) {
            const Entity owner = std::get<0>(links[at]);
            each_source<R>(world(), owner, [&](Entity source) {
                const bool is_next =
                    at < links.size() && std::get<0>(links[at]) == owner && std::get<2>(links[at]) == source;
                if (expect(is_next, "the order of sources", owner)) ++at;
            });
            if (has_failed_) return;
            if (!expect(at >= links.size() || std::get<0>(links[at]) != owner, "a source too few", owner))
                return;
        }
    }

    EcsRig& rig_;
    ModelShape shape_;
    Random random_;
    WorldModel model_;
    ModelCounts counts_;
    std::uint32_t limit_ = 0;
    bool has_failed_ = false;
    bool is_in_schedule_ = false;
    std::array<char, 32> name_text_{};
    std::vector<std::tuple<Entity, std::uint64_t, Entity>> links_;
};

}  // namespace ouro::testing_support
