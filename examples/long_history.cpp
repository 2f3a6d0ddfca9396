// Ten minutes of a world in 24 MiB: the last seconds whole, the last minute packed, and of the time before it
// one tick of each second. A tick in between is simulated again.
#include <ouro/streams/state_ring.hpp>

#include <cstdint>
#include <cstdio>
#include <span>

struct Bird {
    float x, y, speed_x, speed_y;
};

// A tick: what it does follows from the state alone, so that it can be repeated.
static void step(ouro::StateRing& ring, std::span<Bird> birds) {
    for (std::size_t index = 0; index < birds.size(); ++index) {
        Bird& bird = birds[index];
        const Bird& leader = birds[(index + 1) % birds.size()];
        bird.speed_x += (leader.x - bird.x) * 0.001F;
        bird.speed_y += (leader.y - bird.y) * 0.001F;
        bird.x += bird.speed_x;
        bird.y += bird.speed_y;
    }
    ring.mark(birds.data(), birds.size_bytes());
}

int main() {
    constexpr std::uint32_t kSecond = 60;
    const ouro::SegmentOptions world{.name = "world", .bytes = 64 << 10};
    auto ring = ouro::StateRing::create({.segments = {&world, 1},
                                         .history_ticks = 60 * kSecond,
                                         .history_bytes = 24 << 20,
                                         .packing = true,
                                         .dense_ticks = 2 * kSecond,
                                         .thinned_ticks = 9 * 60 * kSecond,
                                         .thin_every = kSecond});
    if (!ring) return 1;
    const std::span birds(reinterpret_cast<Bird*>(ring->segment_block("world")->data), 100);
    for (std::size_t index = 0; index < birds.size(); ++index)
        birds[index] = {.x = static_cast<float>(index * index % 97),
                        .y = static_cast<float>(index % 13),
                        .speed_x = 0,
                        .speed_y = 0};
    for (std::uint32_t tick = 0; tick < 10 * 60 * kSecond; ++tick) {
        step(*ring, birds);
        if (!ring->commit()) return 1;
    }
    const ouro::StateRingStats stats = ring->stats();
    std::printf("ticks %llu to %llu are kept; %llu packed pages take %llu KiB instead of %llu\n",
                static_cast<unsigned long long>(ring->oldest()),
                static_cast<unsigned long long>(ring->newest()),
                static_cast<unsigned long long>(stats.packed_versions),
                static_cast<unsigned long long>(stats.packed_bytes >> 10),
                static_cast<unsigned long long>(stats.packed_versions * 4));

    const ouro::Tick wanted = ring->newest() - 5 * 60 * kSecond + 17;  // five minutes ago, and not kept
    const bool was_thinned = ring->view(wanted).status() == ouro::Status::tick_thinned;
    int repeated = 0;
    const auto restored = ring->restore(wanted, [&](ouro::Tick) {
        step(*ring, birds);
        ++repeated;
    });
    std::printf("back to tick %llu: %d ticks simulated again: %s\n", static_cast<unsigned long long>(wanted),
                repeated, ouro::status_name(restored.status()).data());
    return was_thinned && restored && ring->newest() == wanted && ring->oldest() < wanted ? 0 : 1;
}
