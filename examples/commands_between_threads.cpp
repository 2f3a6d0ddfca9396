// Commands from the thread that reads the player's hands to the one that simulates. The ring never waits:
// when it is full, the sender is told and may do something else.
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <cstdio>

namespace {

constexpr int kCommands = 20'000;

struct Command {
    int number;
    float x, y;
};

struct Simulation {
    ouro::SpscRing<Command>& commands;
    int next = 0;
    bool in_order = true;
};

void simulate(void* argument) {
    auto& simulation = *static_cast<Simulation*>(argument);
    while (simulation.next < kCommands) {
        const auto command = simulation.commands.pop();
        if (!command) {
            ouro::os::yield_thread();
            continue;
        }
        simulation.in_order = simulation.in_order && command->number == simulation.next;
        ++simulation.next;
    }
}

}  // namespace

int main() {
    auto heap = ouro::SmallObjectAllocator::create({.name = "game"});
    if (!heap) return 1;
    auto commands = ouro::SpscRing<Command>::create(*heap, 256);
    if (!commands) return 1;
    Simulation simulation{.commands = *commands};
    auto thread = ouro::os::Thread::start(simulate, &simulation, {.name = "simulation"});
    if (!thread) return 1;

    int full = 0;
    for (int i = 0; i < kCommands; ++i) {
        while (commands->push({i, 0.5F, 0.5F}) != ouro::Status::ok) {
            ++full;
            ouro::os::yield_thread();
        }
    }
    thread->join();
    std::printf("%d commands arrived %s; the ring was full %d times\n", simulation.next,
                simulation.in_order ? "in order" : "out of order", full);
    return simulation.in_order && simulation.next == kCommands && commands->empty() ? 0 : 1;
}
