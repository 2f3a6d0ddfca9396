#include "ecs_rig.hpp"

#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace ouro {
namespace {

// What a program saved, and what it became in a later version.
struct BodyThen {
    std::uint8_t kind;
    std::int8_t mood;
    std::int16_t level;
    float weight;
    std::array<std::uint16_t, 2> marks;
    FixedString<7> tag;
    std::uint32_t gone;
};
struct BodyNow {
    double weight;
    std::uint64_t fresh;
    std::uint32_t kind;
    std::int32_t standing;
    std::array<std::uint16_t, 4> marks;
    FixedString<15> tag;
    std::int16_t mood;
    std::int16_t level;
    std::int32_t other;
};
struct BodyOfOtherKind {
    std::uint32_t weight;
};
struct BodyNarrower {
    float weight;
    std::uint8_t level;
    std::array<std::uint8_t, 3> rest;
};
struct Point {
    std::int32_t x;
    std::int32_t y;
};
struct PlaceThen {
    Point at;
};
struct PlaceNow {
    Point target;
    Point place;
};
struct Mana {
    std::uint32_t amount;
};
struct Rage {
    std::uint32_t amount;
};
struct Magic {};
struct SparkThen {
    std::uint32_t heat;
};
struct SparkNow {
    std::uint64_t heat;
    std::uint64_t age;
};
struct ClockThen {
    std::int32_t hours;
};
struct ClockNow {
    std::int32_t minutes;
    std::int32_t hours;
};
struct SwitchedNow {
    std::int64_t level;
};
struct SwitchedThen {
    std::int32_t level;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<BodyThen> = {.name = "Body"};
template <>
inline constexpr ComponentOptions kComponentOptions<BodyNow> = {.name = "Body", .heat = Heat::cold};
template <>
inline constexpr ComponentOptions kComponentOptions<BodyOfOtherKind> = {.name = "Body"};
template <>
inline constexpr ComponentOptions kComponentOptions<BodyNarrower> = {.name = "Body"};
template <>
inline constexpr ComponentOptions kComponentOptions<PlaceThen> = {.name = "Place"};
template <>
inline constexpr ComponentOptions kComponentOptions<PlaceNow> = {.name = "Site"};
template <>
inline constexpr ComponentOptions kComponentOptions<SparkThen> = {.name = "Spark", .sparse = true};
template <>
inline constexpr ComponentOptions kComponentOptions<SparkNow> = {.name = "Spark", .sparse = true};
template <>
inline constexpr ComponentOptions kComponentOptions<ClockThen> = {.name = "Clock"};
template <>
inline constexpr ComponentOptions kComponentOptions<ClockNow> = {.name = "Clock"};
template <>
inline constexpr ComponentOptions kComponentOptions<SwitchedThen> = {.name = "Switched"};
template <>
inline constexpr ComponentOptions kComponentOptions<SwitchedNow> = {.name = "Switched", .toggles = true};

namespace {

using namespace testing_support;

std::vector<std::byte> save(World& world, Tick tick) {
    std::vector<std::byte> bytes;
    const auto add = [](void* context, std::span<const std::byte> piece) noexcept {
        auto& all = *static_cast<std::vector<std::byte>*>(context);
        all.insert(all.end(), piece.begin(), piece.end());
        return Status::ok;
    };
    const auto past = world.at(tick);
    EXPECT_TRUE(past);
    EXPECT_TRUE(write_world(*past, {.write = add, .context = &bytes}));
    return bytes;
}

Expected<Tick> load(World& world, const std::vector<std::byte>& file, const WorldLoadOptions& options = {}) {
    const std::span<const std::byte> bytes = file;
    return read_world(world, image_source(bytes), options);
}

// Rows of 300 entities over two blocks and 20 gone ones, which is enough for both small and large columns.
class WorldFileTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(then_.is_ready() && now_.is_ready());
        World& world = then_.world();
        // Another order than that of the program of today.
        ASSERT_TRUE(world.component<Mana>() && world.component<PlaceThen>());
        for (std::int32_t i = 0; i < 300; ++i) {
            const auto small = static_cast<std::uint8_t>(i % 200);
            const BodyThen body{small,
                                static_cast<std::int8_t>(-i % 100),
                                static_cast<std::int16_t>(i * 100 % 30'000 - 15'000),
                                static_cast<float>(i) / 4,
                                {static_cast<std::uint16_t>(i), 7},
                                "bob",
                                99};
            entities_.push_back(i % 2 == 0 ? *world.spawn(body, PlaceThen{{i, -i}}, Magic{})
                                           : *world.spawn(body, PlaceThen{{i, -i}}, Mana{5}));
        }
        for (std::size_t i = 40; i < 60; ++i)
            ASSERT_EQ(world.destroy(entities_[i]), Status::ok);
        ASSERT_TRUE(world.spawn(SwitchedThen{-3}));
        file_ = save(world, then_.commit());
    }
    // Everything but the values: the same entities in the same rows.
    void expect_same_rows(World& world) {
        const WorldHeader& a = then_.world().core().header();
        const WorldHeader& b = world.core().header();
        EXPECT_EQ(a.live_entities, b.live_entities);
        EXPECT_EQ(a.first_free, b.first_free);
        EXPECT_EQ(a.used_slots, b.used_slots);
        EXPECT_EQ(a.tick, b.tick);
        const auto* const slots = then_.world().core().at(a.entities);
        EXPECT_EQ(std::memcmp(slots, world.core().at(b.entities), a.used_slots * sizeof(EntitySlot)), 0);
    }

