#pragma once

#include "harness/must.hpp"

#include <ouro/ecs/world.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstdint>

namespace ouro::bench {

// A ring without hashes whose image is in memory already, for a world of so many entities.
[[nodiscard]] inline StateRing ring_for(std::uint32_t entities, bool keeps_history) {
    constexpr std::size_t kSmallestPage = 4096;
    constexpr std::uint64_t kBytesOfEntity = 160;
    constexpr std::uint64_t kBytesBeside = std::uint64_t{8} << 20;
    const std::uint64_t bytes = entities * kBytesOfEntity + kBytesBeside;
    const SegmentOptions segment{.name = "world", .bytes = bytes};
    StateRing ring = must(StateRing::create({.segments = {&segment, 1},
                                             .history_bytes = (keeps_history ? 6 : 3) * bytes + kBytesBeside,
                                             .hashes = false,
                                             .prefaults = keeps_history}),
                          "create the ring");
    const MemoryBlock image = ring.image();
    for (std::size_t offset = 0; offset < image.size; offset += kSmallestPage) {
        volatile std::byte& byte = image.data[offset];
        byte = byte;
    }
    return ring;
}

[[nodiscard]] inline World world_in(StateRing& ring, std::uint32_t entities) {
    return must(World::create(ring, {.max_entities = entities, .max_archetypes = 1024}), "create the world");
}

}  // namespace ouro::bench
