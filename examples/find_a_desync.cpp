// A simulation that is not quite deterministic: one place of it depends on how often it ran. Each tick is
// simulated again, and the first byte that differs is named.
#include <ouro/streams/state_ring.hpp>
#include <ouro/streams/sync_test.hpp>

#include <cstdint>
#include <cstdio>

struct Creature {
    std::int32_t x, speed, hunger;
};

static std::int32_t steps_ever = 0;  // not in the image: nobody takes it back

static void step(ouro::StateRing& ring, std::span<Creature> creatures, ouro::Tick tick) {
    ++steps_ever;
    for (Creature& creature : creatures)
        creature.x += creature.speed;
    creatures[5].hunger = tick < 40 ? 0 : steps_ever;  // the bug
    ring.mark(creatures.data(), creatures.size_bytes());
}

int main() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create(
        {.segments = {&world, 1}, .history_ticks = 60, .history_bytes = std::uint64_t{16} << 20});
    if (!ring) return 1;
    const std::span creatures(reinterpret_cast<Creature*>(ring->segment_block("world")->data), 100);
    for (std::int32_t speed = 1; Creature & creature : creatures)
        creature.speed = speed++;

    for (ouro::Tick tick = 1; tick <= 60; ++tick) {
        step(*ring, creatures, tick);
        if (!ring->commit()) return 1;
        const auto outcome = sync_test(*ring, 7, [&](ouro::Tick again) { step(*ring, creatures, again); });
        if (!outcome) return 1;
        if (!outcome->differs) continue;
        const ouro::SyncDifference& difference = outcome->difference;
        const auto within = difference.offset - ring->segments()[0].offset;
        std::printf("tick %llu differs in '%s', creature %llu, byte %llu of it\n",
                    static_cast<unsigned long long>(difference.tick), difference.segment.data(),
                    static_cast<unsigned long long>(within / sizeof(Creature)),
                    static_cast<unsigned long long>(within % sizeof(Creature)));
        return difference.tick == 40 ? 0 : 1;
    }
    std::printf("nothing differs\n");
    return 1;
}
