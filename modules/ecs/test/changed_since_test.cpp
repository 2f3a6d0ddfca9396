#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/change_cursor.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

using Names = std::set<std::uint64_t>;

Names changed_since(World& world, std::uint32_t since) {
    Names found;
    Query<Entity, const Health&>(world).each_changed_since<Health>(
        since, [&](Entity entity, const Health&) { found.insert(entity.bits()); });
    EXPECT_EQ((Query<const Health&>(world).count_changed_since<Health>(since)), found.size());
    return found;
}

// When each entity's Health changed last; nobody who is not in it is alive.
struct Model {
    std::map<std::uint64_t, std::uint32_t> changed;
    std::vector<Entity> alive;
};

// Random changes of a world, its ring and the model, with rollbacks.
class SinceCampaign {
public:
    SinceCampaign(EcsRig& rig, std::uint64_t seed) : rig_(rig), random_(seed) { commit(); }

    void step() {
        switch (random_.below(12)) {
            case 0:
            case 1:
                return spawn(1 + random_.below(40));
            case 2:
                for (std::uint32_t i = random_.below(30); i != 0; --i)
                    destroy();
                return;
            case 3:
                return visit_all();
            case 4:
            case 5:
                return move();
            case 6:
                if (random_.below(4) == 0) return go_back();
                return commit();
            case 7:
                return commit();
            default:
                return edit();
        }
    }

    void compare() {
        const std::uint32_t now = world().tick();
        for (const std::uint32_t age : {0U, 1U, 2U, 3U, 5U, 9U, random_.below(60)}) {
            const Names found = changed_since(world(), now - age);
            Names wanted;
            for (const auto& [bits, tick] : model_.changed)
                if (now - tick <= age) wanted.insert(bits);
            for (const std::uint64_t bits : wanted)
                EXPECT_TRUE(found.contains(bits)) << "entity " << bits << ", age " << age;
            ASSERT_LE(found.size(), model_.changed.size());
            passed_over_ += model_.changed.size() - found.size();
        }
    }
    // So that visiting everything would not do.
    [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }

private:
    World& world() { return rig_.world(); }
    std::uint32_t now() { return world().tick(); }
    Entity any() { return model_.alive[random_.below(static_cast<std::uint32_t>(model_.alive.size()))]; }

