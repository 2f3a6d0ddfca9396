#pragma once

#include "campaign.hpp"
#include "world_model_commands.hpp"
#include "world_model_history.hpp"
#include "world_model_observers.hpp"
#include "world_model_relations.hpp"

#include <cstdint>
#include <string>

namespace ouro::testing_support {

// What the world of a seed is like.
inline ModelShape shape_of(std::uint64_t seed) {
    ModelShape shape{.bytes = std::uint64_t{4} << 20,
                     .workers = static_cast<unsigned>(seed / 8 % 3),
                     .is_watched = seed % 2 == 1};
    switch (seed % 8) {
        case 0:
            shape.bytes = std::uint64_t{12} << 20;
            shape.options.max_entities = 4'000;
            shape.most_live = 2'500;
            shape.steps_in_tick = 800;
            break;
        case 1:
        case 2:
            shape.most_live = 40;
            shape.steps_in_tick = 40;
            break;
        case 3:
            // Too few entities and archetypes, or too few bytes.
            shape.bytes = std::uint64_t{1} << 20;
            shape.options.max_entities = 150;
            shape.options.max_archetypes = 60;
            if (seed % 16 == 11) {
                shape.bytes = std::uint64_t{512} << 10;
                shape.options = {.max_entities = 1'000, .max_archetypes = 300};
            }
            shape.most_live = 200;
            shape.is_tight = true;
            break;
        default:
            break;
    }
    return shape;
}
inline std::string text_of_shape(std::uint64_t seed) {
    const ModelShape shape = shape_of(seed);
    return std::string(shape.is_watched ? "observed, " : "") + std::to_string(shape.most_live) +
           (shape.is_tight ? " entities in too little room, " : " entities, ") +
           std::to_string(shape.workers) + " workers";
}

// Does the same to a world and to the model, with commits, rollbacks and branches in between.
class WorldCampaign {
public:
    WorldCampaign(EcsRig& rig, const ModelShape& shape, JobPool& pool, std::uint64_t seed)
        : run_(rig, shape, seed),
          entities_(run_),
          relations_(run_),
          queries_(run_, pool),
          commands_(run_, entities_, pool),
          history_(run_, queries_),
          observers_(run_, entities_, shape.is_watched) {
        run_.after_commit = [this] { observers_.after_commit(); };
        run_.after_jump = [this] { observers_.rebuild(); };
    }

    const ModelCounts& run(std::uint64_t operations) {
        register_all();
        observers_.begin();
        history_.begin();
        while (run_.counts().operations < operations && !run_.has_failed()) {
            step();
            ++run_.counts().operations;
        }
        if (!run_.has_failed()) run_.compare_all();
        if (!run_.has_failed()) history_.commit();
        if (!run_.has_failed()) history_.check_all();
        history_.end();
        return run_.counts();
    }

private:
    // Where there is room, components are made known by their first use, and forgotten by going back.
    void register_all() {
        run_.model().tick = run_.world().core().header().tick;
        if (!run_.shape().is_tight) return;
        each_type<ModelKinds>(
            [&]<class T>() { run_.expect(run_.world().template component<T>().has_value(), "component"); });
    }

    void step() {
        if (run_.one_in(run_.shape().steps_in_tick)) return step_tick();
        const std::uint32_t choice = run_.below(1'000);
        if (choice < 680) return step_entity(choice);
        if (choice < 760) return relations_.relate_two();
        if (choice < 800) return relations_.unrelate_one();
        if (choice < 840) return relations_.name_one();
        if (choice < 860) return relations_.unname_one();
        if (choice < 880) return entities_.write_resource();
        if (choice < 894) return entities_.change_some();
        if (choice < 902) return entities_.destroy_some();
        if (choice < 960) return queries_.read();
        if (choice < 976) return queries_.write();
        if (choice < 980) return queries_.destroy_by_query();
        if (choice < 988) return queries_.change_by_query();
        if (choice < 995) return history_.look_back();
        // What has no room is counted as failed by the barrier, and nobody knows which.
        run_.shape().is_tight ? entities_.add() : commands_.run_systems();
    }
    void step_entity(std::uint32_t choice) {
        if (choice < 160) return entities_.spawn();
        if (choice < 250) return entities_.destroy();
        if (choice < 400) return entities_.add();
        if (choice < 510) return entities_.remove();
        if (choice < 620) return entities_.edit();
        entities_.toggle();
    }
    void step_tick() {
        const std::uint32_t choice = run_.below(400);
        if (choice < 36) return history_.go_back();
        if (choice < 40) return history_.save();
        if (choice < 45) return history_.load();
        if (choice < 50) return history_.commit_quietly();
        if (choice < 53) return history_.migrate();
        if (choice < 57) return take_over();
        if (choice < 80) return observers_.deliver();
        history_.commit();
        // Few, and many again.
        if (run_.one_in(20) || run_.model().tick < 10) run_.set_limit(1 + run_.below(run_.shape().most_live));
    }

    // Another World goes on with the image, in the middle of a tick.
    void take_over() {
        observers_.deliver();
        if (!run_.expect_ok(run_.rig().attach(), "attach")) return;
        queries_.forget_kept();
        World& world = run_.world();
        // It finds by name what this program knows. Names and relations it finds by itself.
        each_type<ModelKinds>([&]<class T>() { static_cast<void>(world.component<T>()); });
        observers_.begin();
        run_.compare_all();
        queries_.compare_changes();
        ++run_.counts().takeovers;
    }

    ModelRun run_;
    EntityOperations entities_;
    RelationOperations relations_;
    QueryOperations queries_;
    CommandOperations commands_;
    HistoryOperations history_;
    ObserverOperations observers_;
};

}  // namespace ouro::testing_support
