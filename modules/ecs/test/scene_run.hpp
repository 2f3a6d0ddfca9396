#pragma once

#include "golden_scenes.hpp"

#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// A golden scene in a world of its own, with so many workers beside the caller.
class SceneRun {
public:
    SceneRun(std::size_t number, unsigned workers) : scene_(make_golden_scene(number)) {
        const SegmentOptions segment{.name = "world", .bytes = std::uint64_t{2} << 20};
        auto ring = StateRing::create(
            {.segments = {&segment, 1}, .history_ticks = 16, .history_bytes = std::uint64_t{20} << 20});
        auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
        auto pool = JobPool::create({.workers = workers});
        if (!ring || !memory || !pool) return;
        ring_.push_back(*std::move(ring));
        memory_.push_back(*std::move(memory));
        pool_.push_back(*std::move(pool));
        auto world = World::create(ring_[0], {.max_entities = 4'000, .max_archetypes = 32});
        if (!world) return;
        world_.push_back(*std::move(world));
        schedule_ = new Schedule(memory_[0], {.measures = false, .command_bytes = std::size_t{1} << 20});
        is_ready_ = scene_->begin(this->world(), *schedule_) == Status::ok && this->world().commit();
    }
    ~SceneRun() {
        delete schedule_;
        end_golden_scene(scene_);
    }
    SceneRun(const SceneRun&) = delete;
    SceneRun& operator=(const SceneRun&) = delete;

    [[nodiscard]] bool is_ready() const { return is_ready_; }
    [[nodiscard]] World& world() { return world_[0]; }
    [[nodiscard]] StateRing& ring() { return ring_[0]; }
    [[nodiscard]] bool step() { return static_cast<bool>(schedule_->run(world(), pool_[0])); }
    [[nodiscard]] std::uint64_t hash() { return ring().hash(ring().newest()).value_or(0); }

private:
    Scene* scene_;
    // At most one each: made when all before them are there.
    std::vector<StateRing> ring_;
    std::vector<SystemAllocator> memory_;
    std::vector<JobPool> pool_;
    std::vector<World> world_;
    Schedule* schedule_ = nullptr;
    bool is_ready_ = false;
};

}  // namespace ouro::testing_support
