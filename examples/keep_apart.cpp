// Two subsystems that cannot reach each other's memory: whatever scripts free, packets never get, not even
// after it went back to the system. So a stale pointer of one can do no harm to the other.
#include <ouro/memory/partition_allocator.hpp>

#include <cstdio>

int main() {
    constexpr ouro::PartitionOptions kParts[] = {{.name = "scripts"},
                                                 {.name = "packets", .guards = ouro::PartitionGuards::spans}};
    auto set = ouro::PartitionAllocator::create({.partitions = kParts});
    if (!set) {
        std::printf("cannot make partitions: %s\n", ouro::status_text(set.status()).data());
        return 1;
    }
    ouro::Partition& scripts = (*set)[0];
    ouro::Partition& packets = *set->find("packets");

    const auto object = scripts.allocate(200);
    if (!object) return 1;
    scripts.deallocate(*object);
    scripts.trim();

    // The same size, as often as it takes: none of these lies where the script's object was.
    int shared = 0;
    for (int i = 0; i < 10'000; ++i) {
        const auto packet = packets.allocate(200);
        if (!packet) return 1;
        shared += packet->overlaps(*object) ? 1 : 0;
    }
    const ouro::ResourceStats stats = packets.stats();
    std::printf("%zu packets in %zu KiB, %d where a script's object was\n", stats.live_blocks,
                stats.committed_bytes >> 10, shared);
    std::printf("%p belongs to: %s\n", static_cast<void*>(object->data),
                set->owner_of(object->data)->info().name.data());
    return shared == 0 && set->owner_of(object->data) == &scripts && set->check() == ouro::Status::ok ? 0 : 1;
}
