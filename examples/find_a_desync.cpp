// A simulation that is not quite deterministic: one place of it depends on how often it ran. Each tick is
// simulated again, and the first byte that differs is named.
#include <ouro/streams/state_ring.hpp>
#include <ouro/streams/sync_test.hpp>

#include <array>
#include <cstddef>
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

// Which creature has a byte; the simulation types can say so of themselves.
static bool find_creature(const void* first, ouro::ConstOffsetBase image, std::uint64_t offset,
                          ouro::ImageOwner& owner) {
    const auto begin = static_cast<std::uint64_t>(static_cast<const std::byte*>(first) - image.start());
    owner.kind = ouro::OwnerKind::element;
    owner.number = (offset - begin) / sizeof(Creature);
    owner.offset = begin + owner.number * sizeof(Creature);
    owner.bytes = sizeof(Creature);
    return offset >= begin && owner.number < 100;
}

int main() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create(
        {.segments = {&world, 1}, .history_ticks = 60, .history_bytes = std::uint64_t{16} << 20});
    if (!ring) return 1;
    const std::span creatures(reinterpret_cast<Creature*>(ring->segment_block("world")->data), 100);
    for (std::int32_t speed = 1; Creature & creature : creatures)
        creature.speed = speed++;

    const ouro::OwnerSource source{.name = "creatures", .context = creatures.data(), .find = find_creature};

    for (ouro::Tick tick = 1; tick <= 60; ++tick) {
        step(*ring, creatures, tick);
        if (!ring->commit()) return 1;
        const auto outcome =
            sync_test(*ring, 7, [&](ouro::Tick again) { step(*ring, creatures, again); }, {&source, 1});
        if (!outcome) return 1;
        if (!outcome->differs) continue;
        std::array<char, 300> text;
        std::printf("%s\n", describe_difference(outcome->difference, text).data());
        return outcome->difference.tick == 40 && outcome->difference.owner.number == 5 ? 0 : 1;
    }
    std::printf("nothing differs\n");
    return 1;
}
