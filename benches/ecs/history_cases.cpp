// What it costs to be able to go back: a world whose every tick is kept, of which a part changes in each.
#include "ecs/ecs_components.hpp"
#include "ecs/ecs_suite.hpp"
#include "ecs/our_ring.hpp"
#include "harness/case.hpp"
#include "os/raw_memory.hpp"
#include "ring/ring_scene.hpp"

#include <ouro/ecs/query.hpp>
#include <ouro/os/clock.hpp>

namespace ouro::bench {
namespace {

constexpr double kFrameNs = 1e9 / 60;
constexpr unsigned kTicksBack = 7;

// Entities of ten components, two of which change in each tick.
class ChangingWorld {
public:
    explicit ChangingWorld(const EntityRows& rows)
        : ring_(ring_for(rows.size(), true)), world_(world_in(ring_, rows.size())) {
        std::uint32_t i = 0;
        must(world_.spawn_many<Position, Velocity, Scale, Vitality, Trait0, Trait1, Trait2, Trait3, Trait4,
                               Trait5>(rows.size(),
                                       [&](Position& position, Velocity& velocity, Scale& scale,
                                           Vitality& vitality, auto&... traits) {
                                           position = rows.positions[i];
                                           velocity = rows.velocities[i];
                                           scale = rows.scales[i];
                                           vitality = rows.vitalities[i];
                                           ((traits = {i, 0}), ...);
                                           ++i;
                                       }),
             "spawn");
        commit();
    }

    // A thing on a spring.
    void step() {
        Query<Position&, Velocity&>(world_).each([](Position& position, Velocity& velocity) {
            move(position, velocity);
            velocity.x -= position.x * 0.01F;
            velocity.y -= position.y * 0.01F;
        });
    }
    void commit() { (void)must(world_.commit(), "commit"); }
    void go_back(unsigned ticks) { must(ring_.rollback(ring_.newest() - ticks), "rollback"); }

private:
    StateRing ring_;
    World world_;
};

void measure_commit(Session& session, ChangingWorld& world, std::uint32_t entities) {
    const RawMapping columns = filled_memory(entities * (sizeof(Position) + sizeof(Velocity)));
    RawCapture copy(columns.block(), session.sized(256, 8) << 20);
    session.measure("commit, 2 of 10 change, " + std::to_string(entities / 1000) + "k", kMicroseconds)
        .ours([&](Round& round) {
            world.step();
            round.time([&] { world.commit(); });
        })
        .peer("copy of the two columns", "streaming stores",
              [&](Round& round) {
                  world.step();
                  world.commit();
                  // Just written, as the world's are before a commit.
                  touch(columns.block(), sizeof(Position));
                  round.time([&] { copy.copy_all(); });
              })
        .bar(ratio_at_most(1.2))
        .note("no hash")
        .operations(1)
        .run();
}

void measure_resimulation(Session& session, ChangingWorld& world, std::uint32_t entities) {
    session.measure("go back 7 ticks and redo them, " + std::to_string(entities / 1000) + "k", kPercent)
        .ours([&](Round& round) {
            for (unsigned tick = 0; tick < kTicksBack; ++tick) {
                world.step();
                world.commit();
            }
            const std::uint64_t begin = os::monotonic_ns();
            world.go_back(kTicksBack);
            for (unsigned tick = 0; tick < kTicksBack; ++tick) {
                world.step();
                world.commit();
            }
            const auto elapsed = static_cast<double>(os::monotonic_ns() - begin);
            round.add_figure(100 * elapsed / kFrameNs);
        })
        .note("of a frame of 16.6 ms; each tick moves all and is committed")
        .operations(1)
        .run();
}

}  // namespace

void measure_history(Session& session) {
    const EntityRows rows(static_cast<std::uint32_t>(session.sized(100'000, 5'000)));
    ChangingWorld world(rows);
    measure_commit(session, world, rows.size());
    measure_resimulation(session, world, rows.size());
}

}  // namespace ouro::bench
