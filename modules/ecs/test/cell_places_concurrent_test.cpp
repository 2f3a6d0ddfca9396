// Threads that read the same components of one world for the first time in an epoch note where they are, all
// at once.
#include "ecs_rig.hpp"

#include <ouro/jobs/job_pool.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <atomic>
#include <utility>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

template <unsigned>
struct Kind {};

TEST(CellPlacesConcurrent, ReadersFindTheSameAtOnce) {
    EcsRig rig(std::uint64_t{8} << 20, {.max_entities = 5'000, .max_archetypes = 256});
    ASSERT_TRUE(rig.is_ready());
    World& world = rig.world();
    std::vector<Entity> all;
    // 128 archetypes, which share the places of each type.
    for (unsigned i = 0; i < 4'096; ++i) {
        const Entity entity = *world.spawn(Position{static_cast<float>(i), 1}, Health{static_cast<int>(i)});
        const bool is_marked = [&]<unsigned... kKinds>(std::integer_sequence<unsigned, kKinds...>) {
            return (((i >> kKinds & 1) == 0 || world.add<Kind<kKinds>>(entity)) && ...);
        }(std::make_integer_sequence<unsigned, 7>{});
        ASSERT_TRUE(is_marked);
        all.push_back(entity);
    }
    auto pool = JobPool::create({.workers = 3});
    ASSERT_TRUE(pool);
    for (int tick = 0; tick < 20; ++tick) {
        rig.commit();
        std::atomic<unsigned> wrong = 0;
        parallel_for(*pool, all.size(), 64, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const Position* const position = world.get<Position>(all[i]);
                const Health* const health = world.get<Health>(all[i]);
                if (position == nullptr || position->x != static_cast<float>(i) || health == nullptr ||
                    health->points != static_cast<int>(i))
                    wrong.fetch_add(1, std::memory_order_relaxed);
            }
        });
        ASSERT_EQ(wrong.load(), 0U);
    }
}

}  // namespace
}  // namespace ouro
