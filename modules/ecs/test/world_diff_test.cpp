#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/world_diff.hpp>
#include <ouro/ecs/world_text.hpp>

#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

struct Weather {
    std::uint32_t rain;
    std::uint32_t wind;
};

class WorldDiffTest : public EcsTest {
protected:
    static std::string text_of(const WorldChange& change) {
        std::array<char, 300> text;
        return std::string(describe_change(change, text));
    }
    // By what differs, and by looking at everything.
    std::vector<std::string> changes(const TickView& before, const TickView& after) {
        std::vector<std::string> fast;
        std::vector<std::string> slow;
        EXPECT_EQ(diff_worlds(before, after, "world",
                              [&](const WorldChange& change) { fast.push_back(text_of(change)); }),
                  Status::ok);
        EXPECT_EQ(diff_worlds(*WorldReader::open(before), *WorldReader::open(after),
                              [&](const WorldChange& change) { slow.push_back(text_of(change)); }),
                  Status::ok);
        EXPECT_EQ(fast, slow);
        return fast;
    }
    std::vector<std::string> changes(Tick before, Tick after) {
        return changes(*rig_.ring().view(before), *rig_.ring().view(after));
    }
    static std::string name(Entity entity) {
        std::array<char, 40> text;
        return std::string(describe_entity(entity, text));
    }
};

TEST_F(WorldDiffTest, NamesEntitiesComponentsAndFields) {
    const Entity ada = *world().spawn(Position{1, 2}, Health{5});
    const Entity bob = *world().spawn(Position{3, 4}, Alert{1});
    const Entity gone = *world().spawn(Health{1});
    const Tick first = rig_.commit();
    world().edit<Health>(ada)->points = 6;
    world().edit<Position>(bob)->y = 0.5F;
    ASSERT_EQ(world().destroy(gone), Status::ok);
    ASSERT_TRUE(world().add(ada, Frozen{}));
    ASSERT_TRUE(world().remove<Position>(ada));
    ASSERT_TRUE(world().disable<Alert>(bob));
    const Entity come = *world().spawn(Genome{});
    const Entity later = *world().spawn(Velocity{});
    const Tick second = rig_.commit();
    const std::vector<std::string> expected = {
        name(ada) + " Position removed", name(ada) + " Health.points 5 -> 6",
        name(ada) + " Frozen added",     name(bob) + " Position.y 4 -> 0.5",
        name(bob) + " Alert disabled",   name(gone) + " destroyed",
        name(come) + " spawned",         name(later) + " spawned"};
    EXPECT_EQ(changes(first, second), expected);
    EXPECT_EQ(come.index(), gone.index());
    EXPECT_TRUE(changes(second, second).empty());
    // The other way round.
    EXPECT_EQ(changes(second, first).size(), expected.size());
    std::size_t told = 0;
    EXPECT_EQ(diff_worlds(*world().at(first), *world().at(second), [&](const WorldChange&) { ++told; }),
              Status::ok);
    EXPECT_EQ(told, expected.size());
}

TEST_F(WorldDiffTest, ComparesTwoFutures) {
    std::vector<Entity> entities;
    for (std::int32_t i = 0; i < 500; ++i)
        entities.push_back(*world().spawn(Health{i}, Position{0, 0}));
    const Tick fork = rig_.commit();
    world().edit<Health>(entities[400])->points = -1;
    const Tick end = rig_.commit();
    const auto kept = rig_.ring().branch(fork);
    ASSERT_TRUE(kept) << status_name(kept.status());
    world().edit<Health>(entities[400])->points = -2;
    world().edit<Position>(entities[3])->x = 9;
    ASSERT_EQ(rig_.commit(), end);
    const auto was = rig_.ring().view(*kept, end);
    const auto is = rig_.ring().view(end);
    ASSERT_TRUE(was && is);
    EXPECT_EQ(changes(*was, *is),
              (std::vector<std::string>{name(entities[3]) + " Position.x 0 -> 9",
                                        name(entities[400]) + " Health.points -1 -> -2"}));
}

