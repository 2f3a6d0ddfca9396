// What a live byte costs in the machine's memory.
#include "harness/must.hpp"
#include "memory/general_case.hpp"
#include "memory/memory_suite.hpp"
#include "memory/object_checks.hpp"
#include "memory/resident_memory.hpp"

#include <string>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kPageBytes = 4096;

struct CostPlan {
    std::string name;
    std::size_t least = 0;
    std::size_t most = 0;
    std::size_t live_bytes = 0;
};

struct Held {
    void* object = nullptr;
    std::size_t size = 0;
};

std::size_t draw_size(Lottery& lottery, const CostPlan& plan) {
    return plan.least == plan.most ? plan.least : lottery.size_between(plan.least, plan.most);
}

template <class Heap>
Held take(const Heap& heap, std::size_t size) {
    auto* object = static_cast<std::byte*>(heap.allocate(size));
    for (std::size_t offset = 0; offset < size; offset += kPageBytes)
        stamp(object + offset);
    stamp(object);
    return {object, size};
}

// Fills up to the live bytes, then replaces each object about once in random order, as a program that has run
// for a while.
template <class Heap>
double resident_per_live_byte(const Heap& heap, const CostPlan& plan) {
    Lottery lottery(5);
    std::vector<Held> held(plan.live_bytes / plan.least);
    for (Held& one : held)
        one = {&one, 1};
    const std::uint64_t before = resident_bytes();
    std::size_t count = 0;
    std::size_t live = 0;
    while (live < plan.live_bytes) {
        held[count] = take(heap, draw_size(lottery, plan));
        live += held[count++].size;
    }
    for (std::size_t i = 0; i < count; ++i) {
        Held& one = held[lottery.below(count)];
        must(has_stamp(one.object), "find an object as it was left");
        live -= one.size;
        heap.free(one.object, one.size);
        one = take(heap, draw_size(lottery, plan));
        live += one.size;
    }
    return static_cast<double>(resident_bytes() - before) / static_cast<double>(live);
}

void measure_cost(Session& session, const MallocPeers& peers, const CostPlan& plan) {
    const auto make_work = [&](const auto& heap) {
        return Work([heap, &plan](Round& round) {
            round.add_figure(in_child_process([&] { return resident_per_live_byte(heap, plan); }));
        });
    };
    measure_general(session, peers, "resident / live, " + plan.name, kTimes, {}, Sharing::one_thread,
                    make_work, [&](Case& row) { row.operations(1).rounds_at_most(1); });
}

}  // namespace

void measure_memory_cost(Session& session, const MallocPeers& peers) {
    const std::size_t live = session.sized(64, 1) << 20;
    const CostPlan plans[] = {{"16 B", 16, 16, live / 4},
                              {"64 B", 64, 64, live},
                              {"256 B", 256, 256, live},
                              {"16-1,024 B", 16, 1024, live},
                              {"1-256 KiB", 1024, 262'144, live}};
    for (const CostPlan& plan : plans)
        measure_cost(session, peers, plan);
}

}  // namespace ouro::bench
