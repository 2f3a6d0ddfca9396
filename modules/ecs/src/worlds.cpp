#include <ouro/ecs/worlds.hpp>

#include <algorithm>

namespace ouro {
namespace {

using Worlds = std::span<World* const>;

bool are_of_one_ring(Worlds worlds) noexcept {
    for (std::size_t i = 0; i < worlds.size(); ++i) {
        const bool is_twice = std::ranges::find(worlds.first(i), worlds[i]) != worlds.first(i).end();
        if (is_twice || &worlds[i]->ring() != &worlds[0]->ring()) return false;
    }
    return !worlds.empty();
}

bool are_there(Worlds worlds) noexcept {
    return std::ranges::all_of(worlds, [](const World* world) { return world->core().is_there(); });
}

// Until observers of no world have caused anything in another.
Status deliver(Worlds worlds) noexcept {
    for (unsigned round = 0; round < detail::EventLog::kMaxRounds; ++round) {
        bool is_more = false;
        for (World* const world : worlds)
            if (const Status status = world->deliver_events(); status != Status::ok) return status;
        for (World* const world : worlds)
            is_more |= world->core().events().has_events(world->core().marks().epoch());
        if (!is_more) return Status::ok;
    }
    return Status::rate_limited;
}

// The tick goes on, and what changes from now on is told when it ends.
void forget_recorded_changes(Worlds worlds) noexcept {
    for (World* const world : worlds)
        world->core().forget_recorded_changes();
}

// All but the commit of the ring.
Status end_ticks(Worlds worlds) noexcept {
    const auto is_watching = [](World* world) { return world->core().events().is_watching(); };
    if (std::ranges::any_of(worlds, is_watching)) {
        if (const Status status = deliver(worlds); status != Status::ok) return status;
        for (World* const world : worlds)
            if (is_watching(world)) world->core().record_changes();
        if (const Status status = deliver(worlds); status != Status::ok) {
            forget_recorded_changes(worlds);
            return status;
        }
    }
    for (World* const world : worlds)
        world->core().end_tick();
    return Status::ok;
}

struct SyncStep {
    Worlds worlds;
    StepFunction step;
    void* function;
    Status status = Status::ok;
};

}  // namespace

Expected<Tick> commit_together(Worlds worlds) noexcept {
    if (!are_of_one_ring(worlds)) return Status::bad_argument;
    if (!are_there(worlds)) return Status::not_found;
    for (const World* const world : worlds)
        world->core().expect_free({});
    if (const Status status = end_ticks(worlds); status != Status::ok) return status;
    auto tick = worlds[0]->ring().commit();
    if (tick) return tick;
    for (World* const world : worlds)
        world->core().take_back_tick();
    forget_recorded_changes(worlds);
    return tick;
}

Expected<SyncOutcome> sync_test(Worlds worlds, std::uint32_t distance, StepFunction step,
                                void* function) noexcept {
    if (!are_of_one_ring(worlds)) return Status::bad_argument;
    if (!are_there(worlds)) return Status::not_found;
    SyncStep own{worlds, step, function};
    auto outcome = sync_test(
        worlds[0]->ring(), distance,
        [](void* context, Tick tick) {
            SyncStep& each = *static_cast<SyncStep*>(context);
            each.step(each.function, tick);
            if (each.status == Status::ok) each.status = end_ticks(each.worlds);
        },
        &own);
    if (own.status != Status::ok) return own.status;
    return outcome;
}

}  // namespace ouro
