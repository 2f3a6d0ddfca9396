#pragma once

#include "world_model_run.hpp"

#include <ouro/ecs/world_file.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

// What the components of the campaign become in a later version of the program.
namespace ouro::testing_support {

struct LaterMite {
    std::uint32_t bits;
};
struct LaterSpot {
    double y;
    std::uint64_t fresh;
    double x;
};
struct LaterForce {
    std::array<std::uint32_t, 5> words;
};
struct LaterAlarm {
    std::uint64_t stage;
};
struct LaterFlame {
    std::int64_t heat;
    std::uint64_t since;
};
struct LaterDaze {
    std::uint32_t depth;
    std::uint32_t ticks;
};
struct LaterTally {
    std::uint64_t sum;
    std::uint64_t count;
};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterMite> = {
    .name = "Mite"};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterSpot> = {
    .name = "Place"};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterForce> = {
    .name = "Force", .heat = ouro::Heat::cold};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterAlarm> = {
    .name = "Alarm", .toggles = true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterFlame> = {
    .name = "Flame", .sparse = true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterDaze> = {
    .name = "Daze", .sparse = true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::LaterTally> = {
    .name = "Tally"};

namespace ouro::testing_support {

// A world of a later version of the program takes what was saved, and is what the model says.
class SchemaComparison {
public:
    explicit SchemaComparison(ModelRun& run) : run_(run) {}

    void compare(std::span<const std::byte> file, WorldModel& model) {
        EcsRig later(run_.shape().bytes + (std::uint64_t{4} << 20), run_.shape().options);
        EcsRig same(run_.shape().bytes, run_.shape().options);
        if (!run_.expect(same.is_ready() && later.is_ready(), "a world of a later version")) return;
        World& world = same.world();
        const bool is_known = world.component<LaterSpot>() && world.component<LaterFlame>() &&
                              world.component<LaterMite>() && world.component<LaterForce>() &&
                              world.component<LaterAlarm>() && world.component<LaterDaze>() &&
                              world.edit_resource<LaterTally>() != nullptr;
        if (!run_.expect(is_known, "the components of a later version")) return;
        // A segment of another size is refused.
        run_.expect(read_world(later.world(), image_source(file), {}).status() == Status::wrong_layout,
                    "a file of another segment");
        constexpr std::array kChanges = {renamed_component("Spot", "Place"),
                                         renamed_field("Alarm", "level", "stage"), removed_component("Gene"),
                                         removed_component("Loud")};
        WorldLoadProblem problem;
        const auto tick = read_world(world, image_source(file), {.changes = kChanges, .problem = &problem});
        // Columns that became wider may find no room.
        if (tick.status() == Status::capacity_exhausted && run_.shape().is_tight) return;
        if (!run_.expect_ok(tick.status(), "read_world in a later version")) return;
        ++run_.counts().migrations;
        run_.expect(world.stats().entities == model.live, "how many entities were converted");
        model.each([&](const ModelEntity& own) { compare(world, own); });
        const LaterTally* const tally = world.resource<LaterTally>();
        const Tally then = value_of<Tally>(model.tally);
        if (model.tally != 0)
            run_.expect(tally->count == then.count && tally->sum == then.sum, "a converted resource");
        go_on(same);
    }

private:
    template <class Then, class Now, class Same>
    void compare(World& world, const ModelEntity& own, Same&& same) {
        const Now* const now = world.get<Now>(own.id);
        if (!run_.expect((now != nullptr) == own.has<Then>(), "what was converted", own.id)) return;
        if (now == nullptr) return;
        run_.expect(same(*now, value_of<Then>(own.value<Then>())), "a converted value", own.id);
        if constexpr (kComponentOptions<Now>.toggles)
            run_.expect(world.is_enabled<Now>(own.id) == ((own.off & kBitOf<Then>) == 0),
                        "a converted switch", own.id);
    }
    void compare(World& world, const ModelEntity& own) {
        if (!run_.expect(world.is_alive(own.id), "a converted entity", own.id)) return;
        compare<Mite, LaterMite>(world, own, [](const auto& a, const auto& b) { return a.bits == b.bits; });
        compare<Spot, LaterSpot>(world, own, [](const auto& a, const auto& b) {
            return a.x == static_cast<double>(b.x) && a.y == static_cast<double>(b.y) && a.fresh == 0;
        });
        compare<Force, LaterForce>(world, own, [](const auto& a, const auto& b) {
            return a.words[0] == b.words[0] && a.words[2] == b.words[2] && a.words[3] == 0 && a.words[4] == 0;
        });
        compare<Alarm, LaterAlarm>(world, own,
                                   [](const auto& a, const auto& b) { return a.stage == b.level; });
        compare<Flame, LaterFlame>(
            world, own, [](const auto& a, const auto& b) { return a.heat == b.heat && a.since == 0; });
        compare<Daze, LaterDaze>(world, own, [](const auto& a, const auto& b) {
            return a.depth == b.depth && a.ticks == b.ticks;
        });
        // As it was, and what nobody has any more.
        run_.expect(world.has<Still>(own.id) == false || own.has<Still>(), "a tag", own.id);
        run_.expect(name_of(world, own.id) == (own.name == 0 ? "" : run_.text_of_name(own.name)),
                    "a name in a later version", own.id);
    }
    // It is a world like any other.
    void go_on(EcsRig& rig) {
        World& world = rig.world();
        run_.expect(Query<With<Gene>>(world).count() == 0 && Query<With<Loud>>(world).count() == 0,
                    "components that were removed");
        run_.expect(world.check() == Status::ok, "World::check in a later version");
        const auto spawned = world.spawn(LaterSpot{1, 2, 3}, LaterFlame{4, 5});
        if (spawned)
            run_.expect(world.get<LaterSpot>(*spawned)->x == 3, "what is spawned in a later version");
        static_cast<void>(rig.commit());
        run_.expect(!testing::Test::HasFailure(), "a tick of a later version");
    }

    ModelRun& run_;
};

}  // namespace ouro::testing_support
