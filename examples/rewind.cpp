// Sixty ticks of falling sparks are kept. Go back to the thirtieth, blow a wind there, and compare the two
// futures.
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

struct Spark {
    std::int32_t x, y, fall;
};

// A tick: each spark falls, and says that it was written.
static void step(ouro::StateRing& ring, std::span<Spark> sparks, std::int32_t wind) {
    for (Spark& spark : sparks) {
        spark.fall += 1;
        spark.y -= spark.fall;
        spark.x += wind;
    }
    ring.mark(sparks.data(), sparks.size_bytes());
}

int main() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create(
        {.segments = {&world, 1}, .history_ticks = 100, .history_bytes = std::uint64_t{16} << 20});
    if (!ring) return 1;
    const std::span sparks(reinterpret_cast<Spark*>(ring->segment_block("world")->data), 1000);

    for (int tick = 0; tick < 60; ++tick) {
        step(*ring, sparks, 0);
        if (!ring->commit()) return 1;
    }
    const std::uint64_t calm = *ring->hash(60);

    const auto past = ring->branch(30);  // the image is tick 30 again; ticks 31 to 60 are kept aside
    if (!past) return 1;
    for (int tick = 30; tick < 60; ++tick) {
        step(*ring, sparks, 2);
        if (!ring->commit()) return 1;
    }
    std::size_t ranges = 0;
    {
        const auto then = ring->view(*past, 60);
        const auto now = ring->view(60);
        if (!then || !now) return 1;
        ring->changed(*then, *now, [&](ouro::ChangedRange) { ++ranges; });
    }
    std::printf("wind moved spark 7 to x = %d; the futures differ in %zu ranges\n", sparks[7].x, ranges);

    if (!ring->rollback(30)) return 1;  // and without the wind everything is as it was, bit for bit
    for (int tick = 30; tick < 60; ++tick) {
        step(*ring, sparks, 0);
        if (!ring->commit()) return 1;
    }
    std::printf("replayed: %s\n", *ring->hash(60) == calm ? "the same hash" : "another hash");
    return *ring->hash(60) == calm && ranges != 0 ? 0 : 1;
}
