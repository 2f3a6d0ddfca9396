// Whose a byte of a world is, in the words of reports.
#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/worlds.hpp>

#include <algorithm>
#include <string>

namespace ouro {
namespace {

using namespace testing_support;

struct Clock {
    std::uint32_t ticks;
    std::array<std::uint16_t, 2> hands;
};

class WorldOwnerTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        for (int i = 0; i < 17; ++i)
            ASSERT_TRUE(world().spawn(Position{1, 2}, Alert{}));
        const auto ada = world().spawn(Position{3, 4}, Alert{}, Burning{5});
        ASSERT_TRUE(ada);
        ada_ = *ada;
        ASSERT_EQ(set_name(world(), ada_, "ada"), Status::ok);
        ASSERT_NE(world().edit_resource<Clock>(), nullptr);
        rig_.commit();
    }

    std::uint64_t offset_of(const void* at) {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - rig_.ring().image().data);
    }
    std::string text_at(std::uint64_t offset) {
        std::array<char, 300> text;
        return std::string(describe_owner(find_owner(rig_.ring(), offset), offset, text));
    }
    std::string text_of(const void* at) { return text_at(offset_of(at)); }
    const WorldHeader& header() { return world().core().header(); }

    Entity ada_;
};

TEST_F(WorldOwnerTest, ValuesHaveAnEntityAndAField) {
    const Position* const position = world().get<Position>(ada_);
    EXPECT_EQ(text_of(&position->y), "world 'world': entity 17:1 ('ada') Position.y, byte 0 of 4");
    const ImageOwner owner = find_owner(rig_.ring(), offset_of(&position->x) + 3);
    EXPECT_EQ(owner.kind, OwnerKind::value);
    EXPECT_EQ(Entity::from_bits(owner.number), ada_);
    EXPECT_EQ(owner.name, "world");
    EXPECT_EQ(owner.words, "entity 17:1 ('ada') Position.x");
    EXPECT_EQ(owner.offset, offset_of(&position->x));
    EXPECT_EQ(owner.bytes, sizeof(float));
    EXPECT_EQ(text_of(world().get<Burning>(ada_)),
              "world 'world': entity 17:1 ('ada') Burning.ticks, byte 0 of 4");
    EXPECT_EQ(text_of(position - 17), "world 'world': entity 0:1 Position.x, byte 0 of 4");
    const Clock* const clock = world().resource<Clock>();
    EXPECT_EQ(text_of(&clock->hands[1]), "world 'world': resource Clock.hands[1], byte 0 of 2");
    EXPECT_EQ(text_of(position + 1),
              "world 'world': unused row 18 of Position in archetype 0 (Position, Alert), byte 0 of 8");
}

TEST_F(WorldOwnerTest, SoDoesWhatLeadsToThem) {
    detail::WorldCore& core = world().core();
    EXPECT_EQ(text_of(&header().live_entities), "world 'world': its header, live_entities, byte 0 of 4");
    EXPECT_EQ(text_at(header().entities + 17 * sizeof(EntitySlot)),
              "world 'world': the table of entities, entity 17:1 ('ada'): row, byte 0 of 4");
    EXPECT_EQ(text_at(header().entities + 100 * sizeof(EntitySlot) + 6),
              "world 'world': the table of entities, slot 100, which is free: generation, byte 0 of 2");
    const ComponentId id = *world().component<Position>();
    EXPECT_EQ(text_of(&core.component(id).changed_tick),
              "world 'world': the registry, Position: changed_tick, byte 0 of 4");
    EXPECT_EQ(text_at(core.component(id).fields + sizeof(FieldRecord) + offsetof(FieldRecord, count)),
              "world 'world': the registry, field 1 of Position: count, byte 0 of 4");
    const ArchetypeRecord& archetype = core.archetypes()[0];
    EXPECT_EQ(text_of(&archetype.row_count),
              "world 'world': the directory, archetype 0 (Position, Alert): row_count, byte 0 of 4");
    EXPECT_EQ(text_at(archetype.column_map),
              "world 'world': archetype 0 (Position, Alert): its list of columns");
    EXPECT_EQ(text_of(&archetype + 1),
              "world 'world': the directory, unused record 1: mask.words[0], byte 0 of 8");
    const BlockColumn* const marks = core.block(archetype, 0);
    EXPECT_EQ(
        text_of(&marks[1].tick),
        "world 'world': marks of Position, block 0 of archetype 0 (Position, Alert): tick, byte 0 of 4");
    EXPECT_EQ(
        text_of(&core.cell<Entity>(marks[0], 17)),
        "world 'world': who has row 17: entity 17:1 ('ada') in archetype 0 (Position, Alert), byte 0 of "
        "8");
    EXPECT_EQ(text_at(header().names), "world 'world': the index of names, byte 0 of 16");
    const std::array<std::string, 3> heats = {"hot", "warm", "cold"};
    const auto& arenas = header().arenas;
    const auto with_room =
        std::ranges::find_if(arenas, [](const HeatArena& each) { return each.cursor < each.end; });
    ASSERT_NE(with_room, arenas.end());
    EXPECT_EQ(text_at(with_room->cursor), "world 'world': unused room for small " +
                                              heats[static_cast<std::size_t>(with_room - arenas.begin())] +
                                              " columns, byte 0 of " +
                                              std::to_string(with_room->end - with_room->cursor));
}

