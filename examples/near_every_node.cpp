// A table that every thread reads and nobody writes, once in the memory of each node of the machine. Where
// there is one node there is one copy, and the table says so.
#include <ouro/memory/node_replicas.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <cstdio>
#include <span>

namespace {

using Prices = std::array<int, 100'000>;

struct Trader {
    const ouro::NodeReplicas& prices;
    long sum = 0;
};

void trade(void* argument) {
    auto& trader = *static_cast<Trader*>(argument);
    for (const int price : trader.prices.local_as<Prices>())
        trader.sum += price;
}

}  // namespace

int main() {
    static Prices prices;
    prices.fill(3);
    auto replicas = ouro::NodeReplicas::create(std::as_bytes(std::span(prices)), {.name = "prices"});
    if (!replicas) return 1;
    std::printf("%u nodes, %u copies%s\n", ouro::os::numa_node_count(), replicas->count(),
                replicas->is_replicated() ? "" : ": all memory is equally near");

    Trader trader{.prices = *replicas};
    auto thread = ouro::os::Thread::start(trade, &trader, {.name = "trader"});
    if (!thread) return 1;
    thread->join();
    // Nobody reads now, so all copies may change.
    const int dearer = 4;
    if (replicas->update(0, std::as_bytes(std::span(&dearer, 1))) != ouro::Status::ok) return 1;
    long sum = 0;
    for (const int price : replicas->local_as<Prices>())
        sum += price;
    std::printf("the prices add up to %ld, then to %ld\n", trader.sum, sum);
    return trader.sum == 300'000 && sum == 300'001 ? 0 : 1;
}
