// Three writes that nobody declared: the verifier names the address, the segment and whom it belongs to.
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/verifier.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

struct Creature {
    std::uint64_t id;
    std::uint64_t health;
};

struct Town {
    std::uint64_t gold;
    ouro::SimPool<Creature> creatures;
};

int main() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create({.segments = {&world, 1}, .history_bytes = std::uint64_t{8} << 20});
    if (!ring) return 1;
    // With notes of its blocks the heap can tell one from the next.
    auto heap = ouro::ImageHeap::create(*ring, "world", {.notes_blocks = true});
    const auto root = heap ? heap->make_root<Town>("town") : heap.status();
    const auto map = heap ? heap->allocate(5000) : heap.status();
    const auto old_map = heap ? heap->allocate(9000) : heap.status();
    if (!root || !map || !old_map) return 1;
    const Town& town = heap->get(*root);
    auto creatures = heap->bind(town.creatures);
    for (std::uint64_t id = 0; id < 30; ++id)
        if (!creatures.create({.id = id, .health = 20})) return 1;
    const auto wolf = (*creatures.begin()).handle;
    heap->deallocate(*old_map);
    if (!ring->commit()) return 1;

    const_cast<Creature*>(creatures.find(wolf))->health -= 3;  // creatures.edit(wolf) would have declared it
    map->data[1234] = std::byte{1};
    old_map->data[2345] = std::byte{1};
    if (!ring->commit()) return 1;

    const std::array sources = {owner_source("creatures", town.creatures)};
    std::array<int, 3> found{};
    const ouro::VerifyOptions options{.finds_nans = false, .finds_addresses = false, .sources = sources};
    const auto count = ouro::verify_image(*ring, options, [&](const ouro::Finding& finding) {
        std::array<char, 200> text;
        ouro::describe_finding(finding, text);
        std::printf("%s\n", text.data());
        found[0] += finding.owner.kind == ouro::OwnerKind::pool_object ? 1 : 0;
        found[1] += finding.owner.kind == ouro::OwnerKind::heap_block ? 1 : 0;
        found[2] += finding.owner.kind == ouro::OwnerKind::free_memory ? 1 : 0;
    });
    return count.value_or(0) == 3 && found == std::array{1, 1, 1} ? 0 : 1;
}
