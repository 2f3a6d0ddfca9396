// As many archetypes as there can be. Not in wasm32, whose memory would be used up by it.
#include "ecs_rig.hpp"

#include <bit>

namespace ouro {
namespace {

using namespace testing_support;

template <unsigned kNumber>
struct Mark {};

constexpr unsigned kMarks = 16;

// Gives an entity the mark of a number, or takes it away.
template <unsigned... kNumbers>
Status toggle(World& world, Entity entity, unsigned number, std::integer_sequence<unsigned, kNumbers...>) {
    Status status = Status::not_found;
    const auto one = [&]<unsigned kNumber>() {
        status = world.has<Mark<kNumber>>(entity) ? world.remove<Mark<kNumber>>(entity).status()
                                                  : world.add<Mark<kNumber>>(entity).status();
    };
    ((kNumbers == number ? one.template operator()<kNumbers>() : void()), ...);
    return status;
}
Status toggle(World& world, Entity entity, unsigned number) {
    return toggle(world, entity, number, std::make_integer_sequence<unsigned, kMarks>());
}

// Each step of a Gray code gives or takes one mark, and leads to a combination that was not there before.
TEST(ManyArchetypes, TheLastOneIsAsGoodAsTheFirst) {
    const SegmentOptions segment{.name = "world", .bytes = std::uint64_t{128} << 20};
    auto ring = StateRing::create(
        {.segments = {&segment, 1}, .history_ticks = 4, .history_bytes = std::uint64_t{384} << 20});
    ASSERT_TRUE(ring);
    EXPECT_EQ(World::create(*ring, {.max_archetypes = kMaxArchetypes + 1}).status(), Status::bad_argument);
    auto world = World::create(*ring, {.max_entities = 1'000, .max_archetypes = kMaxArchetypes});
    ASSERT_TRUE(world);
    const Entity walker = *world->spawn();
    constexpr std::uint32_t kKeptAt = kMaxArchetypes - 10;
    Tick kept = 0;
    for (std::uint32_t step = 1; step < kMaxArchetypes; ++step) {
        const auto mark = static_cast<unsigned>(std::countr_zero(step));
        ASSERT_EQ(toggle(*world, walker, mark), Status::ok) << step;
        if (step == kKeptAt) kept = *world->commit();
    }
    EXPECT_EQ(world->stats().archetypes, kMaxArchetypes);
    // The one that is left.
    const Entity stays = *world->spawn(Mark<0>{}, Mark<1>{});
    EXPECT_EQ(toggle(*world, walker, static_cast<unsigned>(std::countr_zero(kMaxArchetypes))),
              Status::capacity_exhausted);
    EXPECT_TRUE(world->is_alive(walker));
    EXPECT_EQ((Query<With<Mark<0>>, With<Mark<1>>>(*world).count()), 1U);
    EXPECT_EQ(Query<Entity>(*world).count(), 2U);
    EXPECT_EQ((Query<Entity, With<Mark<1>>>(*world).first()), stays);
    // To those that are there it still goes.
    ASSERT_EQ(toggle(*world, walker, 1), Status::ok);
    EXPECT_EQ(world->check(), Status::ok);
    ASSERT_TRUE(world->commit());

    ASSERT_TRUE(ring->rollback(kept));
    EXPECT_EQ(world->stats().archetypes, kKeptAt + 1);
    EXPECT_EQ(Query<Entity>(*world).count(), 1U);
    // Others take the numbers that are free again.
    ASSERT_TRUE(world->add(walker, Health{1}));
    for (unsigned mark = 0; mark < 9; ++mark)
        EXPECT_EQ(toggle(*world, walker, mark), mark < 8 ? Status::ok : Status::capacity_exhausted) << mark;
    EXPECT_EQ(Query<const Health&>(*world).count(), 1U);
    EXPECT_EQ(world->stats().archetypes, kMaxArchetypes);
    EXPECT_EQ(world->check(), Status::ok);
}

}  // namespace
}  // namespace ouro
