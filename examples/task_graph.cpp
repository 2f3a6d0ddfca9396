// A tick as a graph of systems: built once, run every tick on all cores, and with the same result on one.
// Systems that need memory for a moment take it from an arena of their thread.
#include <ouro/jobs/job_arenas.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/jobs/task_graph.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

namespace {

struct World {
    std::vector<float> positions = std::vector<float>(10'000, 1.0F);
    std::vector<float> speeds = std::vector<float>(10'000, 0.5F);
    float push = 0;
    float farthest = 0;
    std::atomic<bool> had_no_memory{false};
};

// Distances of some bodies, kept only as long as the loop's body needs them.
float farthest_of(ouro::JobArenas& arenas, World& world, std::size_t begin, std::size_t end) {
    ouro::ScratchScope scratch(arenas);
    const auto distances = scratch.allocator().make_array<float>(end - begin);
    if (!distances) world.had_no_memory = true;
    float farthest = 0;
    for (std::size_t i = begin; distances && i < end; ++i) {
        (*distances)[i - begin] = world.positions[i] * world.positions[i];
        farthest = std::max(farthest, (*distances)[i - begin]);
    }
    return farthest;
}

bool build(ouro::TaskGraph& tick, ouro::JobPool& pool, ouro::JobArenas& arenas, World& world) {
    const auto input = tick.add([&] { world.push += 0.25F; }, ouro::JobPriority::high);
    const auto move = tick.add([&] {
        ouro::parallel_for(pool, world.positions.size(), 512, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                world.positions[i] += world.speeds[i] * world.push;
        });
    });
    const auto brake = tick.add([&] {
        for (float& speed : world.speeds)
            speed *= 0.99F;
    });
    const auto measure = tick.add([&] {
        std::atomic<float> farthest{0};
        ouro::parallel_for(pool, world.positions.size(), 512, [&](std::size_t begin, std::size_t end) {
            const float own = farthest_of(arenas, world, begin, end);
            for (float seen = farthest; own > seen && !farthest.compare_exchange_weak(seen, own);) {
            }
        });
        world.farthest = farthest;
    });
    // Braking and measuring touch different things, and may happen at once.
    return input && move && brake && measure && tick.order(*input, *move) && tick.order(*move, *brake) &&
           tick.order(*move, *measure) && tick.prepare();
}

// What the world looks like after a second.
float simulate(unsigned workers, ouro::MemoryResource& memory) {
    auto pool = ouro::JobPool::create({.workers = workers});
    if (!pool) return -1;
    auto arenas = ouro::JobArenas::create(*pool);
    World world;
    ouro::TaskGraph tick(memory);
    if (!arenas || !build(tick, *pool, *arenas, world)) return -1;
    for (int i = 0; i < 60; ++i)
        tick.run(*pool);
    std::printf("%u workers: the farthest body is at %.9g; %zu bytes of scratch memory at most\n", workers,
                static_cast<double>(world.farthest), arenas->stats().total_high_water_bytes);
    return world.had_no_memory ? -1 : world.farthest;
}

}  // namespace

int main() {
    auto memory = ouro::SystemAllocator::create({});
    if (!memory) return 1;
    const float alone = simulate(0, *memory);
    return alone > 0 && simulate(3, *memory) == alone ? 0 : 1;
}
