// What get and edit remember of an archetype in an epoch: never of another time, nor for another's handle.
#include "ecs_rig.hpp"

#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class CellPlacesTest : public EcsTest {
protected:
    std::vector<Entity> spawn(int count) {
        std::vector<Entity> made;
        for (int i = 0; i < count; ++i)
            made.push_back(*world().spawn(Velocity{static_cast<float>(i), 0, 0}));
        return made;
    }
    [[nodiscard]] float x_of(Entity entity) { return world().get<Velocity>(entity)->x; }
};

TEST_F(CellPlacesTest, RowsOfBlocksThatCameLaterAreFound) {
    const std::vector<Entity> first = spawn(10);
    EXPECT_EQ(x_of(first[9]), 9);
    // Beyond the blocks that the first look knew of, within one epoch.
    const std::vector<Entity> more = spawn(3'000);
    for (std::size_t i = 0; i < more.size(); ++i)
        ASSERT_EQ(x_of(more[i]), static_cast<float>(i));
    world().edit<Velocity>(more[2'999])->y = 7;
    EXPECT_EQ(world().get<Velocity>(more[2'999])->y, 7);
    rig_.commit();
}

TEST_F(CellPlacesTest, ARollbackToAnotherArchetypeIsNoticed) {
    const Tick empty = rig_.commit();
    const std::vector<Entity> heavy = spawn(100);
    EXPECT_EQ(x_of(heavy[99]), 99);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(empty));
    // The same number is that of another combination of components now, with other columns.
    const Entity light = *world().spawn(Genome{{1, 2, 3}}, Velocity{42, 0, 0});
    EXPECT_EQ(x_of(light), 42);
    EXPECT_EQ(world().get<Genome>(light)->genes[2], 3U);
    EXPECT_EQ(world().get<Velocity>(heavy[99]), nullptr);
    rig_.commit();
}

TEST_F(CellPlacesTest, WhatIsGoneOrForgedIsNobodys) {
    const std::vector<Entity> all = spawn(3);
    EXPECT_EQ(x_of(all[1]), 1);
    ASSERT_EQ(world().destroy(all[1]), Status::ok);
    EXPECT_EQ(world().get<Velocity>(all[1]), nullptr);
    EXPECT_EQ(world().edit<Velocity>(all[1]), nullptr);
    const auto slot = static_cast<std::uint32_t>(all[2].index());
    const auto generation = static_cast<std::uint32_t>(all[2].generation());
    // Whatever stands above the sixteen bits of a generation.
    for (unsigned bit = 0; bit < 32; ++bit) {
        const Entity forged(slot, generation ^ std::uint32_t{1} << bit);
        EXPECT_EQ(world().get<Velocity>(forged), nullptr) << bit;
        EXPECT_EQ(world().edit<Velocity>(forged), nullptr) << bit;
    }
    EXPECT_EQ(world().get<Velocity>(Entity(UINT32_MAX, 1)), nullptr);
    EXPECT_EQ(world().get<Velocity>(Entity{}), nullptr);
    EXPECT_EQ(world().get<Position>(all[2]), nullptr);
    EXPECT_EQ(x_of(all[2]), 2);
}

template <unsigned>
struct Mark {};

template <unsigned... kNumbers>
void mark_by_bits(World& world, Entity entity, unsigned bits, std::integer_sequence<unsigned, kNumbers...>) {
    ((void)((bits >> kNumbers & 1) != 0 && world.add<Mark<kNumbers>>(entity)), ...);
}

// More archetypes than a type has places.
TEST_F(CellPlacesTest, ArchetypesThatShareAPlaceAreToldApart) {
    const std::vector<Entity> all = spawn(32);
    for (unsigned i = 0; i < all.size(); ++i)
        mark_by_bits(world(), all[i], i, std::make_integer_sequence<unsigned, 5>{});
    for (int turn = 0; turn < 3; ++turn) {
        for (unsigned i = 0; i < all.size(); ++i) {
            ASSERT_EQ(x_of(all[i]), static_cast<float>(i));
            world().edit<Velocity>(all[i])->y += 1;
        }
        rig_.commit();
    }
    for (const Entity entity : all)
        EXPECT_EQ(world().get<Velocity>(entity)->y, 3);
}

// Twelve bytes a row: some lie in two pages, and both of them are kept.
TEST_F(CellPlacesTest, CellsAcrossPagesAreDeclaredAsWhole) {
    const std::vector<Entity> all = spawn(4'000);
    rig_.commit();
    for (int turn = 1; turn <= 3; ++turn) {
        const auto before = rig_.bytes();
        const Tick kept = rig_.ring().newest();
        for (std::size_t i = static_cast<std::size_t>(turn); i < all.size(); i += 7)
            *world().edit<Velocity>(all[i]) = {-1, -2, static_cast<float>(turn)};
        EXPECT_EQ((Query<const Velocity&, ChangedNow<Velocity>>(world()).count()),
                  (all.size() - static_cast<std::size_t>(turn) + 6) / 7);
        rig_.commit();
        const auto after = rig_.bytes();
        ASSERT_TRUE(rig_.ring().rollback(kept));
        EXPECT_EQ(rig_.bytes(), before);
        for (std::size_t i = static_cast<std::size_t>(turn); i < all.size(); i += 7)
            *world().edit<Velocity>(all[i]) = {-1, -2, static_cast<float>(turn)};
        rig_.commit();
        EXPECT_EQ(rig_.bytes(), after);
    }
}

}  // namespace
}  // namespace ouro