    void spawn(std::uint32_t count) {
        if (model_.alive.size() > 1'500) return;
        for (; count != 0; --count) {
            const auto made =
                random_.below(3) == 0 ? world().spawn(Health{1}, Position{}) : world().spawn(Health{1});
            ASSERT_TRUE(made);
            model_.alive.push_back(*made);
            model_.changed[made->bits()] = now();
        }
    }
    void destroy() {
        if (model_.alive.empty()) return;
        const std::uint32_t at = random_.below(static_cast<std::uint32_t>(model_.alive.size()));
        ASSERT_EQ(world().destroy(model_.alive[at]), Status::ok);
        model_.changed.erase(model_.alive[at].bits());
        model_.alive.erase(model_.alive.begin() + static_cast<std::ptrdiff_t>(at));
    }
    void edit() {
        if (model_.alive.empty()) return;
        const Entity entity = any();
        ++world().edit<Health>(entity)->points;
        model_.changed[entity.bits()] = now();
    }
    // Into another archetype and back: no change, and allowed to count as one.
    void move() {
        if (model_.alive.empty() || random_.below(4) != 0) return;
        const Entity entity = any();
        if (!world().remove<Frozen>(entity)) static_cast<void>(world().add<Frozen>(entity));
    }
    void visit_all() {
        if (random_.below(6) != 0) return;
        Query<Entity, Health&, With<Position>>(world()).each([&](Entity entity, Health& health) {
            ++health.points;
            model_.changed[entity.bits()] = now();
        });
    }
    void commit() {
        const auto tick = world().commit();
        ASSERT_TRUE(tick);
        past_[*tick] = model_;
    }
    void go_back() {
        const Tick target = rig_.ring().newest() - random_.below(12);
        if (target < rig_.ring().oldest() || !past_.contains(target)) return;
        ASSERT_TRUE(rig_.ring().rollback(target));
        model_ = past_[target];
        past_.erase(past_.upper_bound(target), past_.end());
    }

    EcsRig& rig_;
    Random random_;
    Model model_;
    std::map<Tick, Model> past_;
    std::uint64_t passed_over_ = 0;
};

void run_campaign(std::uint64_t seed, std::uint32_t first_tick) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    ASSERT_TRUE(rig.world().component<Health>() && rig.world().component<Position>());
    if (first_tick != 0)
        rig.world().heap().edit(const_cast<WorldHeader&>(rig.world().core().header())).tick = first_tick;
    SinceCampaign campaign(rig, seed);
    for (int step = 0; step < 1'500; ++step) {
        campaign.step();
        if (step % 7 == 0) campaign.compare();
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(campaign.passed_over(), 1'000U);
}

TEST(ChangedSince, IsNeverLessThanTheModelKnows) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
        run_campaign(seed, 0);
}

TEST(ChangedSince, CountersThatWrapAroundMissNothing) {
    for (std::uint64_t seed = 11; seed <= 14; ++seed)
        run_campaign(seed, UINT32_MAX - 40);
}

class ChangedSinceTest : public EcsTest {};

TEST_F(ChangedSinceTest, RowsAreKnownOneTickBackAndBlocksBefore) {
    std::vector<Entity> all;
    for (std::int32_t i = 0; i < 300; ++i)
        all.push_back(*world().spawn(Health{i}));
    const std::uint32_t begun = world().tick();
    for (int i = 0; i < 5; ++i)
        rig_.commit();
    world().edit<Health>(all[10])->points = 7;
    const std::uint32_t written = world().tick();
    EXPECT_EQ(changed_since(world(), written), Names{all[10].bits()});
    rig_.commit();
    EXPECT_EQ(changed_since(world(), written), Names{all[10].bits()});
    EXPECT_TRUE(changed_since(world(), written + 1).empty());
    rig_.commit();
    rig_.commit();
    // The block of the first 64.
    EXPECT_EQ(changed_since(world(), written).size(), 64U);
    EXPECT_TRUE(changed_since(world(), written + 1).empty());
    EXPECT_EQ(changed_since(world(), begun).size(), 300U);
    // What was changed long ago comes into another block, and is not forgotten.
    world().edit<Health>(all[299])->points = 7;
    const std::uint32_t again = world().tick();
    for (int i = 0; i < 4; ++i)
        rig_.commit();
    ASSERT_EQ(world().destroy(all[3]), Status::ok);
    EXPECT_TRUE(changed_since(world(), again).contains(all[299].bits()));
    EXPECT_TRUE(changed_since(world(), world().tick() - 1).empty());
}

// Where the tick lies ahead, as after a rollback, nothing can be left out.
TEST_F(ChangedSinceTest, ATickThatIsNotYetCountsAsAll) {
    ASSERT_TRUE(world().spawn_copies(100, Health{1}));
    const Tick then = rig_.commit();
    for (int i = 0; i < 6; ++i)
        rig_.commit();
    const std::uint32_t seen = world().tick();
    EXPECT_TRUE(changed_since(world(), seen).empty());
    ASSERT_TRUE(rig_.ring().rollback(then));
    EXPECT_EQ(changed_since(world(), seen).size(), 100U);
}

TEST_F(ChangedSinceTest, OtherFiltersHoldAndWhatIsWrittenIsMarked) {
    const auto cold = world().spawn(Health{1}, Frozen{});
    const auto warm = world().spawn(Health{1});
    ASSERT_TRUE(cold && warm);
    const std::uint32_t begun = world().tick();
    for (int i = 0; i < 3; ++i)
        rig_.commit();
    std::uint32_t visited = 0;
    Query<Health&, Without<Frozen>>(world()).each_changed_since<Health>(begun, [&](Health& health) {
        health.points = 9;
        ++visited;
    });
    EXPECT_EQ(visited, 1U);
    EXPECT_EQ(world().get<Health>(*warm)->points, 9);
    EXPECT_EQ(changed_since(world(), world().tick()), Names{warm->bits()});
    rig_.commit();
}

// What somebody keeps of a world outside of it, through futures that were left.
TEST(ChangeCursorTest, AMirrorIsRightThroughRollbacks) {
    constexpr std::uint64_t kSeed = 20'26'19;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    World& world = rig.world();
    Random random(kSeed);
    std::vector<Entity> all;
    for (int i = 0; i < 300; ++i)
        all.push_back(*world.spawn(Health{0}));
    rig.commit();
    ChangeCursor cursor;
    std::map<std::uint64_t, std::int32_t> mirror;
    std::uint32_t visited = 0;
    constexpr std::uint32_t kFrames = 300;
    for (std::uint32_t frame = 0; frame < kFrames; ++frame) {
        if (frame % 5 == 4) {
            ASSERT_TRUE(rig.ring().rollback(rig.ring().newest() - random.below(8)));
        }
        for (std::uint32_t ticks = 1 + random.below(10); ticks != 0; --ticks) {
            world.edit<Health>(all[random.below(300)])->points =
                static_cast<std::int32_t>(random.below(1'000));
            rig.commit();
        }
        Query<Entity, const Health&>(world).each_changed_since<Health>(
            cursor.advance(world), [&](Entity entity, const Health& health) {
                mirror[entity.bits()] = health.points;
                ++visited;
            });
        for (const Entity entity : all)
            ASSERT_EQ(mirror[entity.bits()], world.get<Health>(entity)->points) << "frame " << frame;
    }
    EXPECT_LT(visited, kFrames * 300) << "as much as without it";
    cursor.forget();
    EXPECT_EQ(changed_since(world, cursor.advance(world)).size(), 300U);
}

}  // namespace
}  // namespace ouro