TEST_F(WorldOwnerTest, SoDoBitsAndTables) {
    world().edit<Position>(ada_)->x = 7;
    ASSERT_TRUE(world().disable<Alert>(ada_));
    rig_.commit();
    detail::WorldCore& core = world().core();
    const BlockColumn* const marks = core.block(core.archetypes()[0], 0);
    ASSERT_NE(marks[1].planes, 0U);
    EXPECT_EQ(text_at(marks[1].planes + 2),
              "world 'world': change bits of Position, rows 16 to 23 of archetype 0 (Position, Alert)");
    EXPECT_EQ(
        text_at(marks[2].planes + 16 + 2),
        "world 'world': which are switched off of Alert, rows 16 to 23 of archetype 0 (Position, Alert)");
    const SparseTable& table = core.sparse_table(*world().component<Burning>());
    EXPECT_EQ(text_of(&table.rows.row_count),
              "world 'world': the table of Burning: rows.row_count, byte 0 of 4");
    const auto* const pages = reinterpret_cast<const std::uint32_t*>(core.at(table.pages));
    EXPECT_EQ(text_at(pages[0] + 17 * 4),
              "world 'world': the table of Burning: the row of entity 17:1 ('ada'), byte 0 of 4");
}

TEST_F(WorldOwnerTest, WhatIsNotTheWorldsIsTheHeaps) {
    const auto block = world().heap().allocate(1000);
    ASSERT_TRUE(block);
    EXPECT_EQ(find_owner(rig_.ring(), offset_of(block->data)).kind, OwnerKind::heap_memory);
    world().heap().deallocate(*block);
    const ImageOwner freed = find_owner(rig_.ring(), offset_of(block->data) + 100);
    EXPECT_EQ(freed.kind, OwnerKind::free_memory);
}

// "Checksums differ, now what?"
TEST_F(WorldOwnerTest, SyncTestNamesTheEntity) {
    float secret = 1;
    const auto step = [&](Tick tick) {
        world().edit<Position>(ada_)->x += 1;
        if (tick == 4) world().edit<Position>(ada_)->y = secret;
        secret += 1;
    };
    for (Tick tick = 2; tick <= 6; ++tick) {
        step(tick);
        rig_.commit();
    }
    const auto outcome = sync_test(world(), 4, step);
    ASSERT_TRUE(outcome && outcome->differs);
    EXPECT_EQ(outcome->difference.tick, 4U);
    std::array<char, 500> text;
    const std::string all(describe_difference(outcome->difference, text));
    EXPECT_NE(all.find("when simulated again: world 'world': entity 17:1 ('ada') Position.y, byte "),
              std::string::npos)
        << all;
    EXPECT_EQ(Entity::from_bits(outcome->difference.owner.number), ada_);
}

TEST_F(WorldOwnerTest, TheVerifierNamesTheEntity) {
    const_cast<Position*>(world().get<Position>(ada_))->y = 5;
    const_cast<Burning*>(world().get<Burning>(ada_))->ticks = 9;
    std::vector<std::string> told;
    const VerifyOptions options{.finds_nans = false, .finds_addresses = false};
    ASSERT_TRUE(verify_image(rig_.ring(), options,
                             [&](const Finding& finding) { told.emplace_back(finding.owner.words.view()); }));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_TRUE(std::ranges::count(told, "entity 17:1 ('ada') Position.y") == 1);
    EXPECT_TRUE(std::ranges::count(told, "entity 17:1 ('ada') Burning.ticks") == 1);
}

TEST(WorldOwner, EachValueOfALargeWorldIsItsEntitys) {
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    Random random(7);
    std::vector<Entity> all;
    for (int i = 0; i < 3'000; ++i) {
        const auto entity = random.below(2) == 0 ? rig.world().spawn(Position{}, Velocity{})
                                                 : rig.world().spawn(Position{}, Stunned{});
        ASSERT_TRUE(entity);
        all.push_back(*entity);
        if (random.below(4) != 0) continue;
        const std::size_t gone = random.below(static_cast<std::uint32_t>(all.size()));
        ASSERT_EQ(rig.world().destroy(all[gone]), Status::ok);
        all[gone] = all.back();
        all.pop_back();
    }
    rig.commit();
    const auto owner_of = [&](const void* at) {
        const auto offset = static_cast<const std::byte*>(at) - rig.ring().image().data;
        return find_owner(rig.ring(), static_cast<std::uint64_t>(offset));
    };
    for (std::size_t i = 0; i < all.size(); i += 13) {
        ASSERT_EQ(Entity::from_bits(owner_of(rig.world().get<Position>(all[i])).number), all[i]);
        if (const Velocity* const velocity = rig.world().get<Velocity>(all[i])) {
            ASSERT_EQ(Entity::from_bits(owner_of(&velocity->z).number), all[i]);
        }
        if (const Stunned* const stunned = rig.world().get<Stunned>(all[i])) {
            ASSERT_EQ(Entity::from_bits(owner_of(&stunned->strength).number), all[i]);
        }
    }
}

// Whatever lies there is read with suspicion.
TEST_F(WorldOwnerTest, DamageIsSurvived) {
    const auto bytes = static_cast<std::uint32_t>(256 << 10);
    std::byte* const start = rig_.ring().segment_block("world")->data;
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        start[random.below(bytes)] = static_cast<std::byte>(random.below(256));
        for (int probe = 0; probe < 20; ++probe)
            ASSERT_FALSE(text_of(start + random.below(bytes)).empty());
    }
    ASSERT_TRUE(rig_.ring().mark(start, bytes) == Status::ok && rig_.ring().rollback(1));
}

TEST_F(WorldOwnerTest, BeforeItWasMadeThereIsNone) {
    const std::uint64_t offset = offset_of(world().get<Position>(ada_));
    ASSERT_TRUE(rig_.ring().rollback(0));
    EXPECT_EQ(text_at(offset), "nobody known");
}

}  // namespace
}  // namespace ouro
