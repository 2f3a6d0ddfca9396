#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/memory/collections/soa_block.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
// What a creature has besides, which moving it does not need.
struct Traits {
    std::uint64_t genes[5];
    std::uint32_t age, state;
};
struct Creature {
    Position position;
    Velocity velocity;
    Traits traits;
};
using Block = SoaBlock<Position, Velocity, Traits>;
using Creatures = std::vector<Creature, CountedAllocator<Creature>>;

Creature make_creature(std::uint64_t i) {
    return {{static_cast<float>(i % 100), 1}, {1, static_cast<float>(i % 7)}, {{i}, 1, 2}};
}

// No remainder: the padding is moved as well.
void move_all(Block& block) {
    Position* const positions = std::assume_aligned<kSimdBytes>(block.padded_column<Position>().data());
    const Velocity* const velocities =
        std::assume_aligned<kSimdBytes>(block.padded_column<Velocity>().data());
    const std::size_t count = block.padded_size();
    for (std::size_t i = 0; i < count; ++i) {
        positions[i].x += velocities[i].x * 0.125F;
        positions[i].y += velocities[i].y * 0.125F;
    }
}

void measure_moving(Session& session, std::uint64_t count) {
    CountedResource memory;
    MemoryCount theirs;
    Block block(memory);
    Creatures creatures{CountedAllocator<Creature>(theirs)};
    for (std::uint64_t i = 0; i < count; ++i) {
        const Creature creature = make_creature(i);
        must(block.push(creature.position, creature.velocity, creature.traits), "push");
        creatures.push_back(creature);
    }
    session.measure("columns: move " + std::to_string(count) + " creatures", kNanoseconds)
        .ours([&](Round& round) {
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i) {
                    move_all(block);
                    keep(block);
                }
            });
            round.use_memory(memory.count().live_bytes);
        })
        .peer("vector of structs", standard_library_version(),
              [&](Round& round) {
                  round.time([&] {
                      for (std::uint64_t i = 0; i < round.operations(); ++i) {
                          for (Creature& creature : creatures) {
                              creature.position.x += creature.velocity.x * 0.125F;
                              creature.position.y += creature.velocity.y * 0.125F;
                          }
                          keep(creatures);
                      }
                  });
                  round.use_memory(theirs.live_bytes);
              })
        .bar(ratio_at_most(0.6))
        .run();
}

// One operation is one creature added; all die, and the memory with them.
void measure_filling(Session& session) {
    constexpr std::uint64_t kCount = 10'000;
    session.measure("columns: add 10000 creatures", kNanoseconds)
        .ours([&](Round& round) {
            CountedResource memory;
            Block block(memory);
            round.time([&] {
                for (std::uint64_t i = 0; i < kCount; ++i) {
                    const Creature creature = make_creature(i);
                    (void)block.push(creature.position, creature.velocity, creature.traits);
                }
            });
            round.check(block.size());
            round.use_memory(memory.count().peak_bytes);
        })
        .peer("vector of structs", standard_library_version(),
              [&](Round& round) {
                  MemoryCount memory;
                  Creatures creatures{CountedAllocator<Creature>(memory)};
                  round.time([&] {
                      for (std::uint64_t i = 0; i < kCount; ++i)
                          creatures.push_back(make_creature(i));
                  });
                  round.check(creatures.size());
                  round.use_memory(memory.peak_bytes);
              })
        .operations(kCount)
        .bar(ratio_at_most(1.0))
        .run();
}

}  // namespace

void measure_columns(Session& session) {
    measure_moving(session, 1'000);
    measure_moving(session, session.sized(100'000, 5'000));
    measure_filling(session);
}

}  // namespace ouro::bench