TEST_F(WorldDiffTest, KnowsSparseComponentsAndSingletons) {
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Health{2});
    const Entity eve = *world().spawn(Health{3});
    ASSERT_TRUE(world().add(ada, Burning{5}));
    ASSERT_TRUE(world().add(bob, Burning{6}));
    *world().edit_resource<Weather>() = {1, 2};
    const Tick first = rig_.commit();
    // The last row goes, and leaves no trace in the rows themselves.
    ASSERT_TRUE(world().remove<Burning>(bob));
    *world().edit_resource<Weather>() = {1, 3};
    const Tick second = rig_.commit();
    EXPECT_EQ(changes(first, second),
              (std::vector<std::string>{"world Weather.wind 2 -> 3", name(bob) + " Burning removed"}));
    ASSERT_TRUE(world().add(eve, Burning{7}));
    world().edit<Burning>(ada)->ticks = 4;
    const Tick third = rig_.commit();
    EXPECT_EQ(changes(second, third),
              (std::vector<std::string>{name(ada) + " Burning.ticks 5 -> 4", name(eve) + " Burning added"}));
    const auto view = rig_.ring().view(third);
    const auto reader = WorldReader::open(*view);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->check(), Status::ok);
    Burning value{};
    const auto burning = reader->find_component("Burning");
    ASSERT_TRUE(burning);
    EXPECT_EQ(reader->read_cell(eve, *burning, std::as_writable_bytes(std::span(&value, 1))), Status::ok);
    EXPECT_EQ(value.ticks, 7U);
    EXPECT_EQ(reader->read_cell(bob, *burning, std::as_writable_bytes(std::span(&value, 1))),
              Status::not_found);
}

// Both ways find the same, whatever happens.
TEST_F(WorldDiffTest, FindsTheSameByRangesAndByLooking) {
    const std::uint64_t seed = 0xd1ffULL;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Entity> entities;
    std::vector<Tick> ticks;
    for (int round = 0; round < 30; ++round) {
        for (std::uint32_t step = 0; step < 60; ++step) {
            const Entity one = entities.empty()
                                   ? Entity()
                                   : entities[random.below(static_cast<std::uint32_t>(entities.size()))];
            switch (random.below(8)) {
                case 0:
                    static_cast<void>(world().destroy(one));
                    break;
                case 1:
                    static_cast<void>(world().add(one, Alert{random.below(9)}));
                    break;
                case 2:
                    static_cast<void>(world().remove<Health>(one));
                    break;
                case 3:
                    static_cast<void>(world().disable<Alert>(one));
                    break;
                case 4:
                    static_cast<void>(world().enable<Alert>(one));
                    break;
                case 5:
                    if (Health* const health = world().edit<Health>(one)) ++health->points;
                    break;
                default:
                    entities.push_back(*world().spawn(Health{1}, Velocity{}));
            }
        }
        ticks.push_back(rig_.commit());
        const auto other = ticks[random.below(static_cast<std::uint32_t>(ticks.size()))];
        static_cast<void>(changes(other, ticks.back()));
    }
}

TEST_F(WorldDiffTest, ValuesAreWrittenByTheirKind) {
    const auto text = [](FieldKind kind, std::uint32_t count, const auto& value) {
        FieldRecord field{};
        field.kind = static_cast<std::uint8_t>(kind);
        field.count = count;
        field.element_bytes = static_cast<std::uint32_t>(sizeof(value) / count);
        std::array<char, 80> out;
        return std::string(describe_value(field, std::as_bytes(std::span(&value, 1)), out));
    };
    EXPECT_EQ(text(FieldKind::boolean, 1, true), "true");
    EXPECT_EQ(text(FieldKind::signed_integer, 1, std::int16_t{-300}), "-300");
    EXPECT_EQ(text(FieldKind::unsigned_integer, 1, ~std::uint64_t{0}), "18446744073709551615");
    EXPECT_EQ(text(FieldKind::floating, 1, 0.25F), "0.25");
    EXPECT_EQ(text(FieldKind::floating, 1, -2.5), "-2.5");
    EXPECT_EQ(text(FieldKind::text, 1, FixedString<7>("bob\x1b")), "\"bob?\"");
    EXPECT_EQ(text(FieldKind::character, 4, std::array<char, 4>{'a', 'b', 0, 0}), "\"ab\"");
    EXPECT_EQ(text(FieldKind::signed_integer, 3, std::array<std::int32_t, 3>{1, -2, 3}), "[1, -2, 3]");
    EXPECT_EQ(text(FieldKind::handle, 1, Entity(7, 2)), "7:2");
    EXPECT_EQ(text(FieldKind::handle, 1, Entity()), "none");
    EXPECT_EQ(text(FieldKind::offset, 1, std::uint32_t{0x12ab}), "0x000012ab");
    const std::array<std::int32_t, 100> many{};
    EXPECT_EQ(text(FieldKind::signed_integer, 100, many).size(), 79U);
}

}  // namespace
}  // namespace ouro
