// Creatures that refer to each other by handles. A handle knows when its creature is gone, even when another
// lives in the same place by then; a plain pointer would not.
#include <ouro/memory/pool.hpp>

#include <cstdio>

namespace {

struct Creature {
    int energy = 0;
    ouro::Handle<Creature> prey{};
};

}  // namespace

int main() {
    auto creatures = ouro::Pool<Creature>::create({.name = "creatures", .max_objects = 1000});
    if (!creatures) return 1;
    const auto deer = creatures->emplace(Creature{.energy = 50});
    if (!deer) return 1;
    const auto wolf = creatures->emplace(Creature{.energy = 10, .prey = *deer});
    if (!wolf) return 1;

    Creature& hunter = *creatures->get(*wolf);
    hunter.energy += creatures->get(hunter.prey)->energy;
    if (creatures->destroy(hunter.prey) != ouro::Status::ok) return 1;

    // The next creature is born where the deer was. Nobody takes it for the deer.
    const auto fawn = creatures->emplace(Creature{.energy = 5});
    if (!fawn) return 1;
    std::printf("the fawn lives in slot %u, as the deer did in %u; the wolf's prey is %s\n",
                static_cast<unsigned>(fawn->index()), static_cast<unsigned>(deer->index()),
                creatures->get(hunter.prey) == nullptr ? "gone" : "there");
    const bool again = creatures->destroy(*deer) == ouro::Status::stale_handle;

    int energy = 0;
    for (const Creature& creature : *creatures)
        energy += creature.energy;
    std::printf("%zu creatures with %d energy, blocks used again: %.0f %%\n", creatures->count(), energy,
                creatures->pool_stats().hit_rate() * 100);
    const bool same_place = fawn->index() == deer->index() && creatures->get(hunter.prey) == nullptr;
    return same_place && again && energy == 65 ? 0 : 1;
}
