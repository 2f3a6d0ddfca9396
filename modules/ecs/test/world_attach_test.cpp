#include "damaged_world.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/relations.hpp>

#include <cstring>

namespace ouro {
namespace {

using namespace testing_support;

class WorldAttachTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(rig_.is_ready()); }
    StateRing& ring() { return rig_.ring(); }

    RichWorld rig_;
};

TEST_F(WorldAttachTest, FindsTheWorldThatIsThere) {
    const std::vector<std::byte> before = rig_.bytes();
    auto world = World::attach(ring());
    ASSERT_TRUE(world) << status_name(world.status());
    EXPECT_EQ(rig_.bytes(), before);
    EXPECT_EQ(world->stats().entities, rig_.world().stats().entities);
    const Entity ada = find_named(*world, "ada");
    ASSERT_FALSE(ada.is_null());
    // By name, as nothing of it is registered here yet.
    EXPECT_EQ(world->get<Health>(ada), nullptr);
    ASSERT_TRUE(world->component<Health>());
    ASSERT_NE(world->get<Health>(ada), nullptr);
    EXPECT_EQ(world->get<Health>(ada)->points, 0);
    EXPECT_GT((Query<const Position&, const Burning&>(*world).count()), 10U);
    use_world(*world);
    EXPECT_EQ(world->check(), Status::ok);
    ASSERT_TRUE(world->commit());
}

TEST_F(WorldAttachTest, RefusesWhatIsNoWorld) {
    EXPECT_EQ(World::attach(ring(), "nowhere").status(), Status::not_found);
    const std::array segments = {
        SegmentOptions{.name = "world", .bytes = std::uint64_t{1} << 20},
        SegmentOptions{.name = "bound", .bytes = std::uint64_t{1} << 20, .kind = SegmentKind::process_bound}};
    auto other = StateRing::create(
        {.segments = segments, .history_ticks = 4, .history_bytes = std::uint64_t{16} << 20});
    ASSERT_TRUE(other);
    EXPECT_EQ(World::attach(*other).status(), Status::not_found);
    EXPECT_EQ(World::attach(*other, "bound").status(), Status::bad_argument);
    ASSERT_TRUE(ImageHeap::create(*other, "world"));
    EXPECT_EQ(World::attach(*other).status(), Status::not_found);
}

// Tables outside the image have lines of their own, whatever their lengths are.
TEST_F(WorldAttachTest, AnyNumberOfArchetypesHasRoom) {
    for (const std::uint32_t archetypes : {1U, 2U, 3U, 7U, 33U, 101U}) {
        EcsRig rig(std::uint64_t{1} << 20, {.max_entities = 100, .max_archetypes = archetypes});
        ASSERT_TRUE(rig.is_ready());
        EXPECT_TRUE(rig.world().spawn(Position{}));
        rig.commit();
        EXPECT_TRUE(World::attach(rig.ring()));
    }
}

TEST_F(WorldAttachTest, AnotherVersionIsTold) {
    auto& header = const_cast<WorldHeader&>(rig_.world().core().header());
    header.version = 99;
    EXPECT_EQ(World::attach(ring()).status(), Status::wrong_format);
    header.version = WorldHeader::kVersion;
    EXPECT_TRUE(World::attach(ring()));
}

TEST_F(WorldAttachTest, DamageIsAStatus) {
    const std::vector<Damage> damages = Damages(rig_.world()).all();
    for (const Damage& damage : damages) {
        SCOPED_TRACE(damage.what);
        rig_.apply(damage);
        EXPECT_EQ(World::attach(ring()).status(), Status::corrupt_data);
        rig_.repair();
    }
    EXPECT_GT(damages.size(), 60U);
    EXPECT_TRUE(World::attach(ring()));
}

// Bytes of the structure, damaged at random: refused, or good enough to live with.
TEST_F(WorldAttachTest, SurvivesAnyDamage) {
    const std::uint64_t seed = damage_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::uint32_t refused = 0;
    const std::uint32_t rounds = damage_rounds(1'500);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        rig_.damage_at_random(random);
        if (auto world = World::attach(ring()); world) {
            use_world(*world);
        } else {
            ++refused;
        }
        rig_.repair();
    }
    EXPECT_GT(refused, rounds / 10);
    EXPECT_TRUE(World::attach(ring()));
}

}  // namespace
}  // namespace ouro