    EcsRig then_;
    EcsRig now_;
    std::vector<Entity> entities_;
    std::vector<std::byte> file_;
};

TEST_F(WorldFileTest, TheSameComponentsComeBackAsTheSameBytes) {
    World& world = now_.world();
    ASSERT_TRUE(world.component<Rage>() && world.component<BodyThen>());
    const Entity old = *world.spawn(Rage{3}, BodyThen{});
    const auto tick = load(world, file_);
    ASSERT_TRUE(tick) << status_name(tick.status());
    EXPECT_EQ(now_.bytes(), then_.bytes());
    expect_same_rows(world);
    EXPECT_EQ(world.get<BodyThen>(entities_[9])->marks[0], 9);
    // Components have the numbers of the file, and new ones come behind.
    EXPECT_EQ(world.get<Rage>(entities_[9]), nullptr);
    ASSERT_TRUE(world.add(entities_[9], Rage{8}));
    EXPECT_EQ(world.get<Rage>(entities_[9])->amount, 8U);
    EXPECT_EQ((Query<const Mana&>(world).count()), 140U);
    now_.commit();
    // What was there before can be gone back to.
    ASSERT_TRUE(now_.ring().rollback(*tick - 1));
    EXPECT_EQ(world.core().header().live_entities, 1U);
    EXPECT_TRUE(world.is_alive(old));
    EXPECT_EQ(world.get<Rage>(old)->amount, 3U);
    EXPECT_EQ((Query<const Rage&, const BodyThen&>(world).count()), 1U);
    BodyThen body{};
    body.kind = 6;
    const Entity next = *world.spawn(Rage{4}, body);
    EXPECT_EQ(world.get<BodyThen>(next)->kind, 6);
    EXPECT_EQ(world.get<Rage>(next)->amount, 4U);
    now_.commit();
}

TEST_F(WorldFileTest, FieldsGoByTheirNames) {
    World& world = now_.world();
    ASSERT_TRUE(world.component<BodyNow>() && world.component<PlaceNow>() && world.component<SwitchedNow>());
    const std::array changes = {renamed_component("Place", "Site"), renamed_field("Site", "at", "place"),
                                renamed_field("Body", "mood", "standing")};
    WorldLoadProblem problem;
    const auto tick = load(world, file_, {.changes = changes, .problem = &problem});
    std::array<char, 200> text;
    ASSERT_TRUE(tick) << status_name(tick.status()) << describe_problem(problem, text);
    EXPECT_EQ(world.check(), Status::ok);
    expect_same_rows(world);
    for (std::size_t i = 0; i < entities_.size(); ++i) {
        if (i >= 40 && i < 60) continue;
        SCOPED_TRACE(i);
        const auto number = static_cast<std::int32_t>(i);
        const BodyNow* const body = world.get<BodyNow>(entities_[i]);
        ASSERT_NE(body, nullptr);
        EXPECT_EQ(body->weight, static_cast<double>(number) / 4);
        EXPECT_EQ(body->fresh, 0U);
        EXPECT_EQ(body->other, 0);
        EXPECT_EQ(body->kind, i % 200);
        EXPECT_EQ(body->standing, -number % 100);
        // It became `standing`: this one is new.
        EXPECT_EQ(body->mood, 0);
        EXPECT_EQ(body->level, number * 100 % 30'000 - 15'000);
        EXPECT_EQ(body->marks, (std::array<std::uint16_t, 4>{static_cast<std::uint16_t>(i), 7, 0, 0}));
        EXPECT_EQ(body->tag, "bob");
        const PlaceNow* const place = world.get<PlaceNow>(entities_[i]);
        ASSERT_NE(place, nullptr);
        EXPECT_EQ(place->place.x, number);
        EXPECT_EQ(place->place.y, -number);
        EXPECT_EQ(place->target.x, 0);
    }
    const Entity switched = Query<const SwitchedNow&>(world).first();
    EXPECT_EQ(world.get<SwitchedNow>(switched)->level, -3);
    EXPECT_TRUE(world.disable<SwitchedNow>(switched));
    // It goes on as a world that was never saved.
    ASSERT_TRUE((world.spawn_copies(5'000, BodyNow{}, PlaceNow{})));
    EXPECT_EQ((Query<const BodyNow&>(world).count()), 5'280U);
    EXPECT_EQ((Query<const Mana&>(world).count()), 140U);
    now_.commit();
}

TEST_F(WorldFileTest, SparseComponentsAndSingletonsAreConvertedToo) {
    World& old = then_.world();
    for (std::uint32_t i = 0; i < 200; i += 2)
        if (old.is_alive(entities_[i])) {
            ASSERT_TRUE(old.add(entities_[i], SparkThen{i}));
        }
    old.edit_resource<ClockThen>()->hours = -7;
    const std::vector<std::byte> file = save(old, then_.commit());
    World& world = now_.world();
    ASSERT_TRUE(world.component<SparkNow>());
    ASSERT_NE(world.edit_resource<ClockNow>(), nullptr);
    ASSERT_TRUE(load(world, file));
    EXPECT_EQ(world.resource<ClockNow>()->hours, -7);
    EXPECT_EQ(world.resource<ClockNow>()->minutes, 0);
    for (std::uint32_t i = 0; i < 200; ++i) {
        const SparkNow* const spark = world.get<SparkNow>(entities_[i]);
        const bool has_one = i % 2 == 0 && (i < 40 || i >= 60);
        ASSERT_EQ(spark != nullptr, has_one) << i;
        if (has_one) {
            EXPECT_EQ(spark->heat, i);
        }
        if (has_one) {
            EXPECT_EQ(spark->age, 0U);
        }
    }
    now_.commit();
    const std::array changes = {removed_component("Spark")};
    EcsRig other;
    ASSERT_TRUE(load(other.world(), file, {.changes = changes}));
    EXPECT_EQ(other.world().get<SparkThen>(entities_[0]), nullptr);
    ASSERT_TRUE(other.world().add(entities_[0], SparkThen{1}));
    EXPECT_EQ(other.world().get<SparkThen>(entities_[0])->heat, 1U);
    other.commit();
}

TEST_F(WorldFileTest, RemovedComponentsAreTakenFromTheirEntities) {
    World& world = now_.world();
    const std::array changes = {removed_component("Mana"), removed_component("Body")};
    ASSERT_TRUE(load(world, file_, {.changes = changes}));
    EXPECT_EQ(world.check(), Status::ok);
    EXPECT_EQ((Query<const PlaceThen&>(world).count()), 280U);
    EXPECT_EQ((Query<const PlaceThen&, With<Magic>>(world).count()), 140U);
    EXPECT_EQ((Query<With<Mana>>(world).count()), 0U);
    // In the order in which they were.
    std::int32_t before = -1;
    Query<const PlaceThen&, Without<Magic>>(world).each([&](const PlaceThen& place) {
        EXPECT_TRUE(place.at.x > before || place.at.x >= 40);
        before = place.at.x;
    });
    for (std::size_t i = 0; i < 40; ++i)
        EXPECT_EQ(world.get<PlaceThen>(entities_[i])->at.x, static_cast<std::int32_t>(i));
    now_.commit();
}

TEST_F(WorldFileTest, WhatCannotBeConvertedIsNamed) {
    const auto expect = [&](EcsRig& rig, std::string_view wanted, std::span<const SchemaChange> changes) {
        const std::vector<std::byte> before = rig.bytes();
        const Tick newest = rig.ring().newest();
        WorldLoadProblem problem;
        EXPECT_EQ(load(rig.world(), file_, {.changes = changes, .problem = &problem}).status(),
                  Status::wrong_layout);
        std::array<char, 200> text;
        EXPECT_EQ(describe_problem(problem, text), wanted);
        EXPECT_EQ(rig.bytes(), before);
        EXPECT_EQ(rig.ring().newest(), newest);
    };
    ASSERT_TRUE(now_.world().component<BodyOfOtherKind>());
    expect(now_, "Body.weight was saved as another kind of value", {});
    EcsRig narrower;
    ASSERT_TRUE(narrower.world().component<BodyNarrower>());
    expect(narrower, "Body.level was saved as another kind of value", {});
    const std::array dropped = {renamed_field("Body", "no more", "level")};
    EXPECT_TRUE(load(narrower.world(), file_, {.changes = dropped}));
    EcsRig twice;
    ASSERT_TRUE(twice.world().component<Mana>());
    const std::array changes = {renamed_component("Body", "Mana")};
    expect(twice, "Mana was saved twice: under this name, and under one that became it", changes);
    // Whether this program knows the name or not.
    EcsRig stranger;
    ASSERT_TRUE(stranger.world().component<Health>());
    stranger.commit();
    expect(stranger, "Mana was saved twice: under this name, and under one that became it", changes);
}

TEST_F(WorldFileTest, DamagedAndForeignFilesChangeNothing) {
    World& world = now_.world();
    ASSERT_TRUE(world.spawn(BodyNow{}));
    now_.commit();
    const std::vector<std::byte> before = now_.bytes();
    const Tick newest = now_.ring().newest();
    const auto expect = [&](const std::vector<std::byte>& file, Status status) {
        EXPECT_EQ(load(world, file).status(), status);
        EXPECT_EQ(now_.bytes(), before);
        EXPECT_EQ(now_.ring().newest(), newest);
    };
    expect({}, Status::wrong_format);
    expect(std::vector<std::byte>(5'000, std::byte{1}), Status::wrong_format);
    for (const std::size_t length : {std::size_t{50}, file_.size() / 2, file_.size() - 1})
        expect({file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(length)}, Status::corrupt_data);
    std::vector<std::byte> flipped = file_;
    flipped[flipped.size() / 3] ^= std::byte{4};
    expect(flipped, Status::corrupt_data);
    EcsRig larger(std::uint64_t{9} << 20);
    ASSERT_TRUE(larger.world().spawn(BodyNow{}));
    WorldLoadProblem problem;
    const std::vector<std::byte> file = save(larger.world(), larger.commit());
    EXPECT_EQ(load(world, file, {.problem = &problem}).status(), Status::wrong_layout);
    EXPECT_EQ(problem.component, "the world");
    EXPECT_FALSE(load_world(world, "no such file.image"));
}

// A world that was damaged before it was saved, with pages whose hashes are right.
TEST_F(WorldFileTest, UnsoundWorldsChangeNothing) {
    World& world = now_.world();
    ASSERT_TRUE(world.spawn(Position{}));
    now_.commit();
    const std::vector<std::byte> before = now_.bytes();
    auto& core = then_.world().core();
    const std::array<std::uint32_t, 3> places = {core.header().archetypes + 56, core.header().entities,
                                                 core.archetype(0).blocks[0]};
    for (const std::uint32_t place : places) {
        const Tick tick = then_.ring().newest();
        core.declare(core.at(place), 4);
        std::memset(core.at(place), 0xEE, 4);
        const auto damaged = then_.ring().commit();
        ASSERT_TRUE(damaged);
        EXPECT_EQ(load(world, save(then_.world(), *damaged)).status(), Status::corrupt_data);
        EXPECT_EQ(now_.bytes(), before);
        ASSERT_TRUE(then_.ring().rollback(tick));
    }
}

TEST_F(WorldFileTest, AFullWorldStaysAsItWas) {
    EcsRig tight(std::uint64_t{1} << 20);
    EcsRig source(std::uint64_t{1} << 20);
    ASSERT_TRUE(tight.is_ready() && source.is_ready());
    ASSERT_TRUE(source.world().spawn_copies(10'000, SwitchedThen{1}));
    while (source.world().heap().allocate(kStatePageBytes)) {
    }
    const std::vector<std::byte> file = save(source.world(), source.commit());
    const Entity ada = *tight.world().spawn(SwitchedNow{4});
    const auto loaded = load(tight.world(), file);
    EXPECT_EQ(loaded.status(), Status::capacity_exhausted);
    EXPECT_EQ(tight.world().check(), Status::ok);
    EXPECT_EQ(tight.world().get<SwitchedNow>(ada)->level, 4);
    EXPECT_EQ((Query<const SwitchedNow&>(tight.world()).count()), 1U);
    tight.commit();
}

}  // namespace
}  // namespace ouro
