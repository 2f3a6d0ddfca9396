// What get and edit remember of an archetype in an epoch: never of another time, nor for another's handle.
#include "ecs_rig.hpp"

#include <ouro/ecs/detail/block_key.hpp>

#include <array>
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
    // The same number is that of another combination of components now, whose columns lie elsewhere.
    const Entity light = *world().spawn(Position{7, 8}, Velocity{42, 0, 0});
    EXPECT_EQ(x_of(light), 42);
    EXPECT_EQ(world().get<Position>(light)->y, 8);
    EXPECT_EQ(world().get<Velocity>(heavy[99]), nullptr);
    rig_.commit();
}

TEST_F(CellPlacesTest, WhatIsGoneOrForgedIsNobodys) {
    const std::vector<Entity> all = spawn(3);
    EXPECT_EQ(x_of(all[1]), 1);
    ASSERT_EQ(world().destroy(all[1]), Status::ok);
    EXPECT_EQ(world().get<Velocity>(all[1]), nullptr);
    EXPECT_EQ(world().edit<Velocity>(all[1]), nullptr);
    // Whatever stands above the sixteen bits of a generation.
    for (unsigned bit = 0; bit < 32; ++bit) {
        const Entity forged = Entity::from_bits(all[2].bits() ^ std::uint64_t{1} << (32 + bit));
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
TEST(CellPlaces, ArchetypesThatShareAPlaceAreToldApart) {
    EcsRig rig(std::uint64_t{8} << 20, {.max_entities = 1'000, .max_archetypes = 256});
    ASSERT_TRUE(rig.is_ready());
    std::vector<Entity> all;
    for (unsigned i = 0; i < 2 * detail::kPlacesOfType; ++i) {
        const auto x = static_cast<float>(i);
        all.push_back(*rig.world().spawn(Velocity{x, 0, 0}, Position{-x, 0}, Health{-1}));
        mark_by_bits(rig.world(), all[i], i, std::make_integer_sequence<unsigned, 7>{});
    }
    ASSERT_GE(rig.world().stats().archetypes, 2 * detail::kPlacesOfType);
    for (int turn = 0; turn < 3; ++turn) {
        for (unsigned i = 0; i < all.size(); ++i) {
            ASSERT_EQ(rig.world().get<Velocity>(all[i])->x, static_cast<float>(i));
            // Places of other types are taken as well, some of them by archetypes of this one.
            ASSERT_EQ(rig.world().get<Position>(all[i])->x, -static_cast<float>(i));
            ASSERT_EQ(rig.world().get<Health>(all[i])->points, -1);
            rig.world().edit<Velocity>(all[i])->y += 1;
        }
        rig.commit();
    }
    for (const Entity entity : all)
        EXPECT_EQ(rig.world().get<Velocity>(entity)->y, 3);
}

TEST(BlockKeys, TellTheBlockOfARow) {
    const detail::RowPlacer placer;
    std::array<bool, 32> taken{};
    for (std::uint32_t block = 0; block < kMaxBlocks; ++block) {
        const std::uint32_t first = first_row_of_block(block);
        const std::size_t key = detail::block_key(first);
        ASSERT_LT(key, taken.size());
        EXPECT_FALSE(taken[key]);
        taken[key] = true;
        for (const std::uint32_t row :
             {first, first + 1, first + rows_of_block(block) / 2, first + rows_of_block(block) - 1}) {
            EXPECT_EQ(detail::block_key(row), key) << row;
            EXPECT_EQ(placer.place(row).block, place_of_row(row).block) << row;
            EXPECT_EQ(placer.place(row).index, place_of_row(row).index) << row;
        }
    }
}

// Twelve bytes a row: some lie in two pages. Nothing else declares the second one.
TEST_F(CellPlacesTest, CellsAcrossPagesAreDeclaredAsWhole) {
    const std::vector<Entity> all = spawn(4'000);
    const Tick kept = rig_.commit();
    const auto before = rig_.bytes();
    const auto page_of = [&](const void* address) {
        const auto offset = static_cast<const std::byte*>(address) - rig_.ring().image().data;
        return static_cast<std::size_t>(offset) / kStatePageBytes;
    };
    int across = 0;
    for (const Entity entity : all) {
        const Velocity* const cell = world().get<Velocity>(entity);
        if (page_of(&cell->x) == page_of(&cell->z)) continue;
        ++across;
        // Twice: the first one brings the column to the tick, and goes another way.
        world().edit<Velocity>(all[0])->x = 1;
        *world().edit<Velocity>(entity) = {-1, -2, -3};
        EXPECT_EQ((Query<const Velocity&, ChangedNow<Velocity>>(world()).count()), 2U);
        rig_.commit();
        ASSERT_TRUE(rig_.ring().rollback(kept));
        EXPECT_EQ(rig_.bytes(), before);
    }
    EXPECT_GT(across, 3);
}

}  // namespace
}  // namespace ouro
