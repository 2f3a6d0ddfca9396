#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/sync_test.hpp>

#include <cstdint>
#include <span>
#include <type_traits>

// Ticks of worlds, where World::commit is not enough: several worlds in segments of one ring, and simulating
// again to see whether the same comes out.
namespace ouro {

// Ends the tick of all worlds of a ring at once: their events are delivered, also those that observers of one
// cause in another, then the ring commits. World::commit would end the ring's tick for all and that of the
// world for itself alone, and what was to be delivered in the others would be dropped. Fails with
// bad_argument (none, one twice, or worlds of different rings), not_found (one is not there any more, see
// World), and as World::deliver_events and
// StateRing::commit do; then the tick goes on.
Expected<Tick> commit_together(std::span<World* const> worlds) noexcept;

// sync_test for a world: the step simulates the tick, and does not commit it. What differs is named by entity
// and field, see SyncDifference::owner. Fails as sync_test does, and as commit_together; roll back then.
//
//     const auto outcome = sync_test(world, 7, [&](Tick tick) { schedule.run(world, pool); });
Expected<SyncOutcome> sync_test(std::span<World* const> worlds, std::uint32_t distance, StepFunction step,
                                void* function) noexcept;

template <class Step>
Expected<SyncOutcome> sync_test(std::span<World* const> worlds, std::uint32_t distance,
                                Step&& step) noexcept {
    using Function = std::remove_reference_t<Step>;
    return sync_test(
        worlds, distance, [](void* function, Tick tick) { (*static_cast<Function*>(function))(tick); },
        const_cast<void*>(static_cast<const void*>(&step)));
}
template <class Step>
Expected<SyncOutcome> sync_test(World& world, std::uint32_t distance, Step&& step) noexcept {
    World* const own = &world;
    return sync_test(std::span<World* const>(&own, 1), distance, step);
}

}  // namespace ouro
